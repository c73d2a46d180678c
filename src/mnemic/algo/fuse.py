"""Fusion: a weighted sum of signals, each on its own fixed scale."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
Doubles = NDArray[np.float64]


def fuse(signals: Mapping[str, Floats], weights: Mapping[str, float]) -> tuple[Doubles, dict[str, Doubles]]:
    """Add up n candidates' signals.

    A signal that is zero for every candidate (no date in the question, no vectors) does not apply: its weight is
    left out of the total, so that scores of different questions stay on one scale.

    Args:
        signals: name -> (n,) values, at most 1.
        weights: name -> weight >= 0; a signal without one is left out.

    Returns:
        scores (n,), at most 1; and name -> (n,) contributions, which sum to the scores.
    """
    used = {name: signals[name] for name, weight in weights.items() if weight > 0 and np.any(signals[name])}
    total = sum(weights[name] for name in used)
    contributions = {name: np.asarray(values, np.float64) * (weights[name] / total) for name, values in used.items()}
    n = len(next(iter(signals.values()), np.zeros(0)))
    return sum(contributions.values(), np.zeros(n)), contributions
