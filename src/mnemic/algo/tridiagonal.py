"""Systems of linear equations in which each unknown meets only its two neighbours, by LAPACK."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]

_PADDING = 2
"""LAPACK's wrapper takes no fewer unknowns; so many more, which nothing meets, harm nobody."""


class Tridiagonal:
    """A symmetric positive definite matrix M, factored once (L D L transposed), to solve with in linear time.

    Args:
        diagonal: (n,) M[i, i].
        beside: (max(n - 1, 0),) M[i + 1, i] = M[i, i + 1].

    Raises:
        ValueError: M is not positive definite.
    """

    def __init__(self, diagonal: Doubles, beside: Doubles) -> None:
        from scipy.linalg import lapack  # pyright: ignore[reportMissingTypeStubs]

        made: Any = lapack
        self._size = len(diagonal)
        *self._factors, info = made.dpttrf(
            np.concatenate((diagonal, np.ones(_PADDING))),
            np.concatenate((beside, np.zeros(self._size + _PADDING - 1 - len(beside)))),
        )
        if info:
            raise ValueError(f"the matrix is not positive definite: its leading minor {info} is not")
        self._solve = made.dpttrs

    def solve(self, right: Doubles) -> Doubles:
        """(n,) to (n,): x with M x = right."""
        return self._solve(*self._factors, np.concatenate((right, np.zeros(_PADDING))))[0][: self._size]
