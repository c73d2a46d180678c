"""Dates in digits: ``2023-05-07T14:30Z``, ``05/07/2023``, ``7.5.2023``, ``2023年5月7日``."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import Final

from mnemic.algo.calendar import day, month
from mnemic.algo.temporal.words import Phrase, Source
from mnemic.types import Interval

_NUMERIC: Final = re.compile(
    r"(?<![\dA-Za-z_.,/:+-])(?:"
    r"(?P<y>\d{4})(?P<s>[-/.])(?P<m>\d{1,2})(?P=s)(?P<d>\d{1,2})"
    r"(?:[Tt ](?P<H>\d{2}):(?P<M>\d{2})(?::(?P<S>\d{2})(?:[.,]\d{1,9})?)?\s?(?P<z>Z|z|[+-]\d{2}:?\d{2})?)?"
    r"|(?P<ym>\d{4})-(?P<mm>\d{2})"
    r"|(?P<cy>\d{4})\s?[年년]\s?(?P<cm>\d{1,2})\s?[月월](?:\s?(?P<cd>\d{1,2})\s?[日일号])?"
    r"|(?P<a>\d{1,2})(?P<t>[/.-])(?P<b>\d{1,2})(?P=t)(?P<yy>\d{4}|\d{2})"
    r")(?![\dA-Za-z_%]|[-/.,:]\d)"
)


def numeric(s: Source, i: int, nested: int) -> Phrase | None:
    """``2023-05-07``, ``2023-05-07T14:30Z``, ``2023-05``, ``05/07/2023``, ``7.5.2023``, ``2023年5月7日``."""
    found = _NUMERIC.match(s.text, s.starts[i])
    if found is None:
        return None
    stop = i
    while stop < len(s.ends) and s.ends[stop] <= found.end():
        stop += 1
    parts = {name: int(value) for name, value in found.groupdict().items() if value is not None and value.isdecimal()}
    if "H" in parts:
        return Phrase(stop, _moment(s, parts, found["z"], "S" in parts), "minute", relative=False)
    if "y" in parts:
        return Phrase(stop, day(parts["y"], parts["m"], parts["d"], s.zone), "day", relative=False)
    if "ym" in parts:
        known = 1900 <= parts["ym"] <= 2100
        return Phrase(stop, month(parts["ym"], parts["mm"], s.zone), "month", relative=False) if known else None
    if "cy" in parts:
        return _east_asian(s, stop, parts)
    if len(found["yy"]) == 2 and found["t"] != "/":
        return None
    return Phrase(stop, _written_short(s, parts, found["t"], len(found["yy"])), "day", relative=False)


def _moment(s: Source, parts: dict[str, int], offset: str | None, seconds: bool) -> Interval:
    zone = s.zone
    if offset is not None:
        digits = offset.replace(":", "")
        minutes = 0 if digits in "zZ" else int(digits[1:3]) * 60 + int(digits[3:5])
        zone = timezone(timedelta(minutes=-minutes if digits[0] == "-" else minutes))
    start = datetime(
        parts["y"], parts["m"], parts["d"], parts["H"], parts["M"], parts.get("S", 0), tzinfo=zone
    ).astimezone(s.zone)
    return Interval(start, start + timedelta(seconds=1 if seconds else 60))


def _east_asian(s: Source, stop: int, parts: dict[str, int]) -> Phrase:
    if "cd" in parts:
        return Phrase(stop, day(parts["cy"], parts["cm"], parts["cd"], s.zone), "day", relative=False)
    return Phrase(stop, month(parts["cy"], parts["cm"], s.zone), "month", relative=False)


def _written_short(s: Source, parts: dict[str, int], separator: str, digits: int) -> Interval:
    first, second, year = parts["a"], parts["b"], parts["yy"]
    if digits == 2:
        year += 2000 if year < 70 else 1900
    day_first = s.day_first or separator == "." or first > 12
    if second > 12:
        day_first = False
    return day(year, second, first, s.zone) if day_first else day(year, first, second, s.zone)
