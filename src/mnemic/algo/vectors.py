"""Dot products of many vectors, on one thread.

BLAS would hand them to its thread pool, which at the size of one user's memory costs several times the CPU time
and, on a busy machine, more wall time too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]


def dot(matrix: Floats, vector: Floats) -> Floats:
    """(n, dim) and (dim,) to (n,)."""
    return np.einsum("nd,d->n", matrix, vector, optimize=False)


def dots(rows: Floats, columns: Floats) -> Floats:
    """(m, dim) and (n, dim) to (m, n)."""
    return np.einsum("md,nd->mn", rows, columns, optimize=False)
