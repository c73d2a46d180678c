"""Which lines a statement has its words from, besides those that it cites: what is erased must be in no statement."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from mnemic.algo import claims
from mnemic.algo.lexical import terms

_COMMON: Final = 3
"""A word of more lines than these is nobody's in particular."""


def borrowed(text: str, cited: Collection[int], lines: Sequence[str], *, speakers: Collection[str] = ()) -> list[int]:
    """The places of the lines that words of a statement come from, and that it does not cite.

    Of a word that several lines have, the nearest before what is cited counts, else the nearest after it.

    Args:
        text: The statement.
        cited: Places of the lines that it cites, at least one, from 0.
        lines: All that its writer was shown.
        speakers: Their names are no borrowed words.

    Raises:
        ValueError: No line is cited.
    """
    first = min(cited)
    has = [_words(line) for line in lines]
    known = frozenset[str]().union(*(has[place] for place in cited), *(terms(name) for name in speakers))
    found: set[int] = set()
    for word in _words(text) - known:
        places = [place for place, its in enumerate(has) if word in its]
        if 0 < len(places) <= _COMMON:
            found.add(max((place for place in places if place < first), default=places[0]))
    return sorted(found)


def _words(text: str) -> frozenset[str]:
    return frozenset([*claims.content(text), *(f"{number:g}" for number in claims.numbers(text))])
