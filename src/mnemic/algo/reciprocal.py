"""Reciprocal rank fusion: Cormack, Clarke and Büttcher, Reciprocal rank fusion outperforms Condorcet (SIGIR 2009)."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

K: Final = 60
"""Of the paper, and of OpenSearch, which HiMem's authors use (methods.md 2.6)."""


def shares(order: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    """What one ranking adds to the score of each of n candidates; the sum over rankings is the fused score.

    Args:
        order: (k,) positions of the candidates that it lists, best first, each once.
        count: n.

    Returns:
        (n,) ``1 / (60 + rank)``, ranks from 1; 0 for what it does not list.
    """
    found = np.zeros(count)
    found[order] = 1.0 / (K + 1 + np.arange(len(order)))
    return found
