from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.algo.fuse import fuse


def test_a_weighted_mean_by_hand() -> None:
    signals = {"a": np.array([1.0, 0.5]), "b": np.array([0.0, 1.0])}
    scores, contributions = fuse(signals, {"a": 3.0, "b": 1.0})
    assert scores.tolist() == [0.75, 0.625]
    assert contributions["a"].tolist() == [0.75, 0.375]
    assert contributions["b"].tolist() == [0, 0.25]


def test_a_signal_that_says_nothing_leaves_the_scale_alone() -> None:
    signals = {"a": np.array([1.0, 0.5]), "date": np.zeros(2)}
    scores, contributions = fuse(signals, {"a": 1.0, "date": 9.0})
    assert scores.tolist() == [1, 0.5]
    assert contributions.keys() == {"a"}


def test_a_signal_without_weight_is_left_out() -> None:
    signals = {"a": np.array([1.0]), "b": np.array([1.0]), "c": np.array([1.0])}
    assert fuse(signals, {"a": 1.0, "b": 0.0})[1].keys() == {"a"}


@pytest.mark.parametrize("n", [0, 3])
def test_without_any_signal_all_scores_are_zero(n: int) -> None:
    scores, contributions = fuse({"a": np.zeros(n)}, {"a": 1.0})
    assert scores.tolist() == [0.0] * n
    assert contributions == {}


values = st.lists(st.floats(0, 1), min_size=3, max_size=3).map(np.array)


@given(st.dictionaries(st.sampled_from("abcd"), values, min_size=1), st.lists(st.floats(0, 5), min_size=4, max_size=4))
def test_contributions_sum_to_the_scores_which_stay_within_one(
    signals: dict[str, np.ndarray], weights: list[float]
) -> None:
    scores, contributions = fuse(
        signals, {name: weight for name, weight in zip("abcd", weights, strict=True) if name in signals}
    )
    assert sum(contributions.values(), np.zeros(3)) == pytest.approx(scores)
    assert ((scores >= 0) & (scores <= 1 + 1e-12)).all()


@given(values, values, st.floats(0.1, 5), st.floats(1.1, 10))
def test_only_the_proportion_of_the_weights_matters(
    one: np.ndarray, other: np.ndarray, weight: float, factor: float
) -> None:
    signals = {"a": one, "b": other}
    plain, _ = fuse(signals, {"a": weight, "b": 1.0})
    scaled, _ = fuse(signals, {"a": weight * factor, "b": factor})
    assert plain == pytest.approx(scaled)
