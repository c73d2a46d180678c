"""Vectors as growing rows, each with its sign code beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np

from mnemic.algo import signs
from mnemic.algo.arrays import Rows
from mnemic.algo.vectors import widen

if TYPE_CHECKING:
    from mnemic.algo.graph import Codes, Floats, Mask
    from mnemic.index.state import Held, State


_PIECE = 1 << 13
"""Rows that are encoded at once."""


_SOME = 1 << 10
"""Fewer rows are widened for each search as fast."""


class Vectors:
    """(n, dim) float16, as the rows of the store have them; a row of zeros stands for a vector that is missing.

    Args:
        dim: Length of a vector.
        wide: Up to so many rows there is a copy in float32, which is compared with a question in a third of the time;
            of rows that are seldom compared as a whole, or too many for that, there is none.
    """

    def __init__(self, dim: int, *, wide: int = 0) -> None:
        self._dim = dim
        self._most_wide = wide
        self._rows = Rows(np.float16, dim)
        self._wide = Rows(np.float32, dim)
        self._blank = Rows(np.bool_)
        self._codes = [Rows(np.uint64) for _ in range(signs.words(dim) if signs.SUPPORTED else 0)]

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def nbytes(self) -> int:
        """Bytes reserved."""
        return self._rows.nbytes + self._wide.nbytes + self._blank.nbytes + sum(code.nbytes for code in self._codes)

    @property
    def view(self) -> Floats:
        """(n, dim) float16 or float32, not to be written to; valid until the next ``extend``."""
        if not _SOME <= len(self) <= self._most_wide:
            return self._rows.view
        for first in range(len(self._wide), len(self), _PIECE):
            self._wide.extend(widen(self._rows.view[first : first + _PIECE]))
        return self._wide.view

    @property
    def blank(self) -> Mask:
        """(n,) where a vector is missing."""
        return self._blank.view

    @property
    def codes(self) -> Codes:
        """(words) times (n,), as in ``algo.signs``; none where numpy is too old for them."""
        return tuple(code.view for code in self._codes)

    def extend(self, vectors: Floats) -> None:
        """Append rows (k, dim)."""
        self.extend_by([vectors])

    def extend_by(self, parts: Sequence[Floats]) -> None:
        """Append rows that come in any number of parts, at least one, (k, dim) each, with no copy of all beside."""
        rows = np.concatenate(parts, out=self._rows.grow(sum(map(len, parts))), casting="same_kind")
        if len(self) > self._most_wide:
            self._wide = Rows(np.float32, self._dim)
        for first in range(0, len(rows), _PIECE):
            piece = rows[first : first + _PIECE]
            self._blank.extend(~piece.any(axis=1))
            if self._codes:
                for code, word in zip(self._codes, signs.encode(piece), strict=True):
                    code.extend(word)

    def put(self, first: int, vectors: Floats | None, count: int) -> None:
        """Replace ``count`` rows; by zeros where there are no vectors."""
        rows = np.zeros((count, self._dim), np.float16) if vectors is None else vectors.astype(np.float16)
        self._rows.view[first : first + count] = rows
        self._wide.view[first : first + count] = rows[: max(len(self._wide) - first, 0)]
        self._blank.view[first : first + count] = ~rows.any(axis=1)
        if self._codes and count:
            for code, word in zip(self._codes, signs.encode(rows), strict=True):
                code.view[first : first + count] = word

    def state(self) -> State:
        """What ``restored`` takes."""
        words = {f"code{number}": code.view for number, code in enumerate(self._codes)}
        return {"rows": self._rows.view, "blank": self._blank.view, **words}

    @classmethod
    def restored(cls, dim: int, held: Held, *, wide: int = 0) -> Self:
        """Vectors as they were. Raises KeyError where a part is lacking."""
        vectors = cls(dim, wide=wide)
        vectors._rows, vectors._blank = held["rows"], held["blank"]
        vectors._codes = [held[f"code{number}"] for number in range(len(vectors._codes))]
        return vectors
