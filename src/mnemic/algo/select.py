"""Selection: the best k in a fixed order, and what fits a budget."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def best(
    scores: NDArray[np.floating],
    allowed: NDArray[np.bool_],
    k: int,
    *,
    ties: Sequence[NDArray[np.floating] | NDArray[np.int64]] = (),
) -> NDArray[np.int64]:
    """The k best allowed candidates, best first.

    Args:
        scores: (n,) higher is better; NaN is an error of the caller.
        allowed: (n,) who may be chosen.
        k: At least 0; fewer come back when fewer are allowed.
        ties: What decides between equal scores, in turn, lower first; at last the position.

    Returns:
        (<= k,) positions.
    """
    candidates = np.flatnonzero(allowed)
    if k < len(candidates):
        cut = np.partition(scores[candidates], len(candidates) - k)[len(candidates) - k] if k else np.inf
        candidates = candidates[scores[candidates] >= cut]
    order = np.lexsort((candidates, *(tie[candidates] for tie in reversed(ties)), -scores[candidates]))
    return candidates[order[:k]]


def within_budget(sizes: Sequence[int], budget: int) -> list[int]:
    """Positions, in order, of the items that fit a budget when taken greedily: one too large is passed over."""
    taken: list[int] = []
    left = budget
    for position, size in enumerate(sizes):
        if size <= left:
            taken.append(position)
            left -= size
    return taken
