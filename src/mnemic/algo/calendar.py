"""Arithmetic on half-open intervals of time, and the calendar's own intervals: weeks, months, seasons, years.

Weeks begin on Monday, seasons are meteorological and northern. Everything keeps the zone of what it is given.
A result outside the years 1 to 9999 raises ValueError or OverflowError.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, Literal

from mnemic.types import Interval

Grain = Literal["minute", "hour", "part", "day", "week", "month", "quarter", "year", "decade", "century"]
Third = Literal["early", "mid", "late"]

_MONTHS: Final[dict[str, int]] = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}
_DAYS: Final[dict[str, int]] = {"day": 1, "week": 7}
_EXACT: Final[dict[str, timedelta]] = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1)}
_SEASON_START: Final[dict[str, int]] = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}


def overlap(a: Interval, b: Interval) -> Interval | None:
    """What two intervals share; None when that is nothing. Ends that merely touch share nothing."""
    starts = [i.start for i in (a, b) if i.start is not None]
    ends = [i.end for i in (a, b) if i.end is not None]
    start = max(starts) if starts else None
    end = min(ends) if ends else None
    if start is not None and end is not None and start >= end:
        return None
    return Interval(start, end)


def contains(interval: Interval, at: datetime) -> bool:
    """Whether an aware instant lies in ``[start, end)``."""
    return (interval.start is None or interval.start <= at) and (interval.end is None or at < interval.end)


def distance_days(a: Interval, b: Interval) -> float:
    """The gap between two intervals in days, 0 or more; 0 when they overlap or touch. Symmetric."""
    gap = timedelta(0)
    for earlier, later in ((a, b), (b, a)):
        if earlier.end is not None and later.start is not None:
            gap = max(gap, later.start - earlier.end)
    return gap / timedelta(days=1)


def floor(at: datetime, grain: Grain) -> datetime:
    """The start of the calendar unit that contains an instant."""
    if grain == "minute":
        return at.replace(second=0, microsecond=0)
    if grain == "hour":
        return at.replace(minute=0, second=0, microsecond=0)
    day = at.replace(hour=0, minute=0, second=0, microsecond=0)
    if grain in ("part", "day"):
        return day
    if grain == "week":
        return day - timedelta(days=day.weekday())
    months = _MONTHS[grain]
    whole = (day.year * 12 + day.month - 1) // months * months
    return day.replace(year=whole // 12, month=whole % 12 + 1, day=1)


def shift(at: datetime, count: int, grain: Grain) -> datetime:
    """Move an instant by calendar units; the day of the month is clamped (31 January + 1 month = 28 February).

    Hours and minutes pass as on a stopwatch, days and longer as on the wall clock.
    """
    if grain in _EXACT:
        return (at.astimezone(UTC) + count * _EXACT[grain]).astimezone(at.tzinfo)
    if grain in _DAYS:
        return at + timedelta(days=count * _DAYS[grain])
    total = at.year * 12 + at.month - 1 + count * _MONTHS[grain]
    first = at.replace(year=total // 12, month=total % 12 + 1, day=1)
    return first.replace(day=min(at.day, _month_length(first.year, first.month)))


def unit(at: datetime, grain: Grain, offset: int = 0) -> Interval:
    """The calendar unit ``offset`` units after the one that contains an instant."""
    start = shift(floor(at, grain), offset, grain)
    return Interval(start, shift(start, 1, grain))


def day(year: int, month: int, day_of_month: int, zone: tzinfo) -> Interval:
    """One day."""
    return unit(datetime(year, month, day_of_month, tzinfo=zone), "day")


def month(year: int, month_of_year: int, zone: tzinfo) -> Interval:
    """One month."""
    return unit(datetime(year, month_of_year, 1, tzinfo=zone), "month")


def years(first: int, count: int, zone: tzinfo) -> Interval:
    """``count`` whole years from ``first`` on."""
    return Interval(datetime(first, 1, 1, tzinfo=zone), datetime(first + count, 1, 1, tzinfo=zone))


def season(name: str, year: int, zone: tzinfo) -> Interval:
    """Three months; ``name`` is spring, summer, autumn or winter. The winter of 2022 ends in February 2023."""
    start = datetime(year, _SEASON_START[name], 1, tzinfo=zone)
    return Interval(start, shift(start, 3, "month"))


def weekend(at: datetime, offset: int = 0) -> Interval:
    """Saturday and Sunday of the week ``offset`` weeks after the one that contains an instant."""
    start = shift(floor(at, "week"), 7 * offset + 5, "day")
    return Interval(start, shift(start, 2, "day"))


def weekday_in(week: datetime, weekday: int) -> Interval:
    """The given weekday (Monday 0 to Sunday 6) of the week that contains an instant."""
    return unit(shift(floor(week, "week"), weekday, "day"), "day")


def weekday_before(at: datetime, weekday: int, count: int = 1) -> Interval:
    """The ``count``-th such weekday before the day of an instant."""
    back = (at.weekday() - weekday - 1) % 7 + 1
    return unit(at, "day", -back - 7 * (count - 1))


def weekday_after(at: datetime, weekday: int, count: int = 1) -> Interval:
    """The ``count``-th such weekday after the day of an instant."""
    ahead = (weekday - at.weekday() - 1) % 7 + 1
    return unit(at, "day", ahead + 7 * (count - 1))


def third(whole: Interval, which: Third, grain: Grain) -> Interval:
    """The early, middle or late third of a unit, cut where people cut it.

    Months at the 11th and 21st, weeks at Wednesday and Friday, years at May and September, decades and
    centuries at their 4th and 7th tenth; anything else in equal thirds of whole days.
    """
    start, end = whole.start, whole.end
    if start is None or end is None:
        raise ValueError("an open interval has no thirds")
    if grain == "month":
        cuts = shift(start, 10, "day"), shift(start, 20, "day")
    elif grain == "week":
        cuts = shift(start, 2, "day"), shift(start, 4, "day")
    elif grain == "year":
        cuts = shift(start, 4, "month"), shift(start, 8, "month")
    elif grain in ("decade", "century"):
        years_each = 1 if grain == "decade" else 10
        cuts = shift(start, 4 * years_each, "year"), shift(start, 7 * years_each, "year")
    else:
        days = (end - start) / timedelta(days=1)
        cuts = start + timedelta(days=round(days / 3)), start + timedelta(days=round(2 * days / 3))
    return {"early": Interval(start, cuts[0]), "mid": Interval(cuts[0], cuts[1]), "late": Interval(cuts[1], end)}[which]


def recurring(
    make: Callable[[int], Interval],
    reference: datetime,
    tense: Literal["past", "future", "last", "next", "this"] | None,
) -> Interval:
    """Which occurrence of a yearly interval is meant, seen from a reference.

    ``last`` is the latest that has ended, ``next`` the earliest that has not begun, ``this`` the running one, else
    the one of the reference's year. Otherwise a running one is meant; else ``past`` the latest, ``future`` the
    earliest to come, None the nearer of the two.

    Args:
        make: The occurrence of a year; ValueError in years that lack it, of which fewer than eight follow each other.
        reference: Aware.
        tense: What is known.
    """
    here = _made(make, reference.year)
    running = [i for i in (*_made(make, reference.year - 1), *here) if contains(i, reference)]
    if tense not in ("last", "next"):
        if running:
            return running[0]
        if tense == "this" and here:
            return here[0]
    if tense in ("past", "last"):
        return _ended(make, reference)
    if tense in ("future", "next"):
        return _ahead(make, reference)
    point = Interval(reference, reference)
    return min(_ended(make, reference), _ahead(make, reference), key=lambda i: distance_days(i, point))


def _ended(make: Callable[[int], Interval], reference: datetime) -> Interval:
    for year in range(reference.year, reference.year - 9, -1):
        for made in _made(make, year):
            if made.end is not None and made.end <= reference:
                return made
    raise ValueError("no such day before the reference")


def _ahead(make: Callable[[int], Interval], reference: datetime) -> Interval:
    for year in range(reference.year, reference.year + 9):
        for made in _made(make, year):
            if made.start is not None and made.start > reference:
                return made
    raise ValueError("no such day after the reference")


def _made(make: Callable[[int], Interval], year: int) -> list[Interval]:
    try:
        return [make(year)]
    except (ValueError, OverflowError):
        return []


def _month_length(year: int, month_of_year: int) -> int:
    if month_of_year == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month_of_year in (4, 6, 9, 11) else 31
