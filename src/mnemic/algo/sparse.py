"""A sparse matrix with types: the few operations retrieval needs, done by scipy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Doubles = NDArray[np.float64]


class Sparse:
    """An immutable matrix (rows, columns) of float64 in compressed sparse rows.

    Attributes:
        shape: (rows, columns).
        starts: (rows + 1,) where each row begins in ``columns`` and ``values``.
        columns: (nnz,) column numbers, ascending within a row.
        values: (nnz,).
    """

    def __init__(self, matrix: Any) -> None:  # noqa: ANN401 - scipy ships no types; nothing else sees this
        self._matrix = matrix
        self.shape: tuple[int, int] = matrix.shape
        self.starts: Ints = np.asarray(matrix.indptr, np.int64)
        self.columns: Ints = np.asarray(matrix.indices, np.int64)
        self.values: Doubles = matrix.data

    @classmethod
    def from_pairs(cls, rows: Ints, columns: Ints, values: Doubles, shape: tuple[int, int]) -> Sparse:
        """Build from coordinates (k,); values of equal coordinates are added."""
        from scipy.sparse import coo_array  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

        matrix: Any = coo_array((values, (rows, columns)), shape=shape).tocsr()  # pyright: ignore[reportUnknownMemberType]
        matrix.sum_duplicates()
        return cls(matrix)

    @property
    def rows(self) -> Ints:
        """(nnz,) row numbers, aligned with ``columns``."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.starts))

    def __matmul__(self, vector: NDArray[np.floating]) -> Doubles:
        """(columns,) to (rows,)."""
        return np.asarray(self._matrix @ vector, np.float64)

    def map(self, function: Callable[[Doubles], Doubles]) -> Sparse:
        """The same places with other values."""
        matrix = self._matrix.copy()
        matrix.data = function(matrix.data)
        return Sparse(matrix)

    def slice_rows(self, rows: Ints) -> tuple[Ints, Ints]:
        """The columns of some rows.

        Returns:
            counts (r,): entries in each of the rows; columns (counts.sum(),): theirs, concatenated.
        """
        starts = self.starts[rows]
        counts = self.starts[rows + 1] - starts
        offsets = np.cumsum(counts) - counts
        positions = np.arange(int(counts.sum())) - np.repeat(offsets - starts, counts)
        return counts, self.columns[positions]
