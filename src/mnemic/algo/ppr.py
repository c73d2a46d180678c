"""Personalized PageRank over cues and traces (HERO eq. for r and a; methods.md R4, R5; LinearRAG's edge weights).

Vertices are the cues 0..c-1 followed by the traces c..c+t-1. Notes and units are not in this graph: the
profile is masked, only cues and traces carry mass.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mnemic.algo.sparse import Sparse
from mnemic.algo.tridiagonal import Tridiagonal

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

    An edge has one weight both ways, so with D the sums of the weights at the vertices, W the weights and a = D z,
    a = (1 - d) r + d a P is (D - d W) z = (1 - d) r, a symmetric system. Its lines of the cues give z there from z at
    the traces; put into those of the traces, T z = b + d^2 B z is left, where T = D - d W holds the chain and B the
    ways from trace to trace by a cue.

    Args:
        frequency: (traces, cues) counts, as for ``transition``.
        chain: As there.
    """

    def __init__(self, frequency: Sparse, chain: Ints) -> None:
        self._frequency = frequency
        mentions = frequency.row_sums
        self._beside = np.bincount(chain[1:], minlength=len(mentions))
        self._beside += np.bincount(chain[:-1], minlength=len(mentions))
        # A trace's shares of its mentions sum to 1, if it has any, and each neighbour in the chain adds 1.
        self._ways = (mentions > 0) + self._beside
        self._degree = np.asarray(np.maximum(self._ways, 1), np.float64)
        self._of_mention = _inverse(mentions)
        self._of_cue = _inverse(frequency.column_shares)
        # The chain first, so that neighbours are neighbours; what is not in it has none.
        outside = np.ones(len(mentions), np.bool_)
        outside[chain] = False
        self._order = np.concatenate((chain, np.flatnonzero(outside)))
        self._links = max(len(chain) - 1, 0)
        self._chains: dict[float, Tridiagonal] = {}

    @property
    def shape(self) -> tuple[int, int]:
        """(traces, cues)."""
        return self._frequency.shape

    def to_cues(self, z: Doubles) -> Doubles:
        """(t,) z to (c,): the mass that a step brings to the cues."""
        return np.asarray(self._frequency.transposed_product(z * self._of_mention), np.float64)

    def to_traces(self, mass: Doubles) -> Doubles:
        """(c,) mass of cues to (t,): what a step brings of it to the traces."""
        return self._of_mention * self._frequency.product(mass * self._of_cue)

    def along_chain(self, right: Doubles, follow: float) -> Doubles:
        """(t,) to (t,): z with T z = right."""
        if follow not in self._chains:
            self._chains[follow] = Tridiagonal(self._degree[self._order], np.full(self._links, -follow))
        z = np.empty_like(right)
        z[self._order] = self._chains[follow].solve(right[self._order])
        return z

    def mass(self, z: Doubles) -> Doubles:
        """(t,) z to (t,) D z."""
        return z * self._degree

    def by_cues_at_most(self, follow: float) -> float:
        """A bound of the eigenvalues of d^2 B against T, all of which are real and at least 0.

        Where d^2 B 1 <= m T 1, T^-1 d^2 B 1 <= m 1, for no number of the inverse of T is below 0.
        """
        by_cue = follow * follow * (self._ways - self._beside)
        return float((by_cue / (self._degree - follow * self._beside)).max(initial=0.0))


def _inverse(values: Doubles) -> Doubles:
    """1 / x, and 0 for 0."""
    return np.divide(1.0, values, out=np.zeros(len(values)), where=values > 0)


def pagerank(
    walk: Sparse | Walk, restart: Floats, *, follow: float, tolerance: float = 1e-8, rounds: int = 100
) -> Doubles:
    """Personalized PageRank a = (1 - d) r + d a P; the mass of vertices without edges returns to r.

    By power iteration. In a ``Walk``, whose edges have no direction, the part of the chain is solved for exactly and
    the rest by Chebyshev semi-iteration (Golub and Varga 1961), for d = 1/2 in about four steps.

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
    """Solve T z = b + d^2 B z by steps z <- T^-1 (b + d^2 B z), which Chebyshev's polynomials speed up.

    What is lost at vertices without edges is made up for by one factor: for a returns there to r, so the whole is a
    multiple of what it would be without.
    """
    start = (1 - follow) * r
    cues, traces = np.split(start, [walk.shape[1]])
    most = walk.by_cues_at_most(follow)
    step, narrow, weight = 2 / (2 - most), most / (2 - most), 2.0
    at_cues, before = cues, np.zeros_like(traces)
    z = step * walk.along_chain(traces + follow * walk.to_traces(cues), follow)
    for _ in range(rounds):
        at_cues = cues + follow * walk.to_cues(z)
        towards = walk.along_chain(traces + follow * walk.to_traces(at_cues), follow)
        weight = 1 / (1 - narrow * narrow * weight / 4)
        after = weight * (step * (towards - z) + z - before) + before
        change = np.abs(walk.mass(after - z)).sum()
        before, z = z, after
        if change < tolerance:
            break
    a = np.maximum(np.concatenate((at_cues, walk.mass(z))), 0.0)
    return a / a.sum()
