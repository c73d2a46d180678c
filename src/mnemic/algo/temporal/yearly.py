"""Decades, seasons, quarters and holidays."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Final

from mnemic.algo.calendar import day, recurring, season, unit, years
from mnemic.algo.temporal.dates import ORDINAL_ENDINGS, year_after, year_named
from mnemic.algo.temporal.words import (
    FOLLOWERS,
    SEASONS,
    Phrase,
    Source,
    habitual,
    integer,
    sequence,
    skip,
    tense,
    words,
)
from mnemic.types import Interval

_DECADES: Final[dict[str, int]] = {
    "twenties": 20, "thirties": 30, "forties": 40, "fifties": 50,
    "sixties": 60, "seventies": 70, "eighties": 80, "nineties": 90,
}  # fmt: skip
_HOLIDAYS_TEXT: Final[dict[str, str]] = {
    "christmas eve": "12-24", "christmas day": "12-25", "christmas": "12-25", "xmas eve": "12-24", "xmas": "12-25",
    "boxing day": "12-26", "new year ' s eve": "12-31", "new years eve": "12-31", "nye": "12-31",
    "new year ' s day": "01-01", "new years day": "01-01", "new year ' s": "01-01", "new years": "01-01",
    "halloween": "10-31", "valentine ' s day": "02-14", "valentines day": "02-14", "valentine ' s": "02-14",
    "independence day": "07-04", "4 th of july": "07-04", "fourth of july": "07-04", "earth day": "04-22",
    "st patrick ' s day": "03-17", "st . patrick ' s day": "03-17", "juneteenth": "06-19", "veterans day": "11-11",
    "thanksgiving": "11 4 3", "black friday": "11 4 3 +1", "labor day": "09 1 0", "memorial day": "05 -1 0",
    "mother ' s day": "05 2 6", "mothers day": "05 2 6", "father ' s day": "06 3 6", "fathers day": "06 3 6",
    "easter sunday": "easter", "easter": "easter", "good friday": "easter -2",
}  # fmt: skip
# By its first token: the tokens of each name, the longest first, with its rule.
HOLIDAYS: Final[dict[str, list[tuple[list[str], str]]]] = {}
for _name, _rule in sorted(_HOLIDAYS_TEXT.items(), key=lambda h: -len(h[0].split())):
    HOLIDAYS.setdefault(_name.split()[0], []).append((_name.split(), _rule))
SEASON_THINGS: Final = words("solstice equinox camp camps school olympics months season migration")
_SEASON_PREPOSITIONS: Final = words("in during over since until by for")
_POSSESSIVES: Final = words("my his her their your our")
# What may follow a holiday's name for the day itself to be meant, and not only its kind of thing.
_HOLIDAY_TIMES: Final = words(
    "time morning afternoon evening night dinner lunch brunch breakfast party parties break vacation trip weekend week",
    "celebration celebrations service sale event concert parade last with together over",
)


def decade(s: Source, i: int, nested: int) -> Phrase | None:
    """``the 90s``, ``the '90s``, ``the 1990s``, ``the nineties``, ``the 19th century``."""
    at = skip(s, i, ("the",))
    spelled = _DECADES.get(s.word(at))
    if spelled is not None and at > i:
        return Phrase(at + 1, years(_decade_year(spelled), 10, s.zone), "decade", relative=False)
    century = integer(s, at, range(1, 3))
    if century and s.word(at + 1) in ORDINAL_ENDINGS and s.word(at + 2) == "century" and century > 1:
        return Phrase(at + 3, years((century - 1) * 100, 100, s.zone), "century", relative=False)
    marked = skip(s, at, ("'",))
    plural = skip(s, marked + 1, ("'",))
    if s.word(plural) != "s" or not s.glued(plural):
        return None
    long, short = integer(s, marked, range(4, 5)), integer(s, marked, range(2, 3))
    if long is not None and long % 10 == 0 and 1000 <= long <= 2100:
        century = long % 100 == 0 and long < 2000  # the 1700s are a century, the 2000s ten years
        whole = years(long, 100 if century else 10, s.zone)
        return Phrase(plural + 1, whole, "century" if century else "decade", relative=False)
    aged = any(s.word(k) in _POSSESSIVES for k in (i - 1, i - 2, i - 3))  # in her early 30s
    if short is not None and short % 10 == 0 and not aged and (at > i or marked > at or nested):
        return Phrase(plural + 1, years(_decade_year(short), 10, s.zone), "decade", relative=False)
    return None


def _decade_year(tens: int) -> int:
    return (2000 if tens <= 20 else 1900) + tens


def season_named(s: Source, i: int, nested: int) -> Phrase | None:
    """``the summer of 2022``, ``summer last year``, ``in the summer``: not where it tells what happens each year."""
    at = skip(s, i, ("the",))
    name = SEASONS.get(s.word(at))
    if name is None or s.word(at + 1) in SEASON_THINGS:
        return None
    after = at + 1
    written = year_after(s, after)
    if written is not None:
        return Phrase(written[0], season(name, written[1], s.zone), "quarter", relative=False)
    named = year_named(s, after)
    if named is not None:
        return Phrase(named[0], season(name, named[1], s.zone), "quarter")
    title = s.word(after).isalpha() and s.capital(at) and s.capital(after)
    licensed = s.word(i - 1) in _SEASON_PREPOSITIONS and (at > i or s.word(at) != "fall")
    if title or not (nested or (licensed and (at > i or s.word(i - 1) not in ("for", "by")))):
        return None
    told = tense(s, i, after)
    if habitual(s, i, after) or (told is None and not nested and s.word(i - 1) != "over"):
        return None
    return Phrase(after, recurring(lambda y: season(name, y, s.zone), s.now(), told), "quarter", open_year=True)


def quarter(s: Source, i: int, nested: int) -> Phrase | None:
    """``Q3 2021``."""
    number = integer(s, i + 1, range(1, 2))
    if s.word(i) != "q" or not s.glued(i + 1) or number not in (1, 2, 3, 4):
        return None
    written = year_after(s, i + 2)
    if written is None:
        return None
    first = datetime(written[1], 3 * number - 2, 1, tzinfo=s.zone)
    return Phrase(written[0], unit(first, "quarter"), "quarter", relative=False)


def holiday(s: Source, i: int, nested: int) -> Phrase | None:
    """``Christmas``, ``New Year's Eve 2022``, ``Thanksgiving``."""
    found = holiday_at(s, i)
    if found is None:
        return None
    at, rule = found
    written = year_after(s, at)
    if written is not None:
        return Phrase(written[0], holiday_in(rule, written[1], s), "day", relative=False)
    named = year_named(s, at)
    if named is not None:
        return Phrase(named[0], holiday_in(rule, named[1], s), "day")
    following = s.word(at)
    titled = following.isalpha() and following not in FOLLOWERS and following not in _HOLIDAY_TIMES
    if titled or following == "-" or s.word(i - 1) in ("like", "every", "happy", "merry") or habitual(s, i, at):
        return None
    meant = recurring(lambda y: holiday_in(rule, y, s), s.now(), tense(s, i, at))
    return Phrase(at, meant, "day", open_year=True)


def holiday_at(s: Source, i: int) -> tuple[int, str] | None:
    """The holiday named here: (index after it, its rule for ``holiday_in``)."""
    for names, rule in HOLIDAYS.get(s.word(i), ()):
        if sequence(s, i, names):
            return i + len(names), rule
    return None


def holiday_in(rule: str, year_: int, s: Source) -> Interval:
    """The day of a holiday in a year, by its rule: ``MM-DD``, ``month nth weekday [+days]`` or ``easter [days]``."""
    if rule[2:3] == "-":
        return day(year_, int(rule[:2]), int(rule[3:]), s.zone)
    fields = rule.split()
    if fields[0] == "easter":
        base = _easter(year_)
        offset = int(fields[1]) if len(fields) > 1 else 0
    else:
        base = _nth_weekday(year_, *(int(w) for w in fields[:3]))
        offset = int(fields[3]) if len(fields) > 3 else 0
    meant = base + timedelta(days=offset)
    return day(meant.year, meant.month, meant.day, s.zone)


def _nth_weekday(year_: int, month_: int, nth: int, weekday_: int) -> date:
    first = date(year_, month_, 1)
    if nth > 0:
        return first + timedelta(days=(weekday_ - first.weekday()) % 7 + 7 * (nth - 1))
    last = date(year_ + month_ // 12, month_ % 12 + 1, 1) - timedelta(days=1)
    return last - timedelta(days=(last.weekday() - weekday_) % 7)


def _easter(year_: int) -> date:
    """Gregorian Easter Sunday, by the anonymous (Meeus/Jones/Butcher) algorithm."""
    a, b, c = year_ % 19, year_ // 100, year_ % 100
    h = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    k = (32 + 2 * (b % 4) + 2 * (c // 4) - h - c % 4) % 7
    m = (a + 11 * h + 22 * k) // 451
    month_, day_ = divmod(h + k - 7 * m + 114, 31)
    return date(year_, month_, day_ + 1)
