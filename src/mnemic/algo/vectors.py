"""Dot products of many vectors, float32 or float16, on one thread.

float16 is widened piece by piece, exactly, so that the products are those of the same vectors in float32. BLAS would
hand them to its thread pool, which at the size of one user's memory costs several times the CPU time and, on a busy
machine, more wall time too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]

_PIECE = 256
"""Rows that are copied together at once."""


_SIGN_AND_MAGNITUDE = np.int32(-0x70002000)
"""The bits 0x8fffe000: those of a float16 where float32 has its sign and the lower end of its other bits."""
_SCALE = np.float32(2.0**112)
"""float32's exponents begin so much lower than float16's."""


def dot(matrix: Floats, vector: Floats) -> Floats:
    """(n, dim) and (dim,) to (n,) float32."""
    if matrix.dtype != np.float16:
        return np.einsum("nd,d->n", matrix, vector, optimize=False)
    products = np.empty(len(matrix), np.float32)
    wide = _Wide(len(matrix), matrix.shape[1])
    for first in range(0, len(matrix), _PIECE):
        piece = matrix[first : first + _PIECE]
        np.einsum("nd,d->n", wide.of(piece), vector, optimize=False, out=products[first : first + _PIECE])
    return products


def dot_rows(matrix: Floats, rows: NDArray[np.int64], vector: Floats) -> Floats:
    """(n, dim), k row numbers and (dim,) to (k,): in pieces that stay in the processor's cache."""
    is_narrow = matrix.dtype == np.float16
    products = np.empty(len(rows), np.float32 if is_narrow else matrix.dtype)
    piece = np.empty((min(_PIECE, len(rows)), matrix.shape[1]), matrix.dtype)
    wide = _Wide(len(rows) if is_narrow else 0, matrix.shape[1])
    for first in range(0, len(rows), _PIECE):
        chosen = rows[first : first + _PIECE]
        # Checked by nobody else: "clip" is the mode that needs no copy of its own.
        copied: Floats = np.take(matrix, chosen, axis=0, out=piece[: len(chosen)], mode="clip")
        copied = wide.of(copied) if is_narrow else copied
        np.einsum("nd,d->n", copied, vector, optimize=False, out=products[first : first + _PIECE])
    return products


def widen(matrix: Floats) -> Floats:
    """(n, dim) float16 as float32, exactly; of another type as it is."""
    if matrix.dtype != np.float16:
        return matrix
    wide = np.empty(matrix.shape, np.float32)
    held = _Wide(len(matrix), matrix.shape[1])
    for first in range(0, len(matrix), _PIECE):
        wide[first : first + _PIECE] = held.of(matrix[first : first + _PIECE])
    return wide


class _Wide:
    """Room for a piece of float16 rows in float32.

    By shifts, for numpy converts one number at a time, three times as slowly. Every finite number comes out exactly:
    the bits of a float16, moved to where float32 has them, are that number times 2^-112.
    """

    def __init__(self, rows: int, dim: int) -> None:
        self._bits = np.empty((min(_PIECE, rows), dim), np.int32)
        self._wide = np.empty_like(self._bits, np.float32)

    def of(self, piece: Floats) -> NDArray[np.float32]:
        """(k, dim) float16, k at most ``_PIECE``; valid until the next call."""
        bits = self._bits[: len(piece)]
        np.copyto(bits, piece.view(np.int16))  # the sign goes all the way up, and the mask leaves its last bit
        np.left_shift(bits, 13, out=bits)
        np.bitwise_and(bits, _SIGN_AND_MAGNITUDE, out=bits)
        return np.multiply(bits.view(np.float32), _SCALE, out=self._wide[: len(piece)])


def dots(rows: Floats, columns: Floats) -> Floats:
    """(m, dim) and (n, dim) to (m, n)."""
    return np.einsum("md,nd->mn", widen(rows), widen(columns), optimize=False)


def direction(rows: Floats) -> Floats:
    """(n, dim) to (dim,): the mean as a unit vector, as of a turn's sentences; zeros where there is no direction."""
    mean: Floats = np.asarray(rows, np.float64).sum(axis=0)
    length = float(np.linalg.norm(mean))
    return (mean / length if length > 0 else mean).astype(np.float32)
