"""Where the mean of a sequence of vectors changes: exact penalised least squares.

The cuts that minimise the scatter of the vectors about the mean of their own run, plus a penalty for each cut: the
kernel change points of Harchaoui and Cappé (Retrospective multiple change-point estimation with kernels, 2007) under
the linear kernel, with a penalty that grows with ln n as in Yao (Statistics and Probability Letters 6, 1988).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnemic.algo.vectors import dots

Floats = NDArray[np.floating]
Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


def noise(vectors: Floats) -> float:
    """The variance of the vectors about a mean that hardly ever changes: half the mean squared step between neighbours.

    It is what an embedder's own spread makes of one topic, so that thresholds in its units suit any embedder.

    Args:
        vectors: (n, d); rows of zeros (blank texts) are passed over.

    Returns:
        At least 0, at most 2 for unit vectors; 0 for fewer than two rows.
    """
    rows = np.asarray(vectors, np.float64)[_filled(vectors)]
    return float(np.square(np.diff(rows, axis=0)).sum(axis=1).mean() / 2) if len(rows) > 1 else 0.0


def gain(before: Floats, after: Floats) -> float:
    """By how much a cut lessens the scatter: pq / (p + q) times the squared distance of the means of p and q vectors.

    Args:
        before: (p, d); rows of zeros are passed over.
        after: (q, d), likewise.

    Returns:
        At least 0; 0 where one side is blank.
    """
    left, right = (np.asarray(rows, np.float64)[_filled(rows)] for rows in (before, after))
    if not len(left) or not len(right):
        return 0.0
    distance = float(np.square(left.mean(axis=0) - right.mean(axis=0)).sum())
    return len(left) * len(right) / (len(left) + len(right)) * distance


def change_points(vectors: Floats, may_cut: Mask, *, penalty: float, shortest: int, longest: int) -> list[int]:
    """The best cuts, in O(n^2) time and memory.

    Args:
        vectors: (n, d); rows of zeros count for lengths only.
        may_cut: (n,) whether a run may begin there; the first one does anyway. Where runs of at most ``longest``
            cannot be had so, they begin anywhere.
        penalty: What a cut must at least lessen the scatter by; at least 0.
        shortest: Vectors of a run at least, from 1; with fewer than that there is one run.
        longest: At most, at least ``2 * shortest - 1``, so that runs of both limits exist for every length.

    Returns:
        The starts of all runs but the first, ascending.
    """
    if len(vectors) < 2 * shortest:
        return []
    scatter = _Scatter.of(vectors)
    starts = np.flatnonzero(may_cut)
    cuts = _best(scatter, np.union1d(starts, [0]), len(vectors), penalty, shortest, longest)
    if cuts is None:
        cuts = _best(scatter, np.arange(len(vectors)), len(vectors), penalty, shortest, longest)
    assert cuts is not None
    return cuts


@dataclass(frozen=True, slots=True)
class _Scatter:
    """What the scatter of any run is worked out from: counts, squares and products of running sums."""

    counts: Ints
    squares: Doubles
    products: Doubles

    @classmethod
    def of(cls, vectors: Floats) -> _Scatter:
        rows = np.asarray(vectors, np.float64)
        sums = np.concatenate([np.zeros((1, rows.shape[1])), np.cumsum(rows, axis=0)])
        squares = np.concatenate([[0.0], np.cumsum(np.square(rows).sum(axis=1))])
        counts = np.concatenate([[0], np.cumsum(_filled(rows))])
        return cls(counts, squares, np.asarray(dots(sums, sums), np.float64))

    def __call__(self, starts: Ints, end: int) -> Doubles:
        """Of the runs ``[start, end)``: squared distances from the run's mean, summed."""
        total = self.products[starts, starts] + self.products[end, end] - 2 * self.products[starts, end]
        count = np.maximum(self.counts[end] - self.counts[starts], 1)
        return self.squares[end] - self.squares[starts] - np.maximum(total, 0.0) / count


def _best(scatter: _Scatter, starts: Ints, n: int, penalty: float, shortest: int, longest: int) -> list[int] | None:
    """The cuts of the cheapest way to the end; None where the limits leave none."""
    cost = np.full(n + 1, np.inf)
    cost[0] = 0.0
    came_from = np.zeros(n + 1, np.int64)
    for end in range(shortest, n + 1):
        low, high = np.searchsorted(starts, [end - longest, end - shortest + 1])
        near = starts[low:high]
        if len(near):
            costs = cost[near] + scatter(near, end) + penalty
            came_from[end] = near[np.argmin(costs)]
            cost[end] = costs.min()
    if not np.isfinite(cost[n]):
        return None
    cuts: list[int] = []
    end = int(came_from[n])
    while end:
        cuts.append(end)
        end = int(came_from[end])
    return cuts[::-1]


def _filled(vectors: Floats) -> Mask:
    return np.any(vectors != 0, axis=1)
