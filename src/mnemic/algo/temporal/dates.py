"""Months, days of months, weekdays and years.

A rule takes a text, the index of its first token and ``nested``: how many phrases it stands inside. Within another
("early June", "since 2016") the words around it already say that a time is meant. It returns the phrase or None, and
may raise ValueError or OverflowError for a date that does not exist.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from mnemic.algo.calendar import (
    day,
    floor,
    month,
    recurring,
    shift,
    unit,
    weekday_after,
    weekday_before,
    weekday_in,
    years,
)
from mnemic.algo.temporal.numeric import numeric
from mnemic.algo.temporal.words import (
    FOLLOWERS,
    MONTHS,
    ORDINALS,
    PARTS,
    WEEKDAYS,
    Phrase,
    Source,
    counts_things,
    habitual,
    integer,
    skip,
    tense,
    words,
)

ORDINAL_ENDINGS: Final = words("st nd rd th")
_PREPOSITIONS: Final = words(
    "in since by until till til from of during early mid late through throughout around before after"
)
# Months that are also names or verbs need a preposition, or a day or year beside them.
_NAMELIKE_MONTHS: Final = words("march april may june august")
_HOMOGRAPHS: Final = words("may march mar sat sun wed mon")
# Before a weekday: then it names any, a title or a habit.
_NO_ONE_DAY: Final = words("every each black good most a an my our your his her their the following alternate")
_SUMS: Final = words("total sum out cost price number population capacity maximum minimum score average range instead")


def month_day(s: Source, i: int, nested: int) -> Phrase | None:
    """``May 7th``, ``May 7, 2023``, ``May the 4th``."""
    number = MONTHS.get(s.word(i))
    if number is None:
        return None
    at = skip(s, skip(s, i + 1, (".",)), ("the",))
    read = day_number(s, at)
    if read is None:
        return None
    at, of_month, ordinal = read
    if not ordinal and s.word(i) in _HOMOGRAPHS and not s.capital(i) and not nested:
        return None
    return _in_year(s, i, at, number, of_month, doubtful=not ordinal)


def day_month(s: Source, i: int, nested: int) -> Phrase | None:
    """``7 May``, ``7th of May, 2023``, ``the 7th of May``."""
    at = skip(s, i, ("the",))
    read = day_number(s, at)
    if read is None:
        return None
    at, of_month, ordinal = read
    linked = s.word(at) == "of"
    at += linked
    number = MONTHS.get(s.word(at))
    if number is None or (linked and not ordinal):
        return None
    if not ordinal and s.word(at) in _HOMOGRAPHS and not s.capital(at):
        return None
    if s.glued(i) and s.word(i - 1) in "%$€£#":
        return None
    abbreviated = skip(s, at + 1, (".",))
    return _in_year(s, i, abbreviated if year_after(s, abbreviated) else at + 1, number, of_month, doubtful=False)


def day_number(s: Source, i: int) -> tuple[int, int, bool] | None:
    """A day of the month: (index after it, number, whether it was written as an ordinal)."""
    value = integer(s, i, range(1, 3))
    if value is not None and 1 <= value <= 31:
        ordinal = s.word(i + 1) in ORDINAL_ENDINGS and s.glued(i + 1)
        return i + 1 + ordinal, value, ordinal
    word = s.word(i)
    if word in ORDINALS:
        return i + 1, ORDINALS[word], True
    return None


def _in_year(s: Source, i: int, at: int, number: int, of_month: int, *, doubtful: bool) -> Phrase | None:
    """The day in the year that follows in the text, else in the one that the reference and the tense choose."""
    written = year_after(s, at)
    if written is not None:
        return Phrase(written[0], day(written[1], number, of_month, s.zone), "day", relative=False)
    if doubtful and counts_things(s, at):
        return None
    named = year_named(s, at)
    if named is not None:
        return Phrase(named[0], day(named[1], number, of_month, s.zone), "day")
    meant = recurring(lambda y: day(y, number, of_month, s.zone), s.now(), tense(s, i, at))
    return Phrase(at, meant, "day", open_year=True)


def year_after(s: Source, i: int) -> tuple[int, int] | None:
    """A year that completes a date: (index after it, year), for ``2023``, ``, 2023``, ``of 2023`` and ``'23``."""
    at = skip(s, i, (",", "of", "in"))
    value = integer(s, at, range(4, 5))
    if value is not None and value >= 1000 and not _continues(s, at) and not counts_things(s, at + 1):
        return at + 1, value
    short = integer(s, i + 1, range(2, 3))
    if s.word(i) == "'" and short is not None and s.glued(i + 1):
        return i + 2, short + (2000 if short < 70 else 1900)
    return None


def year_named(s: Source, i: int) -> tuple[int, int] | None:
    """A year that the reference gives to a date: (index after it, year), for ``last year`` and ``of this year``."""
    at = skip(s, skip(s, i, (",",)), ("of",))
    offset = {"last": -1, "this": 0, "next": 1}.get(s.word(at))
    return (at + 2, s.now().year + offset) if offset is not None and s.word(at + 1) == "year" else None


def _continues(s: Source, i: int) -> bool:
    """Whether the number goes on: ``2019.5``, ``2019%``, ``2019-05``, ``2019th``, ``2,019``."""
    if not s.glued(i + 1):
        return False
    word = s.word(i + 1)
    decimals = word in (".", ",", ":", "/") and s.glued(i + 2) and s.word(i + 2).isdecimal()
    return word in ("%", "°", "€", "$", "£", "_") or word.isalpha() or decimals


def month_alone(s: Source, i: int, nested: int) -> Phrase | None:
    """``May 2023``, ``in May``, ``October``."""
    word = s.word(i)
    number = MONTHS.get(word)
    if number is None:
        return None
    at = i + 1 if word in _NAMELIKE_MONTHS or len(word) > 4 else skip(s, i + 1, (".",))
    written = year_after(s, at)
    if written is not None:
        return Phrase(written[0], month(written[1], number, s.zone), "month", relative=False)
    at = i + 1
    licensed = nested or s.word(i - 1) in _PREPOSITIONS
    plain = len(word) > 4 and word not in _NAMELIKE_MONTHS
    possessive = s.word(at) == "'" and s.word(at + 1) == "s"
    if possessive or not (plain or (licensed and (len(word) > 4 or s.capital(i) or word in _NAMELIKE_MONTHS))):
        return None
    if not plain and not nested and s.word(i - 1) in ("of", "from", "by", "around") and not s.capital(i):
        return None
    named = year_named(s, at)
    if named is not None:
        return Phrase(named[0], month(named[1], number, s.zone), "month")
    if habitual(s, i, at):
        return None
    meant = recurring(lambda y: month(y, number, s.zone), s.now(), tense(s, i, at))
    return Phrase(at, meant, "month", open_year=True)


def weekday(s: Source, i: int, nested: int) -> Phrase | None:
    """``Friday``, ``Tuesday last week``, ``Monday, May 8th, 2023``; not ``Fridays`` nor ``every Friday``."""
    word = s.word(i)
    number = WEEKDAYS.get(word)
    if number is None or s.word(i - 1) in _NO_ONE_DAY:
        return None
    long = word.endswith("day")
    clear = long or (nested > 0 and word not in _HOMOGRAPHS)
    if not clear and not s.capital(i):
        return None
    at = i + 1 if long else skip(s, i + 1, (".",))
    after = skip(s, skip(s, at, (",", "the")), ("the",))
    dated = month_day(s, after, 1) or day_month(s, after, 1) or _numeric_at(s, after)
    if dated is not None:
        return dated
    if not clear and s.word(i - 1) not in ("on", "by", "until", "till", "from", "since"):
        return None
    at = i + 1
    week = _week_named(s, at)
    if week is not None:
        return Phrase(week[0], weekday_in(week[1], number), "day")
    if (s.word(at) == "s" and s.glued(at)) or (s.word(at).removesuffix("s") in PARTS and s.word(at)[-1] == "s"):
        return None
    if habitual(s, i, at):
        return None
    ahead = tense(s, i, at) == "future"
    return Phrase(at, (weekday_after if ahead else weekday_before)(s.now(), number), "day")


def _numeric_at(s: Source, i: int) -> Phrase | None:
    return numeric(s, i, 1) if i < len(s.starts) else None


def _week_named(s: Source, i: int) -> tuple[int, datetime] | None:
    at = skip(s, i, ("of",))
    offset = {"last": -1, "this": 0, "next": 1}.get(s.word(at))
    if offset is None or s.word(at + 1) != "week":
        return None
    return at + 2, shift(s.now(), offset, "week")


def on_day(s: Source, i: int, nested: int) -> Phrase | None:
    """``on the 15th``: a day of the month that the reference and the tense choose."""
    if not nested and s.word(i - 1) not in ("on", "since", "until", "till", "by"):
        return None
    read = day_number(s, skip(s, i, ("the",)))
    if s.word(i) != "the" or read is None or s.word(read[0] - 1) not in ORDINAL_ENDINGS:
        return None
    at, of_month, _ = read
    now = s.now()
    if s.word(at) == "of" and s.word(at + 2) == "month" and s.word(at + 1) in ("this", "the", "last", "next"):
        first = shift(floor(now, "month"), {"last": -1, "next": 1}.get(s.word(at + 1), 0), "month")
        return Phrase(at + 3, day(first.year, first.month, of_month, s.zone), "day")
    if s.word(at).isalpha() and s.word(at) not in FOLLOWERS:
        return None
    ahead = tense(s, i, at) == "future"
    for months in (0, 1, 2) if ahead else (0, -1, -2):
        first = shift(floor(now, "month"), months, "month")
        start = shift(first, of_month - 1, "day")
        if start.month == first.month and (start >= floor(now, "day") if ahead else start <= now):
            return Phrase(at, unit(start, "day"), "day", open_year=True)
    return None


def year(s: Source, i: int, nested: int) -> Phrase | None:
    """``in 2019``, ``the year 2019``, ``(2019)``, or a text that is nothing but a year."""
    value = integer(s, i, range(4, 5))
    if value is None or not 1500 <= value <= 2100 or _continues(s, i) or counts_things(s, i + 1):
        return None
    before = s.word(i - 1)
    if s.glued(i) and before != "(" and not (nested and before == "-"):
        return None
    alone = s.text.strip() == s.text[s.starts[i] : s.ends[i]] and value >= 1900
    bracketed = before == "(" and s.word(i + 1) == ")"
    licensed = (before in _PREPOSITIONS or before == "year") and not (before == "of" and s.word(i - 2) in _SUMS)
    if not (nested or alone or bracketed or licensed):
        return None
    return Phrase(i + 1, years(value, 1, s.zone), "year", relative=False)
