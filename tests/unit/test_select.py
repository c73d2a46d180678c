from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.algo.select import best, within_budget

coarse = st.sampled_from([0.0, 0.5, 1.0])
"""Few values: many ties."""
candidates = st.lists(st.tuples(coarse, st.booleans(), coarse, st.integers(0, 2)), max_size=12)


@given(candidates, st.integers(0, 14))
def test_equals_a_full_sort(items: list[tuple[float, bool, float, int]], k: int) -> None:
    scores, allowed, first, second = (np.array([item[i] for item in items]) for i in range(4))
    chosen = best(scores, allowed.astype(bool), k, ties=[first, second])
    expected = sorted(
        (i for i, item in enumerate(items) if item[1]),
        key=lambda i: (-items[i][0], items[i][2], items[i][3], i),
    )
    assert chosen.tolist() == expected[:k]


def test_ties_are_broken_in_turn_and_at_last_by_position() -> None:
    scores, everyone = np.array([1.0, 2.0, 1.0, 1.0]), np.ones(4, np.bool_)
    assert best(scores, everyone, 4).tolist() == [1, 0, 2, 3]
    assert best(scores, everyone, 4, ties=[np.array([2, 0, 1, 1])]).tolist() == [1, 2, 3, 0]
    assert best(scores, everyone, 2, ties=[np.array([2, 0, 1, 1]), np.array([0, 0, 5, 4])]).tolist() == [1, 3]


def test_nobody_is_chosen_from_nobody() -> None:
    assert best(np.array([1.0, 2.0]), np.zeros(2, np.bool_), 5).tolist() == []
    assert best(np.zeros(0), np.zeros(0, np.bool_), 5).tolist() == []
    assert best(np.array([np.inf, 2.0]), np.ones(2, np.bool_), 0).tolist() == []


@pytest.mark.parametrize(
    ("sizes", "budget", "taken"),
    [
        ([3, 4, 2], 9, [0, 1, 2]),
        ([3, 4, 2], 5, [0, 2]),
        ([6, 4, 2], 5, [1]),
        ([6], 5, []),
        ([0, 0], 0, [0, 1]),
        ([1], -3, []),
        ([], 5, []),
    ],
)
def test_what_fits_a_budget(sizes: list[int], budget: int, taken: list[int]) -> None:
    assert within_budget(sizes, budget) == taken


@given(st.lists(st.integers(0, 20)), st.integers(0, 60))
def test_a_budget_is_kept_and_nothing_that_would_have_fitted_is_passed_over(sizes: list[int], budget: int) -> None:
    taken = within_budget(sizes, budget)
    assert sum(sizes[i] for i in taken) <= budget
    for i in set(range(len(sizes))) - set(taken):
        assert sum(sizes[j] for j in taken if j < i) + sizes[i] > budget
