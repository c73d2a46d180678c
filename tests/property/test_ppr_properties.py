"""Personalized PageRank against networkx, on small graphs of every kind."""

from __future__ import annotations

from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.algo.ppr import Walk, pagerank, transition
from mnemic.algo.sparse import Sparse


@st.composite
def walks(draw: st.DrawFn) -> tuple[Sparse, np.ndarray, np.ndarray]:
    """Counts of cues in traces (rows and columns of zeros among them), a chain of some traces, a restart vector."""
    traces, cues = draw(st.integers(1, 6)), draw(st.integers(0, 6))
    counts = draw(st.lists(st.sampled_from([0, 0, 1, 2, 5]), min_size=traces * cues, max_size=traces * cues))
    chain = draw(st.permutations(range(traces)))[: draw(st.integers(0, traces))]
    mass = st.sampled_from([0.0, 0.1, 1.0, 7.0])
    restart = draw(st.lists(mass, min_size=traces + cues, max_size=traces + cues).filter(any))
    table = np.array(counts, np.float64).reshape(traces, cues)
    trace, cue = np.nonzero(table)
    frequency = Sparse.from_pairs(trace, cue, table[trace, cue], table.shape)
    return frequency, np.array(chain, np.int64), np.array(restart)


follows = st.sampled_from([0.0, 0.15, 0.5, 0.85])


def by_networkx(transposed: Sparse, restart: np.ndarray, follow: float) -> np.ndarray:
    graph: Any = networkx.DiGraph()
    graph.add_nodes_from(range(len(restart)))
    graph.add_weighted_edges_from(zip(transposed.columns, transposed.rows, transposed.values, strict=True))
    start = dict(enumerate(restart))
    ranks = networkx.pagerank(graph, alpha=follow, personalization=start, dangling=start, tol=1e-12, max_iter=1000)
    return np.array([ranks[node] for node in range(len(restart))])


@settings(max_examples=150, deadline=None)
@given(walks(), follows, st.booleans())
def test_equals_networkx(walk: Any, follow: float, directed: bool) -> None:
    frequency, chain, restart = walk
    transposed = transition(frequency, chain, directed=directed)
    walked = pagerank(transposed, restart, follow=follow)
    assert walked == pytest.approx(by_networkx(transposed, restart, follow), abs=1e-6)
    assert walked.sum() == pytest.approx(1)


@settings(max_examples=200, deadline=None)
@given(walks(), st.sampled_from([0.0, 0.15, 0.5, 0.85, 0.97]))
def test_a_walk_without_its_matrix_equals_networkx(walk: Any, follow: float) -> None:
    frequency, chain, restart = walk
    walked = pagerank(Walk(frequency, chain), restart, follow=follow)
    assert walked == pytest.approx(by_networkx(transition(frequency, chain), restart, follow), abs=1e-6)
    assert walked.sum() == pytest.approx(1)


@settings(max_examples=100, deadline=None)
@given(walks(), follows)
def test_the_ways_by_cues_keep_to_their_bound(walk: Any, follow: float) -> None:
    frequency, chain, _ = walk
    undirected, size = Walk(frequency, chain), frequency.shape[0]
    ways = [undirected.along_chain(undirected.to_traces(undirected.to_cues(unit)), follow) for unit in np.eye(size)]
    eigenvalues = follow * follow * np.linalg.eigvals(np.array(ways).T)
    assert eigenvalues.imag == pytest.approx(np.zeros(size), abs=1e-9)
    assert eigenvalues.real.min() >= -1e-9
    assert eigenvalues.real.max() <= undirected.by_cues_at_most(follow) + 1e-9


@settings(max_examples=60, deadline=None)
@given(walks())
def test_without_following_it_is_the_restart(walk: Any) -> None:
    frequency, chain, restart = walk
    assert pagerank(transition(frequency, chain), restart, follow=0) == pytest.approx(restart / restart.sum())


@settings(max_examples=60, deadline=None)
@given(walks(), st.booleans())
def test_a_vertex_is_left_with_probability_one_or_never(walk: Any, directed: bool) -> None:
    frequency, chain, restart = walk
    transposed = transition(frequency, chain, directed=directed)
    out = np.bincount(transposed.columns, transposed.values, minlength=len(restart))
    assert np.all(np.isclose(out, 1) | (out == 0))
    assert (transposed.values > 0).all()


@settings(max_examples=80, deadline=None)
@given(walks(), follows, st.randoms(use_true_random=False))
def test_the_order_of_the_vertices_does_not_matter(walk: Any, follow: float, random: Any) -> None:
    frequency, chain, restart = walk
    traces, cues = frequency.shape
    to_trace, to_cue = np.array(random.sample(range(traces), traces)), np.array(random.sample(range(cues), cues), int)
    moved = Sparse.from_pairs(to_trace[frequency.rows], to_cue[frequency.columns], frequency.values, frequency.shape)
    place = np.concatenate((to_cue, to_trace + cues))
    moved_restart = np.empty_like(restart)
    moved_restart[place] = restart
    walked = pagerank(transition(frequency, chain), restart, follow=follow)
    assert pagerank(transition(moved, to_trace[chain]), moved_restart, follow=follow)[place] == pytest.approx(
        walked, abs=1e-9
    )
