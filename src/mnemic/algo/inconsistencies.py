"""Inconsistencies among notes that are there already: which ones to compare, and what follows.

HiMem compares a note when it is written, and again only after a search has failed; that is the limit that its paper
states (methods.md 2.8). Here notes are compared without either.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from mnemic.algo import relate
from mnemic.algo.moments import filled
from mnemic.algo.revise import Relation, same_occasion, superseded
from mnemic.algo.vectors import Floats, dots
from mnemic.types import Note

Pair = tuple[int, int]
"""Places of a newer and an older note."""

_OVERLAP: Final = 0.5
_ROWS: Final = 256


@dataclass(frozen=True, slots=True)
class Consequence:
    """What becomes of one note.

    Attributes:
        action: ``EXPIRE``: a newer note contradicts it. ``MERGE``: an older one says it already.
        before, after: The same version, with another status and perhaps another end.
        other: That other note.
    """

    action: Literal["EXPIRE", "MERGE"]
    relation: Relation
    before: Note
    after: Note
    other: Note


def by_age(notes: Sequence[Note]) -> list[Note]:
    """Notes by when they began to hold; where that is unknown, after all that were stored before.

    Args:
        notes: In the order in which they were stored.
    """
    times = filled([note.valid.start for note in notes])
    return [notes[place] for _, place in sorted(zip(times, range(len(notes)), strict=True))]


def near(
    vectors: Floats, terms: Sequence[frozenset[str]], people: Sequence[str], *, floor: float, most: int = 5
) -> list[Pair]:
    """The older notes about the same person that are nearest to each note: HiMem's neighbours (methods.md 2.5).

    Args:
        vectors: (n, dim) unit rows of n notes, oldest first; zeros where there is none.
        terms: Of each note: what is compared where either has no vector.
        people: Whom each note is about.
        floor: The least cosine. Of terms, half of the shorter note's are enough.
        most: Pairs a note.

    Returns:
        Pairs, by the newer note, the nearest older one first.
    """
    pairs: list[Pair] = []
    has_vector = np.any(vectors, axis=1)
    number = {person: place for place, person in enumerate(dict.fromkeys(people))}
    person = np.array([number[name] for name in people], np.int64)
    for first in range(0, len(people), _ROWS):
        block = range(first, min(first + _ROWS, len(people)))
        cosines = dots(vectors[block.start : block.stop], vectors[: block.stop])
        for row, new in enumerate(block):
            known = np.flatnonzero((person[:new] == person[new]) & has_vector[:new]) if has_vector[new] else ()
            scored = [(float(cosines[row, old]), int(old)) for old in known if cosines[row, old] >= floor]
            for old in np.flatnonzero((person[:new] == person[new]) & ~(has_vector[:new] & has_vector[new])):
                overlap = _overlap(terms[new], terms[int(old)])
                scored += [(overlap, int(old))] if overlap >= _OVERLAP else []
            scored.sort(key=lambda one: (-one[0], one[1]))
            pairs += [(new, old) for _, old in scored[:most]]
    return pairs


def follow(notes: Sequence[Note], relations: Mapping[Pair, Relation]) -> list[Consequence]:
    """What follows from how notes relate: nothing is gone, each note changes once at most.

    A contradicted older note is ``superseded``, and its validity ends where the newer one's begins; then, of two that
    are still current and say the same, the newer is ``retracted``. So of "A, B, A again" the last is what holds. Two
    notes that differ in a number or a time never say the same, nor do facts of different times.

    Args:
        notes: Current ones, oldest first.
        relations: Of newer ones to older ones.
    """
    found: dict[int, Consequence] = {}
    for new, old in _of("contradictory", relations):
        if new not in found and old not in found:
            after = superseded(notes[old], notes[new])
            found[old] = Consequence("EXPIRE", "contradictory", notes[old], after, notes[new])
    kept: dict[int, int] = {}
    for new, old in _of("equivalent", relations):
        first = kept.get(old, old)
        if new in found or first in found or not _may_be_one(notes[new], notes[first]):
            continue
        kept[new] = first
        after = replace(notes[new], status="retracted")
        found[new] = Consequence("MERGE", "equivalent", notes[new], after, notes[first])
    return [found[place] for place in sorted(found)]


def _of(wanted: Relation, relations: Mapping[Pair, Relation]) -> Iterator[Pair]:
    """The pairs that relate so, oldest first."""
    return iter(sorted(pair for pair, relation in relations.items() if relation == wanted))


def _may_be_one(one: Note, other: Note) -> bool:
    return relate.values(one) == relate.values(other) and same_occasion(one, other)


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(1, min(len(one), len(other)))
