"""The grammar of time phrases as a table of rules, and the search for them in a text."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from mnemic.algo.temporal import beside, clock, compound, dates, numeric, ranges, relative, yearly
from mnemic.algo.temporal.words import COUNTS, MONTHS, ORDINALS, PARTS, SEASONS, WEEKDAYS, Phrase, Source, tokens
from mnemic.types import Interval

# What was read at tokens far behind is not asked for again.
_REMEMBERED: Final = 10_000
Rule = Callable[[Source, int, int], Phrase | None]


@dataclass(frozen=True, slots=True)
class TimeMention:
    """Words that name a time, ``[start, end)`` in code points, and the interval that they mean.

    ``relative`` says that the interval depends on the reference.
    """

    start: int
    end: int
    interval: Interval
    relative: bool


def find(text: str, reference: datetime | None, *, day_first: bool = False) -> list[TimeMention]:
    """Find every phrase of English that names a time, and numeric dates in any language.

    Args:
        text: Any text; time and memory are linear in its length.
        reference: What relative phrases count from, aware; None skips them. Its zone is the zone of all results.
        day_first: Whether 05/07/2023 is the 5th of July; where only one reading is a date, that one is taken.

    Returns:
        Mentions in order, without overlaps, the longest phrase at each place. Intervals are half-open, in the
        reference's zone (UTC without one); an open side is None.

    Raises:
        ValueError: The reference is naive.
    """
    zone = UTC if reference is None else reference.tzinfo
    if zone is None:
        raise ValueError("the reference of time phrases must have a zone")
    source = Source(text, *tokens(text), reference, zone, day_first, _read)
    mentions: list[TimeMention] = []
    i = 0
    while i < len(source.starts):
        if len(source.memo) > _REMEMBERED:
            source.memo.clear()
            source.leaves.clear()
        phrase = source.read(i)
        if phrase is None:
            i += 1
            continue
        start, end = source.starts[i], source.ends[phrase.stop - 1]
        mentions.append(TimeMention(start, end, phrase.interval, phrase.relative))
        source.found.append(phrase)
        i = phrase.stop
    return mentions


def _read(s: Source, i: int, nested: int) -> Phrase | None:
    """The longest phrase that begins at a token, by any rule; without a reference, an absolute one."""
    return _longest(_RULES, s, i, nested, absolute=s.reference is None and not nested)


def _leaf(s: Source, i: int, nested: int) -> Phrase | None:
    """A leaf of the grammar, extended by a part of the day and a time of the day."""
    key = (i, nested > 0)
    if key not in s.leaves:
        found = _longest(_LEAVES, s, i, nested)
        s.leaves[key] = compound.with_hours(s, found) if found is not None else None
    return s.leaves[key]


def _longest(
    rules: dict[str, tuple[Rule, ...]], s: Source, i: int, nested: int, *, absolute: bool = False
) -> Phrase | None:
    word = s.word(i)
    best: Phrase | None = None
    for rule in rules.get("#" if word.isdecimal() else word, ()):
        try:
            found = rule(s, i, nested)
        except (ValueError, OverflowError):  # a date that does not exist, or lies outside the years 1 to 9999
            continue
        if found is None or (absolute and found.relative):
            continue
        if best is None or found.stop > best.stop:
            best = found
    return best


_NUMBERS: Final = {"#", *COUNTS}
_LEAF_RULES: Final[tuple[tuple[Rule, Collection[str]], ...]] = (
    (numeric.numeric, ("#",)),
    (dates.month_day, MONTHS),
    (dates.day_month, ("#", "the", *ORDINALS)),
    (dates.month_alone, MONTHS),
    (dates.weekday, WEEKDAYS),
    (dates.on_day, ("the",)),
    (dates.year, ("#",)),
    (yearly.decade, ("the", "#", "'")),
    (yearly.season_named, ("the", *SEASONS)),
    (yearly.quarter, ("q",)),
    (yearly.holiday, {"#" if first.isdecimal() else first for first in yearly.HOLIDAYS}),
    (relative.day_word, ("the", "day", "yesterday", "yday", "today", "tomorrow", "tmrw", "tmr")),
    (relative.tonight, ("tonight", "tonite", "last", "this")),
    (relative.directed, ("the", "last", "past", "previous", "this", "next", "coming", "upcoming")),
    (relative.rolling, ("the", "these", "last", "past", "next", "coming")),
    (relative.ago, _NUMBERS),
    (relative.ahead, ("in", "within", *_NUMBERS)),
    (relative.lasting, ("for", *_NUMBERS)),
    (relative.vague, ("recently", "lately", "just", "a", "the")),
    (relative.over_weekend, ("the",)),
    (clock.clock_alone, ("noon", "midday", "midnight", "half", "quarter", *_NUMBERS)),
    (clock.clock_range, ("from", "between", *_NUMBERS)),
)
_COMPOUND_RULES: Final[tuple[tuple[Rule, Collection[str]], ...]] = (
    (compound.hour_first, ("noon", "midday", "midnight", "half", "quarter", *_NUMBERS)),
    (compound.third_of, ("the", *compound.THIRDS)),
    (compound.rest, ("later", "earlier", "rest")),
    (compound.nth_of, ("the", "last", "final", "#", *ORDINALS)),
    (beside.beside, {"the", "week", "weekend", *WEEKDAYS, *PARTS, *_NUMBERS}),
    (beside.anchored, {"the", *_NUMBERS}),
    (ranges.days_of_month, {"#", *MONTHS, *ORDINALS}),
    (ranges.year_range, ("#",)),
    (ranges.open_sided, ("since", "until", "till", "til", "before", "after")),
)


def _by_word(rules: tuple[tuple[Rule, Collection[str]], ...]) -> dict[str, tuple[Rule, ...]]:
    table: dict[str, tuple[Rule, ...]] = {}
    for rule, leads in rules:
        for word in leads:
            table[word] = (*table.get(word, ()), rule)
    return table


_LEAVES: Final = _by_word(_LEAF_RULES)
_RULES: Final = _by_word(
    ((_leaf, _LEAVES), (ranges.between, {"from", "between", *_LEAVES}), *_COMPOUND_RULES),
)
