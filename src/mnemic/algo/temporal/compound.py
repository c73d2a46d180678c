"""How phrases combine: "Friday night at 8", "early June", "the first weekend of August", "later this year".

The rules have the shape that ``temporal.dates`` describes.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from mnemic.algo.calendar import Third, floor, shift, third, unit, weekday_after, weekday_before
from mnemic.algo.temporal.clock import clock, on_the_day
from mnemic.algo.temporal.dates import day_number
from mnemic.algo.temporal.words import (
    PARTS,
    UNITS,
    WEEKDAYS,
    Phrase,
    Source,
    counts_things,
    part_of_day,
    sequence,
    skip,
    words,
)
from mnemic.types import Interval

THIRDS: Final[dict[str, Third]] = {
    "early": "early", "beginning": "early", "start": "early", "mid": "mid", "middle": "mid",
    "late": "late", "end": "late", "close": "late",
}  # fmt: skip
_COARSE: Final = words("week month quarter year decade century")


def with_hours(s: Source, base: Phrase) -> Phrase:
    """``yesterday evening``, ``May 5 in the morning``, ``tomorrow at 9``, ``tonight at 8``."""
    spoken = next((w for w in reversed(s.words[max(0, base.stop - 2) : base.stop]) if w in PARTS), None)
    if base.grain == "part":
        return _at_hour(s, base, spoken or "night")
    if base.grain != "day" or base.interval.start is None:
        return base
    at = skip(s, base.stop, (",",))
    for lead in (("in", "the"), ("at",), ("during", "the"), ()):
        if sequence(s, at, lead) and s.word(at + len(lead)) in PARTS:
            part = s.word(at + len(lead))
            whole = part_of_day(base.interval, part)
            return _at_hour(s, Phrase(at + len(lead) + 1, whole, "part", base.relative, base.open_year), part)
    return _at_hour(s, base, None)


def _at_hour(s: Source, base: Phrase, part: str | None) -> Phrase:
    lead = skip(s, base.stop, (",",))
    at = skip(s, skip(s, lead, ("at", "around", "about", "@", "by", "from")), ("around", "about"))
    time = clock(s, at)
    if time is None or not (time.explicit or s.word(at - 1) in ("at", "around", "@")) or counts_things(s, time.stop):
        return base
    later = skip(s, skip(s, time.stop, ("in",)), ("the",))
    if part is None and s.word(later) in PARTS:
        part, stop = s.word(later), later + 1
    else:
        stop = time.stop
    return Phrase(stop, on_the_day(base.interval, time, part), time.grain, base.relative, base.open_year)


def hour_first(s: Source, i: int, nested: int) -> Phrase | None:
    """``3 pm on Friday``, ``9am tomorrow``, ``half past six in the evening``, ``8 o'clock tonight``."""
    time = clock(s, i)
    spoken = s.word(i - 1) in ("at", "around")
    if time is None or not (time.explicit or spoken):
        return None
    at = skip(s, skip(s, time.stop, (",", "on")), ("in",))
    # A number right after the time starts a new phrase: else a column of times would be one phrase in another.
    base = s.read(at, nested + 1) if at > time.stop or not s.word(at).isdecimal() else None
    if base is not None and base.grain in ("day", "part") and base.interval.start is not None:
        if not time.explicit and base.grain != "part":
            return None
        part = next((w for w in s.words[at : base.stop] if w in PARTS or w == "tonight"), None)
        part = "night" if part == "tonight" else part
        return Phrase(base.stop, on_the_day(base.interval, time, part), time.grain, base.relative, base.open_year)
    part_at = skip(s, skip(s, time.stop, ("in",)), ("the",))
    if s.word(part_at) in PARTS and part_at > time.stop:
        today = Interval(s.now(), s.now())
        return Phrase(part_at + 1, on_the_day(today, time, s.word(part_at)), time.grain)
    return None


def _unit_here(s: Source, i: int, nested: int) -> Phrase | None:
    """What "the end of …" is of: a phrase, or "the month", "the year": those of the reference."""
    found = s.read(i, nested)
    if found is not None:
        return found
    at = skip(s, i, ("the", "this"))
    if s.word(at) in _COARSE and s.word(at + 1) not in ("before", "after", "of"):
        grain = UNITS[s.word(at)][0]
        return Phrase(at + 1, unit(s.now(), grain), grain)
    return None


def third_of(s: Source, i: int, nested: int) -> Phrase | None:
    """``early June``, ``mid-2021``, ``at the end of July``, ``the beginning of the year``, ``late last week``."""
    at = skip(s, i, ("the",))
    which = THIRDS.get(s.word(at))
    if which is None:
        return None
    if s.word(at) == which and at == i:
        whole = s.read(skip(s, skip(s, at + 1, ("-",)), ("in",)), nested + 1)
    elif s.word(at + 1) == "of":
        whole = _unit_here(s, at + 2, nested + 1)
    else:
        return None
    if whole is None or whole.grain not in _COARSE or s.word(whole.stop - 1) in ("lately", "recently"):
        return None
    cut = third(whole.interval, which, whole.grain)
    return Phrase(whole.stop, cut, "week" if whole.grain == "month" else "month", whole.relative, whole.open_year)


def rest(s: Source, i: int, nested: int) -> Phrase | None:
    """``later this week``, ``earlier today``, ``the rest of the year``: one side of the reference."""
    later = s.word(i) == "later" or sequence(s, i, ("rest", "of"))
    if not later and s.word(i) != "earlier":
        return None
    whole = _unit_here(s, skip(s, i + 1, ("in", "of")), nested + 1)
    now = s.now()
    if whole is None or whole.interval.start is None or whole.interval.end is None:
        return None
    if not whole.interval.start < now < whole.interval.end:
        return None
    meant = Interval(now, whole.interval.end) if later else Interval(whole.interval.start, now)
    return Phrase(whole.stop, meant, whole.grain)


def nth_of(s: Source, i: int, nested: int) -> Phrase | None:
    """``the first weekend of August``, ``the last week of September 2023``, ``the second half of 2021``."""
    at = skip(s, i, ("the",))
    last = s.word(at) in ("last", "final")
    ordinal = day_number(s, at)
    if not (last or (ordinal is not None and ordinal[2])):
        return None
    nth = -1 if last or ordinal is None else ordinal[1]
    noun = at + 1 if last or ordinal is None else ordinal[0]
    if s.word(noun + 1) not in ("of", "in"):
        return None
    whole = _unit_here(s, noun + 2, nested + 1)
    if whole is None or whole.interval.start is None or whole.interval.end is None:
        return None
    meant = _nth(s.word(noun), nth, whole.interval.start, whole.interval.end)
    if meant is None or meant.end is None or meant.end > shift(whole.interval.end, 1, "day"):
        return None
    return Phrase(whole.stop, meant, "day" if s.word(noun) != "week" else "week", whole.relative, whole.open_year)


def _nth(noun: str, nth: int, start: datetime, end: datetime) -> Interval | None:
    """The nth (from 1; -1 is the last) day, week, weekend, weekday, month, quarter or half of ``[start, end)``."""
    eve = shift(start, -1, "day")
    if noun in WEEKDAYS:
        return weekday_before(end, WEEKDAYS[noun]) if nth < 0 else weekday_after(eve, WEEKDAYS[noun], nth)
    if noun == "weekend":
        saturday = weekday_before(end, 5) if nth < 0 else weekday_after(eve, 5, nth)
        return Interval(saturday.start, shift(saturday.start, 2, "day")) if saturday.start else None
    if noun == "week":
        first = shift(end, -1, "week") if nth < 0 else shift(start, nth - 1, "week")
        return Interval(first, shift(first, 1, "week"))
    if noun in ("day", "month", "quarter"):
        grain = UNITS[noun][0]
        return unit(shift(end, -1, "day"), grain) if nth < 0 else unit(start, grain, nth - 1)
    if noun == "half" and nth in (1, 2):
        middle = shift(start, 6, "month") if end == shift(start, 1, "year") else floor(start + (end - start) / 2, "day")
        return Interval(start, middle) if nth == 1 else Interval(middle, end)
    return None
