"""Dot products of many vectors, on one thread.

BLAS would hand them to its thread pool, which at the size of one user's memory costs several times the CPU time
and, on a busy machine, more wall time too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]

_PIECE = 128
"""Rows that are copied together at once."""


def dot(matrix: Floats, vector: Floats) -> Floats:
    """(n, dim) and (dim,) to (n,)."""
    return np.einsum("nd,d->n", matrix, vector, optimize=False)


def dot_rows(matrix: Floats, rows: NDArray[np.int64], vector: Floats) -> Floats:
    """(n, dim), k row numbers and (dim,) to (k,): in pieces that stay in the processor's cache."""
    products = np.empty(len(rows), matrix.dtype)
    piece = np.empty((min(_PIECE, len(rows)), matrix.shape[1]), matrix.dtype)
    for first in range(0, len(rows), _PIECE):
        chosen = rows[first : first + _PIECE]
        # Checked by nobody else: "clip" is the mode that needs no copy of its own.
        copied = np.take(matrix, chosen, axis=0, out=piece[: len(chosen)], mode="clip")
        products[first : first + _PIECE] = dot(copied, vector)
    return products


def dots(rows: Floats, columns: Floats) -> Floats:
    """(m, dim) and (n, dim) to (m, n)."""
    return np.einsum("md,nd->mn", rows, columns, optimize=False)


def direction(rows: Floats) -> Floats:
    """(n, dim) to (dim,): the mean as a unit vector, as of a turn's sentences; zeros where there is no direction."""
    mean: Floats = np.asarray(rows, np.float64).sum(axis=0)
    length = float(np.linalg.norm(mean))
    return (mean / length if length > 0 else mean).astype(np.float32)
