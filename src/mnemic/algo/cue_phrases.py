"""Cues made of words: names, key phrases and their words, dates as written, numbers with what they count."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from mnemic.algo.inflection import article, ending
from mnemic.algo.word_cache import word_cache
from mnemic.algo.wordlists import (
    GENERIC,
    IRREGULAR_PASTS,
    MONTHS,
    NAME_CONNECTORS,
    NAME_OPENERS,
    NOT_ADVERBS,
    STOP_WORDS,
)

Span = tuple[int, int]
Rank = Literal["content", "generic", "stop", "number", "speaker"]

_LONGEST_WORD = 40
_LONGEST_NAME = 6
_POSSESSIVES = ("'s", "’s", "'S", "’S")
_STRETCHED = re.compile(r"([a-z])\1\1")
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\Z")
_UNCOUNTED = re.compile(r"[:/]|(?:st|nd|rd|th|am|pm|s)\Z")


class Word(NamedTuple):
    """A word or number of a text.

    Attributes:
        start: Where it begins.
        end: Where it ends, its possessive left out.
        lower: In lower case.
        rank: ``content`` words make cues; ``generic`` and ``stop`` words separate them; ``speaker`` is a participant.
        capital: Whether it begins with a capital that tells something.
        joined: Whether only a blank separates it from the word before.
    """

    start: int
    end: int
    lower: str
    rank: Rank
    capital: bool
    joined: bool


def word(text: str, start: int, end: int, *, joined: bool) -> Word:
    """The word ``text[start:end]``; its rank is never ``number`` or ``speaker``."""
    written = text[start:end]
    if written.endswith(_POSSESSIVES):
        written = written[:-2]
    lower = written.lower()
    rank = _rank(lower) if len(written) <= _LONGEST_WORD else "stop"
    return Word(start, start + len(written), lower, rank, written[0] != lower[0], joined)


def number(text: str, start: int, end: int, *, joined: bool) -> Word:
    """The number ``text[start:end]``, without punctuation behind it."""
    written = text[start:end].rstrip(".,:/")
    return Word(start, start + len(written), written.lower(), "number", False, joined)


def spans(words: Sequence[Word]) -> Iterator[Span]:
    """Spans of the cues among the words of a text, which come in order of position."""
    named = dict(_names(words))
    name_end = 0
    run: list[Word] = []
    for index, item in enumerate(words):
        if index in named:
            name_end = named[index]
            yield item.start, words[name_end - 1].end
        if item.rank == "content" or (index >= name_end and _is_capital_name(item)):
            yield _uninflected(item)
        part = item.rank == "content" and index >= name_end and not _is_past(item)
        if not (part and item.joined):
            if len(run) > 1:
                yield from _phrases(run)
            run = []
        if part:
            run.append(item)
        if item.rank == "number" or item.lower in MONTHS:
            yield from _counted_or_dated(words, index)
    if len(run) > 1:
        yield from _phrases(run)


def _is_capital_name(item: Word) -> bool:
    """Whether a general word is written as a name inside a sentence: Hope, Target."""
    return item.capital and item.joined and item.rank == "generic"


def _is_past(item: Word) -> bool:
    return item.lower.endswith("ed") or item.lower in IRREGULAR_PASTS


def _uninflected(item: Word) -> Span:
    """A word without its article and ending, but a capital inside a sentence makes it a name, to be left whole."""
    if item.lower.isascii():
        return item.start, item.end if item.capital and item.joined else item.end - ending(item.lower)
    return item.start + article(item.lower), item.end


@word_cache(1 << 16)
def _rank(lower: str) -> Rank:
    plain = lower.replace("’", "'")
    if plain in STOP_WORDS or (len(plain) == 1 and plain.isascii()):
        return "stop"
    adverb = plain.endswith("ly") and len(plain) > 4 and plain not in NOT_ADVERBS
    general = plain in GENERIC or plain[: len(plain) - ending(plain)] in GENERIC
    return "generic" if adverb or general or _STRETCHED.search(plain) else "content"


def _phrases(run: Sequence[Word]) -> Iterator[Span]:
    """The last two and the last three of adjacent content words."""
    end = _uninflected(run[-1])[1]
    for length in (2, 3):
        if length <= len(run):
            yield run[-length].start, end


def _names(words: Sequence[Word]) -> Iterator[tuple[int, int]]:
    """Index ranges of names of several words: capitals in a row, perhaps with small words between (of, de la)."""
    index = 0
    while index < len(words):
        end = _name_end(words, index) if words[index].capital else index
        if 2 <= end - index <= _LONGEST_NAME:
            yield index, end
        index = max(end, index + 1)


def _name_end(words: Sequence[Word], index: int) -> int:
    """Where the row of capitals ends that begins at an index, at a capital; the index itself where no name does."""
    first = words[index]
    may_open = first.rank == "content" or (first.rank == "generic" and index > 0) or first.lower in NAME_OPENERS
    if not may_open:
        return index
    end = index + 1
    following = end
    while following < len(words) and words[following].joined:
        item = words[following]
        following += 1
        if item.capital and item.rank in ("content", "generic"):
            end = following
        elif item.lower not in NAME_CONNECTORS or following - end > 2:
            break
    return end


def _counted_or_dated(words: Sequence[Word], index: int) -> Iterator[Span]:
    """What begins at an index that is a number or month: ``3 dogs``, ``5km``, ``7 May``, ``7th of May``, ``May 7``."""
    item = words[index]
    after = words[index + 1 : index + 3]
    if not after or not after[0].joined:
        after = ()
    if item.rank != "number":
        if after and after[0].rank == "number":
            ordinal = _ORDINAL.search(after[0].lower)
            yield item.start, after[0].start + ordinal.start() if ordinal else after[0].end
    elif after and after[0].lower in MONTHS:
        yield item.start, after[0].end
    elif len(after) == 2 and after[0].lower == "of" and after[1].joined and after[1].lower in MONTHS:
        yield item.start, after[1].end
    elif not _UNCOUNTED.search(item.lower):
        if not item.lower[-1].isdigit():
            yield item.start, item.end
        elif after and after[0].rank in ("content", "generic"):
            yield item.start, after[0].end
