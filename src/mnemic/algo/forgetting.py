"""Adaptive forgetting of notes (HiMem names it; the formula is methods.md 2.9's): which ones are the weakest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from mnemic.types import NoteKind

PRIOR: Final[Mapping[NoteKind, float]] = {"trait": 1.5, "preference": 1.2, "fact": 1.0, "state": 1.0}
"""HiMem's profiles are traits here; what holds for a moment is no stronger than what happened."""


def strength(age_days: float, hits: int, kind: NoteKind, *, half_life_days: float) -> float:
    """How strong a note is.

    Args:
        age_days: Of the note in the time of the history, at least 0.
        hits: How often it was met again, at least 0.
        kind: What it states.
        half_life_days: Age at which a note has half of its strength, over 0.

    Returns:
        ``2^(-age / half life) * (1 + ln(1 + hits)) * prior(kind)``, over 0 but for underflow.
    """
    return 2.0 ** (-age_days / half_life_days) * (1.0 + math.log1p(hits)) * PRIOR[kind]


def weakest(strengths: Sequence[float], witnesses: Sequence[str | None], most: int) -> list[int]:
    """Which notes to let go, so that at most so many are left.

    Args:
        strengths: Of n notes.
        witnesses: What each note bears witness to that may not be lost; None for what may.
        most: How many may be left, at least 0. What may not be lost stays beyond that.

    Returns:
        Places, the weakest first, of equal ones the earlier; never all that bear witness to one thing.
    """
    left: dict[str, int] = {}
    for witness in witnesses:
        if witness is not None:
            left[witness] = left.get(witness, 0) + 1
    gone: list[int] = []
    for place in sorted(range(len(strengths)), key=lambda place: (strengths[place], place)):
        if len(strengths) - len(gone) <= most:
            break
        witness = witnesses[place]
        if witness is not None and left[witness] == 1:
            continue
        if witness is not None:
            left[witness] -= 1
        gone.append(place)
    return gone
