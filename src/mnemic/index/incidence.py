"""A sparse matrix that grows by whole rows at its end, with everything derived from it, without being remade."""

from __future__ import annotations

from typing import Any, Final, Self

import numpy as np

from mnemic.algo.arrays import Rows
from mnemic.algo.sparse import Block, Derived, Doubles, Ints, Run
from mnemic.index import state

_ROWS: Final = ("_starts", "_columns", "_values", "_row_sums", "_column_counts", "_column_shares")
_PROPORTION = 2
"""A piece of the entries by columns is merged into the one before it unless that is so many times larger: so there
are about as many pieces as the number of entries has binary digits, and each entry is moved as often."""


class Incidence:
    """Which column occurs how often in which row."""

    def __init__(self) -> None:
        # Narrow: products run through them in a fraction of the time. Counts of mentions are whole and small.
        self._starts = Rows(np.int32)
        self._starts.extend([0])
        self._columns = Rows(np.int32)
        self._values = Rows(np.float32)
        self._row_sums = Rows(np.float64)
        self._column_counts = Rows(np.int64)
        self._column_shares = Rows(np.float64)
        self._runs: list[Run] = []

    @property
    def height(self) -> int:
        """Rows."""
        return len(self._row_sums)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(getattr(self, name).nbytes for name in _ROWS) + sum(
            part.nbytes for run in self._runs for part in run
        )

    def append(self, rows: Ints, columns: Ints, values: Doubles, *, height: int, width: int) -> None:
        """Add rows, so that there are ``height`` of them and ``width`` columns.

        Args:
            rows: (k,) of new rows only, in any order.
            columns: (k,) below ``width``.
            values: (k,) > 0; those of equal places are added.
            height: New number of rows; rows without entries are empty.
            width: New number of columns, at least as many as before.
        """
        first = self.height
        rows, columns, values = _distinct(rows, columns, values, width)
        counts = np.bincount(rows - first, minlength=height - first)
        sums = np.bincount(rows - first, values, minlength=height - first)
        self._starts.extend(self._starts.view[-1] + np.cumsum(counts))
        self._columns.extend(columns)
        self._values.extend(values)
        self._row_sums.extend(sums)
        for grown in (self._column_counts, self._column_shares):
            grown.extend(np.zeros(width - len(grown)))
        np.add.at(self._column_counts.view, columns, 1)
        np.add.at(self._column_shares.view, columns, values / sums[rows - first])
        if len(rows):
            narrow: Any = (columns.astype(np.int32), rows.astype(np.int32), values.astype(np.float32))
            self._add_run(Run.of(*narrow))

    def block(self) -> Block:
        """The matrix as it is now; valid until the next ``append``."""
        derived = Derived(tuple(self._runs), self._column_counts.view, self._column_shares.view, self._row_sums.view)
        starts: Any = self._starts.view
        return Block(starts, self._columns.view, self._values.view, len(self._column_counts), derived)

    def state(self) -> state.State:
        """What ``restored`` takes."""
        joined = zip(*self._runs, strict=True) if self._runs else ([np.zeros(0)],) * len(Run._fields)
        runs = {f"run_{name}": np.concatenate(parts) for name, parts in zip(Run._fields, joined, strict=True)}
        sizes = np.array([len(run.columns) for run in self._runs], np.int64)
        return {**state.of_rows(self, _ROWS), **runs, "run_sizes": sizes}

    @classmethod
    def restored(cls, held: state.Held) -> Self:
        """A matrix as it was. Raises KeyError where a part is lacking."""
        incidence = cls()
        state.put_rows(incidence, _ROWS, held)
        columns, rows, values = (held[f"run_{name}"].view for name in Run._fields)
        start = 0
        for size in held["run_sizes"].view.tolist():
            piece = slice(start, start + size)
            incidence._runs.append(Run(columns[piece], rows[piece], values[piece]))
            start += size
        return incidence

    def _add_run(self, run: Run) -> None:
        while self._runs and len(self._runs[-1].columns) < _PROPORTION * len(run.columns):
            before = self._runs.pop()
            run = Run.of(
                np.concatenate((before.columns, run.columns)),
                np.concatenate((before.rows, run.rows)),
                np.concatenate((before.values, run.values)),
            )
        self._runs.append(run)


def _distinct(rows: Ints, columns: Ints, values: Doubles, width: int) -> tuple[Ints, Ints, Doubles]:
    """Entries by row and column, those of equal places added up."""
    places, where = np.unique(rows * max(width, 1) + columns, return_inverse=True)
    sums = np.asarray(np.bincount(where, values, minlength=len(places)), np.float64)
    return np.asarray(places // max(width, 1)), np.asarray(places % max(width, 1)), sums
