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
Ints = NDArray[np.int64]


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


class Walk:
    """The undirected graph of ``transition``, to walk on without making its matrix.

    Args:
        frequency: (traces, cues) counts, as for ``transition``.
        chain: As there.
    """

    def __init__(self, frequency: Sparse, chain: Ints) -> None:
        self._frequency = frequency
        self._chain = chain
        mentions = frequency.row_sums
        # A trace's shares of its mentions sum to 1, if it has any, and each neighbour in the chain adds 1.
        ways = (mentions > 0) + np.bincount(chain[1:], minlength=len(mentions)) * 1.0
        ways += np.bincount(chain[:-1], minlength=len(mentions))
        self._of_trace = _inverse(np.asarray(ways, np.float64))
        self._of_mention = _inverse(mentions)
        self._of_cue = _inverse(frequency.column_shares)

    def __len__(self) -> int:
        return sum(self._frequency.shape)

    def step(self, mass: Doubles) -> Doubles:
        """(n,) to (n,): where mass is after one step; that of vertices without edges is gone."""
        cues = self._frequency.shape[1]
        each = mass[cues:] * self._of_trace
        to_traces = self._of_mention * self._frequency.product(mass[:cues] * self._of_cue)
        along = each[self._chain]
        to_traces[self._chain[1:]] += along[:-1]
        to_traces[self._chain[:-1]] += along[1:]
        to_cues = self._frequency.transposed_product(each * self._of_mention)
        return np.asarray(np.concatenate((to_cues, to_traces)), np.float64)


def _inverse(values: Doubles) -> Doubles:
    """1 / x, and 0 for 0."""
    return np.divide(1.0, values, out=np.zeros(len(values)), where=values > 0)


def pagerank(
    walk: Sparse | Walk, restart: Floats, *, follow: float, tolerance: float = 1e-8, rounds: int = 100
) -> Doubles:
    """Personalized PageRank a = (1 - d) r + d a P; the mass of vertices without edges returns to r.

    By power iteration. In a ``Walk``, whose P has real eigenvalues since its edges have no direction, by Chebyshev
    semi-iteration (Golub and Varga 1961), which takes about half as many steps.

    Args:
        walk: The graph, or its (n, n) P transposed, from ``transition``.
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
    if isinstance(walk, Sparse):
        return _by_power(walk, r, follow, tolerance, rounds)
    return _by_chebyshev(walk, r, follow, tolerance, rounds)


def _by_power(transposed: Sparse, r: Doubles, follow: float, tolerance: float, rounds: int) -> Doubles:
    """Iterate a <- (1 - d) r + d a P, from a = r."""
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


def _by_chebyshev(walk: Walk, r: Doubles, follow: float, tolerance: float, rounds: int) -> Doubles:
    """Solve a = (1 - d) r + d a P; what is lost at vertices without edges is made up for by one factor.

    For a returns there to r: the whole is a multiple of what it would be without.
    """
    start = (1 - follow) * r
    before, a = np.zeros_like(start), start
    weight = 2.0
    for _ in range(rounds):
        weight = 1 / (1 - follow * follow * weight / 4)
        after = weight * (follow * walk.step(a) + start - before) + before
        change = np.abs(after - a).sum()
        before, a = a, after
        if change < tolerance:
            break
    a = np.maximum(a, 0.0)
    return a / a.sum()
