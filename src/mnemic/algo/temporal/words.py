"""The words of English time phrases, the tokens of a text, and small readers that the grammar is made of.

Every reader takes a text and the index of a token, looks at a bounded number of tokens from there, and returns
what it read with the index after it, or None.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Final, Literal

from mnemic.algo.calendar import Grain, shift
from mnemic.types import Interval

Tense = Literal["past", "future"]
_MAX_NESTED: Final = 4
_PADDING: Final = 64


def words(*lines: str) -> frozenset[str]:
    """A set of words, written as text."""
    return frozenset(word for line in lines for word in line.split())


def _numbered(first: int, *groups: str) -> dict[str, int]:
    """Words that stand for numbers counted from ``first``; the words of one group mean the same."""
    return {word: number for number, group in enumerate(groups, first) for word in group.split("|")}


MONTHS: Final = _numbered(
    1, "january|jan", "february|feb", "march|mar", "april|apr", "may", "june|jun",
    "july|jul", "august|aug", "september|sep|sept", "october|oct", "november|nov", "december|dec",
)  # fmt: skip
WEEKDAYS: Final = _numbered(
    0, "monday|mon", "tuesday|tue|tues", "wednesday|wed", "thursday|thu|thur|thurs",
    "friday|fri", "saturday|sat", "sunday|sun",
)  # fmt: skip
SEASONS: Final[dict[str, str]] = {
    "spring": "spring", "springtime": "spring", "summer": "summer", "summertime": "summer",
    "autumn": "autumn", "fall": "autumn", "winter": "winter", "wintertime": "winter",
}  # fmt: skip
# Hours from the start of the day; a night ends on the next day.
PARTS: Final[dict[str, tuple[int, int]]] = {
    "morning": (5, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 29),
}  # fmt: skip
UNITS: Final[dict[str, tuple[Grain, int]]] = {
    "minute": ("minute", 1), "minutes": ("minute", 1), "min": ("minute", 1), "mins": ("minute", 1),
    "hour": ("hour", 1), "hours": ("hour", 1), "hr": ("hour", 1), "hrs": ("hour", 1),
    "day": ("day", 1), "days": ("day", 1), "week": ("week", 1), "weeks": ("week", 1),
    "wk": ("week", 1), "wks": ("week", 1), "fortnight": ("week", 2), "fortnights": ("week", 2),
    "month": ("month", 1), "months": ("month", 1), "quarter": ("quarter", 1), "quarters": ("quarter", 1),
    "year": ("year", 1), "years": ("year", 1), "yr": ("year", 1), "yrs": ("year", 1),
    "decade": ("decade", 1), "decades": ("decade", 1), "century": ("century", 1), "centuries": ("century", 1),
}  # fmt: skip
ORDINALS: Final = _numbered(
    1, "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth",
)  # fmt: skip
_CARDINALS: Final = _numbered(
    1, "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
) | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}  # fmt: skip
# What a vague number of things can mean, both ends included.
_VAGUE: Final[dict[str, tuple[int, int]]] = {
    "few": (2, 5), "couple": (2, 3), "several": (3, 7), "some": (2, 10), "many": (5, 30), "dozen": (12, 12),
}  # fmt: skip
# What a count can begin with, besides digits.
COUNTS: Final = frozenset({"a", "an", "half", *_CARDINALS, *_VAGUE})
TO: Final = words("to until till through thru - – —")
_FUTURE: Final = words(
    "will ll gonna shall going planning plan plans upcoming hope hoping forward should let lets need want wanna",
    "must might wait scheduled soon due deadline",
)
_PAST: Final = words(
    "was were did didn wasn weren had have has ve been went got took made saw came bought met ran won lost left found",
    "told said began became felt gave kept knew led let read sent spent taught thought wrote ate drove flew built",
    "caught chose fell fought grew held hurt put rode sang sat shot slept spoke stood swam threw woke wore broke",
    "brought heard paid sold ago last",
)
_NOT_PAST: Final = words(
    "need speed feed seed indeed hundred wed bed red excited interested tired scheduled booked supposed"
)
# What may follow a phrase that ends in a number or an ordinal, for that to stand alone: "on the 15th we met".
FOLLOWERS: Final = words(
    "and or but i we he she they it you at in for with when while because so after before to from until if my our his",
    "her their the that this as last next is was",
)
_BE: Final = words("am is are m re s")
_PERFECT: Final = words("have has ve been haven hasn")
_HABITUAL: Final = words("usually typically normally commonly generally every each always annual annually yearly")
_STOPS: Final = words(". ! ? ;")
_CLAUSE_STOPS: Final = _STOPS | words(", and but so because - – —")
# Tokens looked at before and after a phrase for what its sentence tells.
_BEFORE: Final = 20
_AFTER: Final = 9
_COUNTED: Final = words(
    "people km kg cm mm m g ml l lbs lb feet ft calories bucks percent usd eur dollar euro",
    "million billion mph am pm x of",
)
_NOT_COUNTED: Final = words(
    "was is has his this its as always sometimes us yes does hers ours theirs perhaps besides towards thus",
    "sundays mondays tuesdays wednesdays thursdays fridays saturdays",
)

# The signs for year, month and day stand alone, also within a run of other letters.
_TOKEN: Final = re.compile(r"[^\W\d_年月日号년월일]+|\d+|\S")


@dataclass(frozen=True, slots=True)
class Phrase:
    """A time phrase that was read: the index of the token after it, what it means, and how fine it is.

    ``open_year`` says that the year was not written but chosen by the reference.
    """

    stop: int
    interval: Interval
    grain: Grain
    relative: bool = True
    open_year: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """A text as tokens, and what relative phrases are resolved against.

    ``found`` holds the phrases read so far: "three days later" counts from the only one there is. ``grammar`` reads
    a phrase at a token; the rules it is made of call it back through ``read``, which remembers its answers.
    """

    text: str
    words: list[str]
    starts: list[int]
    ends: list[int]
    reference: datetime | None
    zone: tzinfo
    day_first: bool
    grammar: Callable[[Source, int, int], Phrase | None]
    found: list[Phrase] = field(default_factory=list[Phrase])
    leaves: dict[tuple[int, bool], Phrase | None] = field(default_factory=dict[tuple[int, bool], "Phrase | None"])
    memo: dict[tuple[int, int], Phrase | None] = field(default_factory=dict[tuple[int, int], "Phrase | None"])

    def read(self, i: int, nested: int = 0) -> Phrase | None:
        """The longest time phrase that begins at a token, ``nested`` phrases deep."""
        key = (i, nested)
        if key not in self.memo:
            self.memo[key] = self.grammar(self, i, nested) if nested <= _MAX_NESTED else None
        return self.memo[key]

    def word(self, i: int) -> str:
        """The token in lower case, with a straight apostrophe; empty within ``_PADDING`` tokens around the text."""
        return self.words[i]

    def now(self) -> datetime:
        """The reference; a stand-in without one, so that "May 3 to June 9, 2021" can still be read.

        Whatever depends on it is relative, and dropped when there is no reference.
        """
        return self.reference or datetime(2000, 1, 1, tzinfo=self.zone)

    def capital(self, i: int) -> bool:
        """Whether the token begins with a capital letter."""
        return self.text[self.starts[i]].isupper()

    def glued(self, i: int) -> bool:
        """Whether nothing stands between the token and the one before it."""
        return 0 < i < len(self.starts) and self.starts[i] == self.ends[i - 1]


def tokens(text: str) -> tuple[list[str], list[int], list[int]]:
    """Cut a text into runs of letters, runs of digits and single other characters: words, starts and ends.

    Words are in lower case, apostrophes straight. Empty words follow the last one, and so precede the first.
    """
    spans = [m.span() for m in _TOKEN.finditer(text)]
    cut = [text[start:end].lower() for start, end in spans]
    padded = ["'" if w == "’" else w for w in cut] + [""] * _PADDING
    return padded, [start for start, _ in spans], [end for _, end in spans]


def skip(s: Source, i: int, words: Sequence[str] | frozenset[str]) -> int:
    """The index after the token if it is one of the words, else the index itself."""
    return i + 1 if s.word(i) in words else i


def sequence(s: Source, i: int, words: Sequence[str]) -> bool:
    """Whether exactly these tokens follow."""
    return all(s.word(i + k) == word for k, word in enumerate(words))


def integer(s: Source, i: int, digits: range) -> int | None:
    """The value of a token of digits in any script whose number of digits is within the range."""
    word = s.word(i)
    return int(word) if word.isdecimal() and len(word) in digits else None


def cardinal(s: Source, i: int) -> tuple[int, int] | None:
    """A whole number in digits or words: (index after it, number)."""
    value = integer(s, i, range(1, 5))
    if value is not None:
        return i + 1, value
    tens = _CARDINALS.get(s.word(i))
    if tens is None:
        return None
    at = i + 1
    if tens >= 20:
        ones = _CARDINALS.get(s.word(skip(s, at, "-")), 10)
        if ones < 10:
            return skip(s, at, "-") + 1, tens + ones
    return at, tens


def count(s: Source, i: int) -> tuple[int, int, int] | None:
    """A number of things: (index after it, fewest, most), for "a", "a few", "two", "two or three", "5-6", "10+"."""
    article = s.word(i) in ("a", "an")
    at = i + 1 if article else i
    vague = _VAGUE.get(s.word(at))
    if vague is not None:
        return skip(s, at + 1, ("of",)), *vague
    if article:
        return at, 1, 1
    number = cardinal(s, at)
    if number is None:
        return None
    at, low = number
    if s.word(at) in ("or", "to", "-", "–"):
        other = cardinal(s, at + 1)
        if other is not None and other[1] > low:
            return other[0], low, other[1]
    return skip(s, at, "+"), low, low


def duration(s: Source, i: int) -> tuple[int, int, int, Grain] | None:
    """A number of units: (index after it, fewest, most, unit), for "two weeks", "a day or two", "half a year"."""
    if s.word(i) == "half" and s.word(i + 1) in ("a", "an") and s.word(i + 2) in ("year", "hour"):
        return (i + 3, 6, 6, "month") if s.word(i + 2) == "year" else (i + 3, 30, 30, "minute")
    number = count(s, i)
    if number is None or s.word(number[0]) not in UNITS:
        return None
    at, low, high = number
    grain, factor = UNITS[s.word(at)]
    at += 1
    if sequence(s, at, ("or", "two")) or sequence(s, at, ("or", "so")):
        return at + 2, low * factor, (high + 1) * factor, grain
    if sequence(s, at, ("and", "a", "half")):
        return (at + 3, *_halves(low * factor, grain))
    return at, low * factor, high * factor, grain


def _halves(whole: int, grain: Grain) -> tuple[int, int, Grain]:
    finer: dict[Grain, tuple[int, Grain]] = {
        "hour": (60, "minute"), "day": (24, "hour"), "week": (7, "day"), "month": (30, "day"),
        "year": (12, "month"), "decade": (10, "year"),
    }  # fmt: skip
    parts, fine = finer.get(grain, (1, grain))
    middle, slack = whole * parts + parts // 2, parts // 6
    return middle - slack, middle + slack, fine


def counts_things(s: Source, i: int) -> bool:
    """Whether the token after a number says that the number counted things: a unit or a plural noun."""
    word = s.word(i)
    if word in _COUNTED:
        return True
    plural = len(word) > 3 and word.endswith("s") and not word.endswith("ss") and word.isalpha()
    return plural and word not in _NOT_COUNTED and not s.capital(i)


def tense(s: Source, i: int, j: int) -> Tense | None:
    """Whether the words around the tokens ``[i, j)``, within their sentence, tell of the past or of the future."""
    before = _reach(s, range(i - 1, max(-1, i - _BEFORE), -1), _STOPS)
    after = _reach(s, range(j, min(len(s.starts), j + _AFTER)), _CLAUSE_STOPS)
    for k in before + after:
        word = s.words[k]
        if word in _FUTURE or (word.endswith("ing") and s.word(k - 1) in _BE):
            return "future"
        if word in _PAST or (len(word) > 4 and word.endswith("ed") and word not in _NOT_PAST):
            return "past"
    return None


def perfect(s: Source, i: int) -> bool:
    """Whether a perfect tense precedes a token within its sentence, or nothing does."""
    before = _reach(s, range(i - 1, max(-1, i - _BEFORE), -1), _STOPS)
    return not before or any(s.words[k] in _PERFECT for k in before)


def habitual(s: Source, i: int, j: int) -> bool:
    """Whether the sentence around the tokens ``[i, j)`` tells what happens usually: then they name no one time."""
    before = _reach(s, range(i - 1, max(-1, i - _BEFORE), -1), _STOPS)
    after = _reach(s, range(j, min(len(s.starts), j + _AFTER)), _STOPS)
    return any(s.words[k] in _HABITUAL for k in before + after)


def _reach(s: Source, indexes: range, stops: frozenset[str]) -> list[int]:
    reached: list[int] = []
    for k in indexes:
        if s.words[k] in stops:
            break
        reached.append(k)
    return reached


def part_of_day(day: Interval, part: str) -> Interval:
    """The morning, afternoon, evening or night of a day."""
    if day.start is None:
        raise ValueError("an open interval has no morning")
    first, last = PARTS[part]
    start = shift(day.start, last // 24, "day")
    return Interval(day.start.replace(hour=first), start.replace(hour=last % 24))
