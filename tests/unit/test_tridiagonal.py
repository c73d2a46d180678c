from __future__ import annotations

import numpy as np
import pytest

from mnemic.algo.tridiagonal import Tridiagonal


@pytest.mark.parametrize("size", [0, 1, 2, 3, 50])
def test_equals_a_dense_solution(size: int) -> None:
    random = np.random.default_rng(size)
    beside = random.uniform(-1, 1, max(size - 1, 0))
    diagonal = random.uniform(2, 3, size)
    right = random.standard_normal(size)
    dense = np.diag(diagonal) + np.diag(beside, -1)[:size, :size] + np.diag(beside, 1)[:size, :size]
    matrix = Tridiagonal(diagonal, beside)
    assert matrix.solve(right) == pytest.approx(np.linalg.solve(dense, right), abs=1e-12)
    assert matrix.solve(2 * right) == pytest.approx(2 * np.linalg.solve(dense, right), abs=1e-12)


def test_what_is_not_positive_definite_is_refused() -> None:
    with pytest.raises(ValueError, match="minor 2"):
        Tridiagonal(np.array([1.0, 1.0]), np.array([2.0]))
