"""Personalized PageRank over cues and traces (HERO eq. for r and a; methods.md R4, R5; LinearRAG's edge weights).

Vertices are the cues 0..c-1 followed by the traces c..c+t-1. Notes and units are not in this graph: the
profile is masked, only cues and traces carry mass.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mnemic.algo.sparse import Sparse

Floats = NDArray[np.floating]
Doubles = NDArray[np.float64]


def transition(frequency: Sparse, chain: NDArray[np.int64], *, directed: bool = False) -> Sparse:
    """The transposed, row-normalised adjacency, ready for ``pagerank``.

    A(c, t) = A(t, c) = f(c, t) / sum_c' f(c', t), the cue's share of the trace's mentions; neighbours in the
    chain are joined with weight 1 both ways. Directed (an ablation, A4): only cue to trace and trace to next.

    Args:
        frequency: (traces, cues) CSR counts.
        chain: The traces in chain order, a permutation of a subset of range(traces).
        directed: The ablation.

    Returns:
        (n, n) CSR with n = cues + traces: P transposed, P having rows that sum to 1, or to 0 where a vertex
        has no edge.
    """
    traces, cues = frequency.shape
    mentioned_in = frequency.rows
    totals = np.bincount(mentioned_in, frequency.values, minlength=traces)
    share = frequency.values / totals[mentioned_in]
    trace, cue = mentioned_in + cues, frequency.columns
    here, after = chain[:-1] + cues, chain[1:] + cues
    steps = np.ones(len(here))
    if directed:
        rows, columns, values = [cue, here], [trace, after], [share, steps]
    else:
        rows, columns, values = [cue, trace, here, after], [trace, cue, after, here], [share, share, steps, steps]
    row, column, value = np.concatenate(rows), np.concatenate(columns), np.concatenate(values)
    out = np.bincount(row, value, minlength=cues + traces)
    return Sparse.from_pairs(column, row, value / out[row], (cues + traces, cues + traces))


def pagerank(
    transposed: Sparse, restart: Floats, *, follow: float, tolerance: float = 1e-8, rounds: int = 100
) -> Doubles:
    """Power iteration a <- (1 - d) r + d a P; the mass of vertices without edges returns to r.

    Args:
        transposed: (n, n) P transposed, from ``transition``.
        restart: (n,) r >= 0 with a positive sum; normalised here.
        follow: d in [0, 1), the probability of following an edge.
        tolerance: Stop when the L1 change is below it.
        rounds: Or after so many.

    Returns:
        (n,) a, sums to 1. With d = 0 it is r.

    Raises:
        ValueError: The restart vector has no mass, or d is out of range.
    """
    total = float(restart.sum())
    if not total > 0 or not 0 <= follow < 1:
        raise ValueError(f"restart mass {total} must be positive and follow {follow} in [0, 1)")
    r = np.asarray(restart, np.float64) / total
    dangling = np.bincount(transposed.columns, minlength=len(r)) == 0
    a = r
    for _ in range(rounds):
        moved = follow * (transposed @ a)
        after = moved + (1 - follow + follow * a[dangling].sum()) * r
        change = np.abs(after - a).sum()
        a = after
        if change < tolerance:
            break
    return a
