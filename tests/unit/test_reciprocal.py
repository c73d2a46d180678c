"""Reciprocal rank fusion, by arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from mnemic.algo.reciprocal import shares


def test_shares_are_reciprocal_ranks_and_what_is_not_listed_gets_nothing() -> None:
    assert shares(np.array([2, 0]), 4) == pytest.approx([1 / 62, 0, 1 / 61, 0])
    assert shares(np.array([], np.int64), 2).tolist() == [0, 0]


def test_the_sum_of_two_rankings_prefers_what_both_list() -> None:
    fused = shares(np.array([0, 1]), 3) + shares(np.array([1, 2]), 3)
    assert fused == pytest.approx([1 / 61, 1 / 62 + 1 / 61, 1 / 62])
    assert fused.argmax() == 1
