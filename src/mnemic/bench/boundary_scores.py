"""How well boundaries within a session agree with gold ones."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray


def f1(hits: float, predicted: float, gold: float) -> float:
    """Harmonic mean of precision ``hits / predicted`` and recall ``hits / gold``, 0 to 1; 1 where both are empty."""
    return 2 * hits / (predicted + gold) if predicted + gold else 1.0


def half_segment(n: int, gold: Collection[int]) -> int:
    """The k of ``window_diff``: half the mean length of the gold segments, rounded, at least 1 and below n."""
    return max(1, min(round(n / (len(gold) + 1) / 2), n - 1))


def window_diff(gold: Collection[int], predicted: Collection[int], n: int, k: int) -> float:
    """WindowDiff (Pevzner and Hearst, Computational Linguistics 28, 2002): how often windows hold unequal numbers.

    A boundary b lies before turn b. The window at i holds the boundaries between turn i and turn i + k, that is those
    from i + 1 to i + k; there are n - k such windows.

    Args:
        gold: Boundaries, each from 1 to n - 1.
        predicted: Likewise.
        n: Turns.
        k: From 1 to n - 1.

    Returns:
        0 to 1; 0 where every window holds as many of the one as of the other.

    Raises:
        ValueError: k or a boundary is out of range.
    """
    if not 1 <= k < n:
        raise ValueError(f"windows of {k} do not fit {n} turns")
    differing = _held(gold, n, k) != _held(predicted, n, k)
    return float(differing.mean())


def _held(boundaries: Collection[int], n: int, k: int) -> NDArray[np.int64]:
    places = np.array(sorted(set(boundaries)), np.int64)
    if len(places) and not 1 <= places[0] <= places[-1] < n:
        raise ValueError(f"boundaries lie from 1 to {n - 1}")
    starts = np.arange(n - k)
    return np.searchsorted(places, starts + k, side="right") - np.searchsorted(places, starts, side="right")
