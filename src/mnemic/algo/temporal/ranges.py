"""Stretches between two times, or open at one side: "from May to July 2021", "May 3-5", "since 2016".

The rules have the shape that ``temporal.dates`` describes.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from mnemic.algo.calendar import shift, unit
from mnemic.algo.temporal.dates import day_month, day_number, month_day, year_after
from mnemic.algo.temporal.words import MONTHS, TO, Phrase, Source, counts_things, integer
from mnemic.types import Interval

_AND: Final = frozenset(("and",))
_LONGEST_SIDE: Final = 16


def days_of_month(s: Source, i: int, nested: int) -> Phrase | None:
    """``May 3-5``, ``3 to 5 May 2023``."""
    first = month_day(s, i, nested) if s.word(i) in MONTHS else None
    if first is not None and first.open_year and s.word(first.stop) in TO:
        last = day_number(s, first.stop + 1)
        if last is None or s.word(last[0]) in MONTHS or first.interval.start is None:
            return None
        end = unit(first.interval.start.replace(day=last[1]), "day").end
        whole = Phrase(last[0], Interval(first.interval.start, end), "day", open_year=True)
        written = year_after(s, last[0])
        return _in_year(whole, written[0], written[1]) if written is not None else _forwards(whole)
    number = day_number(s, i)
    if number is None or s.word(number[0]) not in TO:
        return None
    right = day_month(s, number[0] + 1, nested)
    if right is None or right.interval.start is None:
        return None
    start = right.interval.start.replace(day=number[1])
    return _forwards(Phrase(right.stop, Interval(start, right.interval.end), "day", right.relative, right.open_year))


def _in_year(phrase: Phrase, stop: int, year: int) -> Phrase | None:
    start, end = phrase.interval.start, phrase.interval.end
    if start is None or end is None:
        return None
    years = year - start.year
    moved = Interval(shift(start, years, "year"), shift(end, years, "year"))
    return _forwards(Phrase(stop, moved, phrase.grain, relative=False))


def _forwards(phrase: Phrase) -> Phrase | None:
    start, end = phrase.interval.start, phrase.interval.end
    return phrase if start is None or end is None or start < end else None


def year_range(s: Source, i: int, nested: int) -> Phrase | None:
    """``2019-2021``, ``2019 to 2021``."""
    first, last = integer(s, i, range(4, 5)), integer(s, i + 2, range(4, 5))
    if nested > 1 or first is None or last is None or s.word(i + 1) not in TO or not 1900 <= first < last <= 2100:
        return None
    if (s.glued(i) and s.word(i - 1) != "(") or counts_things(s, i + 3) or (s.glued(i + 3) and s.word(i + 3) in "-/%"):
        return None
    start, end = datetime(first, 1, 1, tzinfo=s.zone), datetime(last + 1, 1, 1, tzinfo=s.zone)
    return Phrase(i + 3, Interval(start, end), "year", relative=False)


def between(s: Source, i: int, nested: int) -> Phrase | None:
    """``from May 3 to May 9, 2022``, ``between 2019 and 2021``, ``June to August``, ``Monday - Friday``."""
    if nested > 1:
        return None
    lead = s.word(i)
    opened = lead in ("from", "between")
    joints = _AND if lead == "between" else TO
    if not any(s.word(k) in joints for k in range(i + 1, i + _LONGEST_SIDE)):
        return None
    first = s.read(i + opened, nested + 2)  # two deeper: there a range is not read, so this is its left side only
    if first is None or s.word(first.stop) not in joints:
        return None
    last = s.read(first.stop + 1, nested + 2)
    if last is None:
        return None
    return _joined(first, last)


def _joined(first: Phrase, last: Phrase) -> Phrase | None:
    """From the start of one phrase to the end of another; a year written in one holds for both."""
    a, b = first.interval, last.interval
    if a.start is None or a.end is None or b.start is None or b.end is None:
        return None
    if first.open_year and not last.relative:
        a = _moved(a, b.start.year - a.start.year)
        if a.start is not None and a.start > b.start:
            a = _moved(a, -1)
    elif last.open_year and b.start < a.start:
        b = _moved(b, 1)
    elif first.grain == last.grain == "day" and b.start <= a.start and a.start - b.start <= timedelta(days=6):
        b = Interval(shift(b.start, 1, "week"), shift(b.end or b.start, 1, "week"))
    relative = last.relative if first.open_year else first.relative or last.relative
    return _forwards(Phrase(last.stop, Interval(a.start, b.end), first.grain, relative, last.open_year))


def _moved(interval: Interval, years: int) -> Interval:
    start, end = interval.start, interval.end
    if start is None or end is None:
        return interval
    return Interval(shift(start, years, "year"), shift(end, years, "year"))


def open_sided(s: Source, i: int, nested: int) -> Phrase | None:
    """``since 2016``, ``until next week``, ``before May 2021``, ``after Christmas``."""
    lead = s.word(i)
    if nested:
        return None
    base = s.read(i + 1, 1)
    if base is None or base.interval.start is None or base.interval.end is None:
        return None
    start, end = base.interval.start, base.interval.end
    if lead == "since":
        if s.reference is None:
            return Phrase(base.stop, Interval(start, None), base.grain, relative=False)
        return Phrase(base.stop, Interval(start, s.reference), base.grain) if start < s.reference else None
    possessive = s.word(base.stop) == "'" and s.word(base.stop + 1) == "s"
    if base.grain in ("minute", "hour", "part") or possessive:
        return None
    meant = Interval(end, None) if lead == "after" else Interval(None, start if lead == "before" else end)
    return Phrase(base.stop, meant, base.grain, base.relative, base.open_year)
