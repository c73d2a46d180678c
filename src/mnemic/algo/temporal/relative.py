"""Phrases that count from a reference: yesterday, last week, two weeks ago, the past few years, the other day.

The rules have the shape that ``temporal.dates`` describes. How a count is read: "n units ago" is the whole calendar
unit that lies there (2 weeks ago: that week, Monday to Monday), because speakers round to the unit they use.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from mnemic.algo.calendar import (
    Grain,
    floor,
    month,
    recurring,
    season,
    shift,
    unit,
    weekday_after,
    weekday_before,
    weekday_in,
    weekend,
)
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
    perfect,
    sequence,
    skip,
    tense,
    words,
)
from mnemic.algo.temporal.yearly import SEASON_THINGS, holiday_at, holiday_in
from mnemic.types import Interval

_DAY_WORDS: Final[dict[str, int]] = {
    "yesterday": -1, "yday": -1, "today": 0, "tomorrow": 1, "tmrw": 1, "tmr": 1,
}  # fmt: skip
_DIRECTIONS: Final[dict[str, int]] = {
    "last": -1, "past": -1, "previous": -1, "this": 0, "next": 1, "coming": 1, "upcoming": 1, "following": 1,
}  # fmt: skip
_CALENDAR_UNITS: Final = words("week month quarter year decade century fortnight")
_ROLLING: Final = words("in over during for within throughout")
_ABOUT: Final = words("about almost nearly over around like roughly just some at")
_NO_STRETCH: Final = words("old more later in ago from before after each per and '")
_BACK_TO: Final = words("in at to from home on into and")
_THIS_MOMENT: Final = (("just", "now"), ("a", "second", "ago"), ("a", "moment", "ago"))
_RECENT_DAYS: Final = 30


def day_word(s: Source, i: int, nested: int) -> Phrase | None:
    """``today``, ``yesterday``, ``tomorrow``, ``the day before yesterday``, ``the day after tomorrow``."""
    at = skip(s, i, ("the",))
    if sequence(s, at, ("day", "before", "yesterday")):
        return Phrase(at + 3, unit(s.now(), "day", -2), "day")
    if sequence(s, at, ("day", "after", "tomorrow")):
        return Phrase(at + 3, unit(s.now(), "day", 2), "day")
    offset = _DAY_WORDS.get(s.word(i))
    if offset is None:
        return None
    return Phrase(i + 1, unit(s.now(), "day", offset), "day")


def tonight(s: Source, i: int, nested: int) -> Phrase | None:
    """``tonight``, ``last night``, ``this morning``, ``this past evening``."""
    today = unit(s.now(), "day")
    if s.word(i) in ("tonight", "tonite"):
        return Phrase(i + 1, part_of_day(today, "night"), "part")
    if s.word(i) == "last" and s.word(i + 1) in ("night", "evening"):
        return Phrase(i + 2, part_of_day(unit(s.now(), "day", -1), s.word(i + 1)), "part")
    if s.word(i) == "this" and s.word(i + 1) in PARTS:
        return Phrase(i + 2, part_of_day(today, s.word(i + 1)), "part")
    return None


def directed(s: Source, i: int, nested: int) -> Phrase | None:
    """``last week``, ``this Friday``, ``next May``, ``last summer``, ``this past weekend``, ``next Christmas``.

    Last is the latest that is wholly over and next the earliest that has not begun; next weekend is the one of the
    next week. ``the past week`` and ``over the last month`` are stretches that end, or begin, at the reference.
    """
    article = skip(s, i, ("the",))
    direction = _DIRECTIONS.get(s.word(article))
    if direction is None or (article > i and s.word(article) in ("this", "following")):
        return None
    at = article + 1
    if direction == 0 and s.word(at) in ("past", "coming", "last", "next", "upcoming"):
        direction = _DIRECTIONS[s.word(at)]
        at += 1
    word = s.word(at)
    if word in ("weekend", "weekends"):
        return _directed_weekend(s, i, at, direction) if word == "weekend" else None
    if word in _CALENDAR_UNITS:
        return _directed_unit(s, i, article, at, direction)
    if s.word(article) == "following":
        return None
    return _directed_weekday(s, i, at, direction) or _directed_yearly(s, i, at, direction)


def _directed_weekend(s: Source, i: int, at: int, direction: int) -> Phrase | None:
    now = s.now()
    if sequence(s, at - 2, ("the", "next")) and tense(s, i, at + 1) != "future":
        return None  # of a story
    if direction == 0 and now.weekday() < 5 and tense(s, i, at + 1) == "past":
        direction = -1
    if direction == 1 and s.word(at - 1) in ("coming", "upcoming"):
        direction = 0
    return Phrase(at + 1, weekend(now, direction), "day")


def _directed_unit(s: Source, i: int, article: int, at: int, direction: int) -> Phrase | None:
    grain, factor = UNITS[s.word(at)]
    now = s.now()
    spoken = s.word(at - 1)
    if article > i and spoken == "next" and s.word(i - 1) not in _ROLLING and tense(s, i, at + 1) != "future":
        return None  # "the next week" of a story
    rolls = spoken in ("past", "coming") or (article > i and s.word(i - 1) in _ROLLING) or factor > 1
    if direction != 0 and article > i and spoken == "last":
        rolls = True
    if rolls and direction != 0:
        return Phrase(at + 1, _stretch(s, direction, factor, grain), grain)
    return Phrase(at + 1, unit(now, grain, direction), grain)


def _stretch(s: Source, direction: int, number: int, grain: Grain) -> Interval:
    now = s.now()
    far = shift(now, direction * number, grain)
    return Interval(far, now) if direction < 0 else Interval(now, far)


def _directed_weekday(s: Source, i: int, at: int, direction: int) -> Phrase | None:
    number = WEEKDAYS.get(s.word(at))
    if number is None or (s.word(at) in ("sat", "sun", "wed") and not s.capital(at)):
        return None
    now = s.now()
    if direction < 0:
        return Phrase(at + 1, weekday_before(now, number), "day")
    if direction > 0:
        return Phrase(at + 1, weekday_after(now, number), "day")
    meant = weekday_in(now, number)
    if meant.end is not None and meant.end <= now and tense(s, i, at + 1) != "past":
        meant = weekday_after(now, number)
    return Phrase(at + 1, meant, "day")


def _directed_yearly(s: Source, i: int, at: int, direction: int) -> Phrase | None:
    chosen = ("last", "this", "next")[direction + 1]
    word = s.word(at)
    number = MONTHS.get(word)
    if number is not None and (len(word) > 3 or s.capital(at) or word == "may"):
        return Phrase(at + 1, recurring(lambda y: month(y, number, s.zone), s.now(), chosen), "month")
    name = SEASONS.get(word)
    if name is not None and s.word(at + 1) not in SEASON_THINGS:
        return Phrase(at + 1, recurring(lambda y: season(name, y, s.zone), s.now(), chosen), "quarter")
    named = holiday_at(s, at)
    if named is not None:
        return Phrase(named[0], recurring(lambda y: holiday_in(named[1], y, s), s.now(), chosen), "day")
    return None


def rolling(s: Source, i: int, nested: int) -> Phrase | None:
    """``the past few weeks``, ``the last three years``, ``in the next couple of days``."""
    at = skip(s, i, ("the", "these"))
    direction = {"last": -1, "past": -1, "next": 1, "coming": 1}.get(s.word(at))
    if direction is None:
        return None
    at += 1
    read = duration(s, at)
    if read is not None:
        at, _, most, grain = read
    elif s.word(at) in ("days", "weeks", "months", "years", "decades"):
        grain, most, at = UNITS[s.word(at)][0], 5, at + 1
    else:
        return None
    return Phrase(at, _stretch(s, direction, most, grain), grain)


def ago(s: Source, i: int, nested: int) -> Phrase | None:
    """``two weeks ago``, ``a few years ago``, ``an hour back``, ``two weekends ago``, ``three Fridays ago``."""
    read = duration(s, i)
    if read is not None:
        at, least, most, grain = read
        back = s.word(at) == "back" and s.word(at + 1) not in _BACK_TO
        return Phrase(at + 1, away(s, -most, -least, grain), grain) if back or s.word(at) == "ago" else None
    number = count(s, i)
    if number is None or s.word(number[0] + 1) != "ago":
        return None
    at, least, most = number
    now, word = s.now(), s.word(at)
    if word in ("weekend", "weekends"):
        return Phrase(at + 2, Interval(weekend(now, -most).start, weekend(now, -least).end), "week")
    day = WEEKDAYS.get(word.removesuffix("s"))
    if day is not None and len(word) > 5:
        far, near = weekday_before(now, day, most), weekday_before(now, day, least)
        return Phrase(at + 2, Interval(far.start, near.end), "day")
    name = SEASONS.get(word.removesuffix("s"))
    if name is None:
        return None
    latest = recurring(lambda y: season(name, y, s.zone), now, "last")
    first = (latest.start or now).year
    return Phrase(
        at + 2,
        Interval(season(name, first - most + 1, s.zone).start, season(name, first - least + 1, s.zone).end),
        "quarter",
    )


def away(s: Source, first: int, last: int, grain: Grain) -> Interval:
    """The calendar units from ``first`` to ``last`` units after the reference's; hours and minutes around the point."""
    now = s.now()
    if grain in ("minute", "hour"):
        slack = timedelta(minutes=30) if grain == "hour" else timedelta(minutes=5)
        return Interval(shift(now, first, grain) - slack, shift(now, last, grain) + slack)
    if grain in ("decade", "century"):
        years = 10 if grain == "decade" else 100
        slack_years = years // 5
        first, last, grain = first * years - slack_years, last * years + slack_years, "year"
    return Interval(unit(now, grain, first).start, unit(now, grain, last).end)


def ahead(s: Source, i: int, nested: int) -> Phrase | None:
    """``in two weeks``, ``within a month``, ``in a week's time``, ``three days from now``."""
    preposition = s.word(i) in ("in", "within")
    read = duration(s, i + 1 if preposition else i)
    if read is None:
        return None
    at, least, most, grain = read
    if not preposition:
        here = s.word(at) == "from" and s.word(at + 1) in ("now", "today")
        return Phrase(at + 2, away(s, least, most, grain), grain) if here else None
    for time in (("time",), ("'", "time"), ("'", "s", "time"), ("from", "now")):
        if sequence(s, at, time):
            return Phrase(at + len(time), away(s, least, most, grain), grain)
    idiom = grain in ("minute", "day") and s.word(i + 1) in ("a", "an") and most == 1  # in a minute, twice in a day
    if idiom or tense(s, i, at) == "past" or s.word(at) in ("'", "of"):
        return None
    if s.word(i) == "within":
        return Phrase(at, _stretch(s, 1, most, grain), grain)
    return Phrase(at, away(s, least, most, grain), grain)


def lasting(s: Source, i: int, nested: int) -> Phrase | None:
    """``for three years``, ``seven years now``: the stretch that ends at the reference.

    Only after a perfect tense ("I've known her for three years") or alone; else the stretch may be any.
    """
    spoken = s.word(i) == "for"
    read = duration(s, skip(s, i + 1, _ABOUT) if spoken else i)
    if read is None or read[3] in ("minute", "hour"):
        return None
    stop, _, most, grain = read
    if s.word(stop) == "now":
        return Phrase(stop + 1, _stretch(s, -1, most, grain), grain)
    if not spoken or s.word(stop) in _NO_STRETCH or not perfect(s, i):
        return None
    return Phrase(stop, _stretch(s, -1, most, grain), grain)


def vague(s: Source, i: int, nested: int) -> Phrase | None:
    """``the other day`` (the last week), ``recently``, ``lately`` (a month), ``just now``, ``a while ago``."""
    now = s.now()
    if s.word(i) in ("recently", "lately"):
        return Phrase(i + 1, Interval(floor(shift(now, -_RECENT_DAYS, "day"), "day"), now), "month")
    moment = next((words for words in _THIS_MOMENT if sequence(s, i, words)), None)
    if moment is not None:
        return Phrase(i + len(moment), Interval(now - timedelta(minutes=10), now + timedelta(minutes=1)), "minute")
    at = skip(s, i, ("the",))
    if s.word(at) == "other" and at > i:
        if s.word(at + 1) == "day":
            return Phrase(at + 2, Interval(unit(now, "day", -7).start, unit(now, "day").start), "week")
        if s.word(at + 1) in ("week", "night", "evening", "weekend"):
            return Phrase(at + 2, Interval(unit(now, "day", -14).start, unit(now, "day").start), "week")
    if sequence(s, i, ("a", "while")) and s.word(i + 2) in ("ago", "back"):
        return Phrase(i + 3, Interval(shift(now, -2, "year"), shift(now, -2, "week")), "year")
    return None


def over_weekend(s: Source, i: int, nested: int) -> Phrase | None:
    """``over the weekend``, ``at the weekend``: the coming one where the words tell of the future."""
    if not (s.word(i) == "the" and s.word(i + 1) == "weekend"):
        return None
    if not nested and s.word(i - 1) not in ("over", "on", "at", "during", "for", "since", "until", "by"):
        return None
    now = s.now()
    offset = 0 if now.weekday() >= 5 or tense(s, i, i + 2) == "future" else -1
    return Phrase(i + 2, weekend(now, offset), "day")
