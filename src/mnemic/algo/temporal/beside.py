"""What lies beside another time: "the Sunday before 25 May", "the week before last", "three days later".

The rules have the shape that ``temporal.dates`` describes.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from mnemic.algo.calendar import shift, unit, weekday_after, weekday_before, weekend
from mnemic.algo.temporal.words import (
    MONTHS,
    PARTS,
    SEASONS,
    UNITS,
    WEEKDAYS,
    Phrase,
    Source,
    count,
    duration,
    part_of_day,
    skip,
)
from mnemic.types import Interval

_SIDES: Final[dict[str, int]] = {"before": -1, "preceding": -1, "prior": -1, "after": 1, "following": 1, "from": 1}


def beside(s: Source, i: int, nested: int) -> Phrase | None:
    """``the week before 9 June``, ``two weekends before 17 July``, ``the night of May 5``, ``the week before last``."""
    at = skip(s, i, ("the",))
    number = count(s, at) if at == i else None
    at, times = (number[0], number[1]) if number is not None and number[1] == number[2] else (at, 1)
    noun = s.word(at).removesuffix("s") if number is not None and len(s.word(at)) > 3 else s.word(at)
    if not (noun in UNITS or noun in PARTS or noun in WEEKDAYS or noun == "weekend"):
        return None
    word = s.word(at + 1)
    if word == "of" and times == 1:
        return _of(noun, s.read(skip(s, at + 2, ("the",)), nested + 1) or s.read(at + 2, nested + 1))
    if word not in _SIDES or (word == "from" and number is None):
        return None
    anchor = at + 2 + (word == "prior")
    ahead = _SIDES[word] > 0
    if number is None and s.word(anchor) in ("last", "next") and not _goes_on(s, anchor):
        return _twice_removed(s, noun, anchor + 1, ahead=ahead)
    if number is None and i != at - 1 and noun not in WEEKDAYS:
        return None
    base = s.read(anchor, nested + 1)
    if base is None or base.interval.start is None or base.interval.end is None:
        return None
    meant = _side(noun, times, base.interval.start, base.interval.end, ahead=ahead)
    grain = UNITS[noun][0] if noun in UNITS else "day"
    return Phrase(base.stop, meant, grain, base.relative, base.open_year)


def _goes_on(s: Source, i: int) -> bool:
    return s.word(i + 1) in UNITS or s.word(i + 1) in WEEKDAYS or s.word(i + 1) in MONTHS or s.word(i + 1) in SEASONS


def _twice_removed(s: Source, noun: str, stop: int, *, ahead: bool) -> Phrase | None:
    """``the week before last``, ``the weekend after next``, ``the Friday before last``."""
    now, steps = s.now(), 2 if ahead else -2
    if noun in WEEKDAYS:
        return Phrase(stop, (weekday_after if ahead else weekday_before)(now, WEEKDAYS[noun], 2), "day")
    if noun in PARTS:
        return Phrase(stop, part_of_day(unit(now, "day", steps), noun), "part")
    if noun == "weekend":
        return Phrase(stop, weekend(now, steps), "day")
    return Phrase(stop, unit(now, UNITS[noun][0], steps), UNITS[noun][0])


def _of(noun: str, base: Phrase | None) -> Phrase | None:
    if base is None or base.grain != "day" or base.interval.start is None:
        return None
    if noun in PARTS:
        return Phrase(base.stop, part_of_day(base.interval, noun), "part", base.relative, base.open_year)
    if noun == "weekend":
        return Phrase(base.stop, weekend(base.interval.start), "day", base.relative, base.open_year)
    if noun == "week":
        return Phrase(base.stop, unit(base.interval.start, "week"), "week", base.relative, base.open_year)
    return None


def _side(noun: str, times: int, start: datetime, end: datetime, *, ahead: bool) -> Interval:
    """``times`` nouns before the start, or after the end, of an interval.

    One week beside a day is the seven days next to it; more weeks, and longer units, are whole calendar units.
    """
    last = shift(end, -1, "day") if shift(start, 1, "day") <= end else start
    sign = 1 if ahead else -1
    if noun in WEEKDAYS:
        return weekday_after(last, WEEKDAYS[noun], times) if ahead else weekday_before(start, WEEKDAYS[noun], times)
    if noun in PARTS:
        return part_of_day(unit(last if ahead else start, "day", sign * times), noun)
    if noun == "weekend":
        saturday = weekday_after(last, 5, times) if ahead else weekday_before(shift(start, -1, "day"), 5, times)
        return Interval(saturday.start, shift(saturday.start or start, 2, "day"))
    grain, factor = UNITS[noun]
    if grain == "week" and times * factor == 1 and end - start <= timedelta(days=1):
        return Interval(end, shift(end, 1, "week")) if ahead else Interval(shift(start, -1, "week"), start)
    if grain in ("minute", "hour"):
        point = shift(end if ahead else start, sign * times, grain)
        return Interval(point, shift(point, 1, grain))
    return unit(last if ahead else start, grain, sign * times * factor)


def anchored(s: Source, i: int, nested: int) -> Phrase | None:
    """``three days later``, ``the week before``, ``the next day``: beside the only phrase read so far."""
    if nested:
        return None
    near = _anchor(s)
    length = duration(s, i)
    if length is not None and length[1] == length[2] and s.word(length[0]) in ("later", "earlier", "before", "after"):
        at, times, _, grain = length
        return _count_from(near, at + 1, times if s.word(at) in ("later", "after") else -times, grain)
    at = skip(s, i, ("the",))
    if at == i:
        return None
    if s.word(at) in ("next", "following") and s.word(at + 1) in ("day", "week", "month", "year", "morning"):
        grain = UNITS.get(s.word(at + 1), ("day", 1))[0]
        return _count_from(near, at + 2, 1, grain)
    if s.word(at) in ("day", "week", "month", "year", "weekend") and s.word(at + 1) in ("before", "after"):
        if s.word(at + 2).isalnum() and s.word(at + 2) not in ("and", "but"):
            return None
        times = 1 if s.word(at + 1) == "after" else -1
        base = near if near is not None else Phrase(0, unit(s.now(), "day"), "day")
        if (s.found and near is None) or base.interval.start is None or base.interval.end is None:
            return None
        grain = UNITS.get(s.word(at), ("week", 1))[0]
        if s.word(at) == "weekend":
            return Phrase(at + 2, _side("weekend", 1, base.interval.start, base.interval.end, ahead=times > 0), "day")
        return _count_from(base, at + 2, times, grain)
    return None


def _anchor(s: Source) -> Phrase | None:
    """The only phrase read so far, if it names a week or less."""
    only = s.found[0] if len(s.found) == 1 else None
    return only if only is not None and only.grain in ("minute", "hour", "part", "day", "week") else None


def _count_from(base: Phrase | None, stop: int, times: int, grain: str) -> Phrase | None:
    if base is None or base.interval.start is None:
        return None
    unit_grain = UNITS[grain][0]
    if unit_grain in ("minute", "hour") and base.grain not in ("minute", "hour"):
        return None
    return Phrase(stop, unit(base.interval.start, unit_grain, times), unit_grain, base.relative, base.open_year)
