"""Vectors as growing rows, each with its sign code beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mnemic.algo import signs
from mnemic.algo.arrays import Rows

if TYPE_CHECKING:
    from mnemic.algo.graph import Codes, Floats


_PIECE = 1 << 13
"""Rows that are encoded at once."""


class Vectors:
    """(n, dim) float32; a row of zeros stands for a vector that is missing."""

    def __init__(self, dim: int) -> None:
        self._dim = dim
        self._rows = Rows(np.float32, dim)
        self._codes = [Rows(np.uint64) for _ in range(signs.words(dim) if signs.SUPPORTED else 0)]

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def nbytes(self) -> int:
        """Bytes reserved."""
        return self._rows.nbytes + sum(code.nbytes for code in self._codes)

    @property
    def view(self) -> Floats:
        """(n, dim), not to be written to; valid until the next ``extend``."""
        return self._rows.view

    @property
    def codes(self) -> Codes:
        """(words) times (n,), as in ``algo.signs``; none where numpy is too old for them."""
        return tuple(code.view for code in self._codes)

    def extend(self, vectors: Floats) -> None:
        """Append rows (k, dim)."""
        self.extend_by([vectors])

    def extend_by(self, parts: Sequence[Floats]) -> None:
        """Append rows that come in any number of parts, at least one, (k, dim) each, with no copy of all beside."""
        rows = np.concatenate(parts, out=self._rows.grow(sum(map(len, parts))))
        for first in range(0, len(rows) if self._codes else 0, _PIECE):
            piece = signs.encode(rows[first : first + _PIECE])
            for code, word in zip(self._codes, piece, strict=True):
                code.extend(word)

    def put(self, first: int, vectors: Floats | None, count: int) -> None:
        """Replace ``count`` rows; by zeros where there are no vectors."""
        rows = np.zeros((count, self._dim), np.float32) if vectors is None else vectors
        self._rows.view[first : first + count] = rows
        if self._codes and count:
            for code, word in zip(self._codes, signs.encode(rows), strict=True):
                code.view[first : first + count] = word
