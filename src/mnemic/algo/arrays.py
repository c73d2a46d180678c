"""Growable arrays: appending rows costs amortised constant time, reading is a plain numpy view."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray


class Rows:
    """An array (n, ...) that grows at its end; capacity doubles, so n appends copy O(n) rows in all."""

    def __init__(self, dtype: type[np.generic], *shape: int) -> None:
        self._data: NDArray[Any] = np.empty((16, *shape), dtype)
        self._n = 0

    @classmethod
    def over(cls, data: NDArray[Any], count: int) -> Self:
        """Go on with an array (capacity, ...) of which the first ``count`` are rows: a mapped file, say."""
        rows = cls(data.dtype.type, *data.shape[1:])
        rows._data, rows._n = data, count
        return rows

    def __len__(self) -> int:
        return self._n

    @property
    def view(self) -> NDArray[Any]:
        """(n, ...), without a copy; valid until the next ``extend``. Writing into it writes here."""
        return self._data[: self._n]

    @property
    def nbytes(self) -> int:
        """Bytes reserved."""
        return self._data.nbytes

    def extend(self, rows: Any) -> None:  # noqa: ANN401 - whatever numpy takes as rows
        """Append rows (k, ...)."""
        rows = np.asarray(rows, self._data.dtype)
        self.grow(len(rows))[:] = rows.reshape(len(rows), *self._data.shape[1:])

    def grow(self, count: int) -> NDArray[Any]:
        """Append ``count`` rows and return them, (count, ...), for the caller to fill."""
        need = self._n + count
        if need > len(self._data):
            grown = np.empty((max(need, 2 * len(self._data)), *self._data.shape[1:]), self._data.dtype)
            grown[: self._n] = self._data[: self._n]
            self._data = grown
        first, self._n = self._n, need
        return self._data[first:need]
