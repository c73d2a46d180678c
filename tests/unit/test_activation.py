from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from mnemic.algo.activation import anchors, bridge, expand, inverse_frequency, minmax, trace_weights
from mnemic.algo.sparse import Sparse


def matrix(*rows: list[float]) -> Sparse:
    table = np.array(rows, np.float64)
    row, column = np.nonzero(table)
    return Sparse.from_pairs(row, column, table[row, column], table.shape)


def activate(start: list[float], mentions: Sparse, relevance: list[float], vectors: Any = None, **more: Any) -> Any:
    options = {"tau_alias": 2.0, "tau_iter": 0.1, "rounds": 2} | more
    vectors = np.eye(len(start)) if vectors is None else np.array(vectors, np.float64)
    return expand(np.array(start), mentions, np.array(relevance), vectors, **options)


# phase 1 -------------------------------------------------------------------------------------------------


def test_anchors_are_the_cues_over_the_threshold_with_their_best_cosine() -> None:
    similarity = np.array([[0.9, 0.3, 0.4], [0.2, 0.39, 0.6]])
    assert anchors(similarity, tau=0.4).tolist() == [0.9, 0, 0.6]


def test_each_entity_has_its_own_cap() -> None:
    similarity = np.array([[0.9, 0.8, 0.7], [0.1, 0.5, 0.6]])
    assert anchors(similarity, tau=0.4, cap=1).tolist() == [0.9, 0, 0.6]
    assert anchors(similarity, tau=0.4, cap=2).tolist() == [0.9, 0.8, 0.6]
    assert anchors(similarity, tau=0.4, cap=None).tolist() == [0.9, 0.8, 0.7]


def test_cues_that_equal_the_last_of_the_cap_are_kept_whatever_their_order() -> None:
    assert anchors(np.array([[0.5, 0.9, 0.5, 0.4]]), tau=0.1, cap=2).tolist() == [0.5, 0.9, 0.5, 0]


def test_a_negative_threshold_makes_no_anchor_of_a_negative_cosine() -> None:
    assert anchors(np.array([[-0.2, 0.0, 0.3]]), tau=-1.0).tolist() == [0, 0, 0.3]


def test_a_cosine_of_rounded_vectors_makes_no_weight_above_one() -> None:
    assert anchors(np.array([[1.0004]]), tau=0.4).tolist() == [1.0]


@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (0, 0)])
def test_nothing_to_compare_makes_no_anchor(shape: tuple[int, int]) -> None:
    assert anchors(np.zeros(shape), tau=0.4).tolist() == [0.0] * shape[1]


# phase 2 -------------------------------------------------------------------------------------------------


def test_a_path_of_two_rounds_by_hand() -> None:
    # context 0 mentions cues 0 and 1, context 1 mentions 1 and 2
    active = activate([0.8, 0, 0], matrix([1, 1, 0], [0, 2, 1]), [0.5, 0.25])
    assert active.weight == pytest.approx([0.8, 0.8 * 0.5, 0.8 * 0.5 * 0.25])
    assert active.level.tolist() == [1, 2, 3]
    assert active.context.tolist() == [-1, 0, 1]
    assert active.parent.tolist() == [-1, 0, 1]
    assert active.alias.tolist() == [-1, 0, 1]


def test_of_several_paths_the_strongest_counts() -> None:
    # cue 2 is mentioned by context 0 with anchor 0 and by context 1 with anchor 1
    active = activate([0.9, 0.5, 0], matrix([1, 0, 1], [0, 1, 1]), [0.4, 0.9])
    assert active.weight[2] == pytest.approx(max(0.9 * 0.4, 0.5 * 0.9))
    assert (active.context[2], active.parent[2]) == (1, 1)


def test_of_several_cues_of_one_context_the_strongest_opens_it() -> None:
    active = activate([0.3, 0.9, 0], matrix([1, 1, 1]), [0.5])
    assert active.weight[2] == pytest.approx(0.45)
    assert active.parent[2] == 1


def test_an_anchor_is_not_reached_again() -> None:
    active = activate([0.3, 0.9], matrix([1, 1]), [1.0])
    assert active.weight.tolist() == [0.3, 0.9]
    assert active.level.tolist() == [1, 1]


def test_a_context_below_the_threshold_opens_nothing() -> None:
    assert activate([0.8, 0], matrix([1, 1]), [0.39], tau_iter=0.4).weight.tolist() == [0.8, 0]


def test_a_context_is_used_once_though_it_mentions_later_cues() -> None:
    # Context 0 opens cues 1 and 2 in round 1. In round 2 it would be a way from 1 to 2, both taken: nothing new.
    active = activate([0.8, 0, 0, 0], matrix([1, 1, 1, 0], [0, 1, 0, 1]), [0.5, 1.0], rounds=5)
    assert active.level.tolist() == [1, 2, 2, 3]
    assert active.weight == pytest.approx([0.8, 0.4, 0.4, 0.4])


def test_a_near_synonym_opens_its_contexts_and_is_reached_itself() -> None:
    # Cue 1 is a near-synonym (cosine .8) of the anchor 0; the only context mentions 1 and 2.
    vectors = [[1, 0, 0], [0.8, 0.6, 0], [0, 0, 1]]
    active = activate([0.9, 0, 0], matrix([0, 1, 1]), [0.5], vectors, tau_alias=0.75)
    assert active.weight == pytest.approx([0.9, 0.9 * 0.8 * 0.5, 0.9 * 0.8 * 0.5])
    assert active.level.tolist() == [1, 2, 2]
    assert active.parent.tolist() == [-1, 0, 0]
    assert active.alias.tolist() == [-1, 1, 1]
    assert activate([0.9, 0, 0], matrix([0, 1, 1]), [0.5], vectors, tau_alias=0.85).level.tolist() == [1, 0, 0]


def test_a_weak_anchor_carries_what_its_stronger_synonym_lends_it() -> None:
    vectors = [[1, 0, 0], [0.8, 0.6, 0], [0, 0, 1]]
    active = activate([0.9, 0.5, 0], matrix([0, 1, 1]), [0.5], vectors, tau_alias=0.75)
    assert active.weight == pytest.approx([0.9, 0.5, 0.9 * 0.8 * 0.5])
    assert (active.parent[2], active.alias[2]) == (0, 1)


@pytest.mark.parametrize("options", [{"rounds": 0}, {"tau_iter": 1.01}])
def test_without_expansion_only_the_anchors_are_active(options: dict[str, float]) -> None:
    active = activate([0.8, 0, 0], matrix([1, 1, 1]), [1.0], **options)
    assert active.weight.tolist() == [0.8, 0, 0]
    assert active.level.tolist() == [1, 0, 0]


def test_what_may_not_be_a_context_is_none_at_any_threshold() -> None:
    assert activate([0.8, 0], matrix([1, 1]), [-np.inf], tau_iter=-1.0).level.tolist() == [1, 0]


def test_without_anchors_nothing_is_active() -> None:
    active = activate([0, 0], matrix([1, 1]), [1.0], tau_alias=0.1)
    assert not active.weight.any()
    assert not active.level.any()


def test_an_empty_memory() -> None:
    empty = Sparse.from_pairs(*[np.zeros(0, int)] * 2, np.zeros(0), (0, 0))
    active = expand(np.zeros(0), empty, np.zeros(0), np.zeros((0, 4)), tau_alias=0.5, tau_iter=0.5, rounds=2)
    assert len(active.weight) == 0
    assert trace_weights(empty, active, np.zeros(0), alpha=2.0).tolist() == []


# phase 3 -------------------------------------------------------------------------------------------------


def test_trace_weights_by_hand() -> None:
    active = activate([0.8, 0], matrix([1, 1]), [0.5])  # levels 1 and 2, weights .8 and .4
    weights = trace_weights(matrix([2, 0], [1, 3], [0, 0]), active, np.array([0.1, 0.5, 0.3]), alpha=2.0)
    assert weights == pytest.approx(
        [
            2 * 0 + math.log(1 + 0.8 * math.log(3)),
            2 * 1 + math.log(1 + 0.8 * math.log(2) + 0.4 * math.log(4) / 2),
            2 * 0.5,
        ]
    )


def test_traces_that_take_no_part_weigh_nothing_and_set_no_scale() -> None:
    active = activate([0.8], matrix([1]), [0.5])
    weights = trace_weights(matrix([1], [1], [0], [0]), active, np.array([np.nan, 0.2, 0.4, 0.3]), alpha=1.0)
    assert weights == pytest.approx([0, math.log(1 + 0.8 * math.log(2)), 1, 0.5])


def test_a_constant_similarity_counts_as_one() -> None:
    active = activate([0], matrix([0]), [0.5])
    assert trace_weights(matrix([0], [0]), active, np.array([0.3, 0.3]), alpha=2.0).tolist() == [2, 2]


def test_what_cues_lend_by_hand() -> None:
    active = activate([0.8, 0], matrix([1, 1]), [0.5])
    assert bridge(matrix([1, 1]), active) == pytest.approx([0.8 * math.log(2) + 0.4 * math.log(2) / 2])


def test_minmax() -> None:
    assert minmax(np.array([-1.0, 0.0, 3.0])).tolist() == [0, 0.25, 1]
    assert minmax(np.array([])).tolist() == []
    assert minmax(np.array([-2.0])).tolist() == [1]


def test_rare_cues_lend_more_and_dead_traces_do_not_count() -> None:
    counts = matrix([1, 3, 0], [1, 0, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0])
    expected = [math.log(1 + (4 - n + 0.5) / (n + 0.5)) for n in (3, 1, 0)]
    assert inverse_frequency(counts, traces=4) == pytest.approx(expected)
