"""A sparse matrix with types: the few operations retrieval needs, by rows and by columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Doubles = NDArray[np.float64]


class Run(NamedTuple):
    """Entries in ascending order of columns: (k,) each."""

    columns: Ints
    rows: Ints
    values: Doubles

    @classmethod
    def of(cls, columns: Ints, rows: Ints, values: Doubles) -> Run:
        """Put entries in order; those of one column keep theirs."""
        order = np.argsort(columns, kind="stable")
        return cls(columns[order], rows[order], values[order])


class Derived(NamedTuple):
    """What follows from a block's entries.

    Attributes:
        runs: The entries by columns, in any number of pieces.
        column_counts: (c,) entries in each column.
        column_shares: (c,) the sum over a column's entries of the part of its row's sum that each is.
        row_sums: (rows,).
    """

    runs: tuple[Run, ...]
    column_counts: Ints
    column_shares: Doubles
    row_sums: Doubles


class Block:
    """Consecutive rows in compressed sparse rows.

    Args:
        starts: (rows + 1,) where each row begins in ``columns`` and ``values``.
        columns: (nnz,) column numbers, ascending within a row.
        values: (nnz,).
        width: c, the number of columns.
        derived: Where somebody keeps it up to date; else each part is made when asked for.
    """

    def __init__(
        self, starts: Ints, columns: Ints, values: Doubles, width: int, derived: Derived | None = None
    ) -> None:
        self.starts, self.columns, self.values, self.width = starts, columns, values, width
        self.height = len(starts) - 1
        self._derived = derived

    @cached_property
    def rows(self) -> Ints:
        """(nnz,) row numbers, counted from the block's first."""
        return np.repeat(np.arange(self.height), np.diff(self.starts))

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """As in ``Derived``; so the following."""
        return self._derived.runs if self._derived else (Run.of(self.columns, self.rows, self.values),)

    @cached_property
    def column_counts(self) -> Ints:
        """(c,)."""
        return self._derived.column_counts if self._derived else np.bincount(self.columns, minlength=self.width)

    @cached_property
    def column_shares(self) -> Doubles:
        """(c,)."""
        if self._derived:
            return self._derived.column_shares
        shares = np.bincount(self.columns, self.values / self.row_sums[self.rows], minlength=self.width)
        return np.asarray(shares, np.float64)

    @cached_property
    def row_sums(self) -> Doubles:
        """(rows,)."""
        if self._derived:
            return self._derived.row_sums
        return np.asarray(np.bincount(self.rows, self.values, minlength=self.height), np.float64)


class Sparse:
    """An immutable matrix (rows, columns) of float64.

    Attributes:
        shape: (rows, columns).
        blocks: Its rows, piece by piece from the top.
    """

    def __init__(self, blocks: Sequence[Block]) -> None:
        self.blocks = tuple(blocks)
        self.shape: tuple[int, int] = sum(block.height for block in blocks), blocks[0].width
        self._tops = np.cumsum([0, *(block.height for block in blocks)])
        self._of_kind: dict[np.dtype[Any], tuple[Any, Any]] = {}

    @classmethod
    def from_pairs(cls, rows: Ints, columns: Ints, values: Doubles, shape: tuple[int, int]) -> Sparse:
        """Build from coordinates (k,); values of equal coordinates are added."""
        from scipy.sparse import coo_array  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

        matrix: Any = coo_array((values, (rows, columns)), shape=shape).tocsr()  # pyright: ignore[reportUnknownMemberType]
        matrix.sum_duplicates()
        starts, columns = np.asarray(matrix.indptr, np.int64), np.asarray(matrix.indices, np.int64)
        return cls((Block(starts, columns, np.asarray(matrix.data, np.float64), shape[1]),))

    @cached_property
    def starts(self) -> Ints:
        """(rows + 1,) where each row begins in ``columns`` and ``values``."""
        offsets = np.cumsum([0, *(len(block.columns) for block in self.blocks)])
        tails = [block.starts[1:] + offset for block, offset in zip(self.blocks, offsets, strict=False)]
        return self.blocks[0].starts if len(self.blocks) == 1 else np.concatenate(([0], *tails))

    @cached_property
    def columns(self) -> Ints:
        """(nnz,) column numbers, ascending within a row."""
        return _joined([block.columns for block in self.blocks])

    @cached_property
    def values(self) -> Doubles:
        """(nnz,)."""
        return _joined([block.values for block in self.blocks])

    @cached_property
    def rows(self) -> Ints:
        """(nnz,) row numbers, aligned with ``columns``."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.starts))

    @cached_property
    def column_counts(self) -> Ints:
        """(columns,) entries in each column."""
        counts = [block.column_counts for block in self.blocks]
        return counts[0] if len(counts) == 1 else np.sum(counts, axis=0)

    @cached_property
    def column_shares(self) -> Doubles:
        """(columns,) the sum over a column's entries of what part of its row's sum each is."""
        shares = [block.column_shares for block in self.blocks]
        return shares[0] if len(shares) == 1 else np.sum(shares, axis=0)

    @cached_property
    def row_sums(self) -> Doubles:
        """(rows,)."""
        return _joined([block.row_sums for block in self.blocks])

    def _scipy(self, kind: np.dtype[Any]) -> tuple[Any, Any]:  # scipy ships no types; nothing else sees this
        """The same with values of some kind, and its transpose, which shares them."""
        from scipy.sparse import csr_array  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

        if kind not in self._of_kind:
            values = self.values.astype(kind, copy=False)
            matrix: Any = csr_array((values, self.columns, self.starts), shape=self.shape)
            self._of_kind[kind] = matrix, matrix.T
        return self._of_kind[kind]

    def __matmul__(self, vector: NDArray[np.floating]) -> Doubles:
        """(columns,) to (rows,)."""
        return self.product(np.asarray(vector, np.float64))

    def product(self, vector: NDArray[np.floating]) -> NDArray[Any]:
        """(columns,) to (rows,), in the precision of the vector."""
        return self._scipy(vector.dtype)[0] @ vector

    def transposed_product(self, vector: NDArray[np.floating]) -> NDArray[Any]:
        """(rows,) to (columns,), in the precision of the vector."""
        return self._scipy(vector.dtype)[1] @ vector

    def map(self, function: Callable[[Doubles], Doubles]) -> Sparse:
        """The same places with other values."""
        return Sparse([Block(b.starts, b.columns, function(b.values.astype(np.float64)), b.width) for b in self.blocks])

    def slice_rows(self, rows: Ints) -> tuple[Ints, Ints]:
        """The columns of some rows.

        Args:
            rows: (r,) in any order; ascending where there are several blocks.

        Returns:
            counts (r,): entries in each of the rows; columns (counts.sum(),): theirs, concatenated.
        """
        counts, columns, _ = self.row_entries(rows)
        return counts, columns

    def row_entries(self, rows: Ints) -> tuple[Ints, Ints, Doubles]:
        """The same with the values behind."""
        if len(self.blocks) == 1:
            return _slice(self.blocks[0], rows)
        edges = np.searchsorted(rows, self._tops)
        parts = [
            _slice(block, rows[first:stop] - top)
            for block, top, first, stop in zip(self.blocks, self._tops, edges, edges[1:], strict=False)
        ]
        counts, columns, values = (_joined(kind) for kind in zip(*parts, strict=True))
        return counts, columns, values

    def column_entries(self, columns: Ints) -> tuple[Ints, Ints, Doubles]:
        """The entries of some columns.

        Args:
            columns: (k,) in any order.

        Returns:
            (entries,) each, in no particular order: position in ``columns``, row, value.
        """
        nothing = np.zeros(0, np.int64)
        found: list[tuple[Ints, Ints, Doubles]] = [(nothing, nothing, np.zeros(0))]
        for block, top in zip(self.blocks, self._tops, strict=False):
            for run in block.runs:
                wanted = columns.astype(run.columns.dtype, copy=False)  # else all of the run's are converted
                first = np.searchsorted(run.columns, wanted, "left")
                counts = np.searchsorted(run.columns, wanted, "right") - first
                places = _ranges(first, counts)
                found.append((np.repeat(np.arange(len(columns)), counts), run.rows[places] + top, run.values[places]))
        position, rows, values = (_joined(kind) for kind in zip(*found, strict=True))
        return position, rows, values

    def rows_with(self, columns: Ints) -> NDArray[np.bool_]:
        """(rows,) which rows have an entry in any of the columns (k,)."""
        has = np.zeros(self.shape[0], np.bool_)
        has[self.column_entries(columns)[1]] = True
        return has


def _joined(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Concatenated; a single one is not copied."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _slice(block: Block, rows: Ints) -> tuple[Ints, Ints, Doubles]:
    first = block.starts[rows]
    counts = block.starts[rows + 1] - first
    places = _ranges(first, counts)
    return counts, block.columns[places], block.values[places]


def _ranges(first: Ints, counts: Ints) -> Ints:
    """``first[i], first[i] + 1, …``, ``counts[i]`` of them, one range after the other."""
    offsets = np.cumsum(counts) - counts
    return np.arange(int(counts.sum())) + np.repeat(first - offsets, counts)
