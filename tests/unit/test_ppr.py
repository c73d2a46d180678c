from __future__ import annotations

import numpy as np
import pytest

from mnemic.algo.ppr import pagerank, transition
from mnemic.algo.sparse import Sparse


def frequencies(*rows: list[float]) -> Sparse:
    counts = np.array(rows, np.float64)
    trace, cue = np.nonzero(counts)
    return Sparse.from_pairs(trace, cue, counts[trace, cue], counts.shape)


def dense(matrix: Sparse) -> np.ndarray:
    full = np.zeros(matrix.shape)
    full[matrix.rows, matrix.columns] = matrix.values
    return full


def steps(frequency: Sparse, chain: list[int], *, directed: bool = False) -> np.ndarray:
    """P itself."""
    return dense(transition(frequency, np.array(chain, np.int64), directed=directed)).T


# Two cues, three traces: trace 0 mentions cue 0 twice and cue 1 once, trace 1 mentions cue 1, trace 2 nothing.
EXAMPLE = frequencies([2, 1], [0, 1], [0, 0])


def test_steps_by_hand() -> None:
    # A: cue 0 - trace 0: 2/3. cue 1 - trace 0: 1/3, trace 1: 1. trace 0 - trace 1 - trace 2: 1 each.
    expected = [
        [0, 0, 1, 0, 0],
        [0, 0, 1 / 4, 3 / 4, 0],
        [2 / 6, 1 / 6, 0, 3 / 6, 0],
        [0, 1 / 3, 1 / 3, 0, 1 / 3],
        [0, 0, 0, 1, 0],
    ]
    assert steps(EXAMPLE, [0, 1, 2]) == pytest.approx(np.array(expected))


def test_directed_steps_by_hand() -> None:
    expected = [
        [0, 0, 1, 0, 0],
        [0, 0, 1 / 4, 3 / 4, 0],
        [0, 0, 0, 1, 0],
        [0, 0, 0, 0, 1],
        [0, 0, 0, 0, 0],
    ]
    assert steps(EXAMPLE, [0, 1, 2], directed=True) == pytest.approx(np.array(expected))


def test_the_chain_joins_neighbours_in_its_own_order_and_skips_what_is_not_in_it() -> None:
    assert steps(frequencies([0], [0], [0]), [2, 0]) == pytest.approx(
        np.array([[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0], [0, 1, 0, 0]])
    )


def test_two_steps_of_the_walk_by_hand() -> None:
    # One cue, one trace, all mass restarting at the cue: a(cue) = (1-d) + d a(trace), a(trace) = d a(cue).
    walked = pagerank(transition(frequencies([1]), np.array([0])), np.array([3.0, 0.0]), follow=0.5)
    assert walked == pytest.approx([2 / 3, 1 / 3], abs=1e-7)


@pytest.mark.parametrize("follow", [0.0, 0.5, 0.85])
def test_without_edges_all_mass_returns_to_the_restart(follow: float) -> None:
    still = transition(frequencies([0, 0]), np.array([0]))
    assert pagerank(still, np.array([1.0, 3.0, 4.0]), follow=follow) == pytest.approx([0.125, 0.375, 0.5])


def test_one_vertex() -> None:
    assert pagerank(transition(Sparse.from_pairs(*[np.zeros(0, int)] * 2, np.zeros(0), (1, 0)), np.array([0])),
                    np.array([0.2]), follow=0.5) == pytest.approx([1.0])  # fmt: skip


@pytest.mark.parametrize("restart", [[0.0, 0.0], [np.nan, 1.0]])
def test_a_restart_without_mass_is_refused(restart: list[float]) -> None:
    with pytest.raises(ValueError, match="mass"):
        pagerank(transition(frequencies([1]), np.array([0])), np.array(restart), follow=0.5)


@pytest.mark.parametrize("follow", [-0.1, 1.0, 2.0])
def test_a_probability_out_of_range_is_refused(follow: float) -> None:
    with pytest.raises(ValueError, match="follow"):
        pagerank(transition(frequencies([1]), np.array([0])), np.array([1.0, 1.0]), follow=follow)


def test_the_restart_vector_is_not_changed() -> None:
    restart = np.array([2.0, 2.0])
    pagerank(transition(frequencies([1]), np.array([0])), restart, follow=0.5)
    assert restart.tolist() == [2.0, 2.0]
