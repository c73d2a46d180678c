"""Do scores mean what they say? How far probabilities of being useful are from what turned out useful."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """Hits with like probabilities.

    Attributes:
        n: How many.
        said: Their mean probability.
        useful: The share of them that was useful.
    """

    n: int
    said: float
    useful: float


@dataclass(frozen=True, slots=True)
class Reliability:
    """How reliable the probabilities of some hits are.

    Attributes:
        n: How many hits.
        rate: The share of them that was useful: the base rate.
        ece: Expected calibration error over ten bins of equal width: the mean distance between what was said and what
            was so, weighted by hits (Naeini et al., AAAI 2015).
        brier: The mean squared distance of a hit's probability from 1 where it was useful, else from 0 (Brier 1950).
        brier_of_rate: The same of saying the base rate for every hit.
        bins: Those that have hits, from the least probable: the calibration curve.
    """

    n: int
    rate: float
    ece: float
    brier: float
    brier_of_rate: float
    bins: tuple[Bin, ...]


def reliability(said: Doubles, useful: Doubles) -> Reliability:
    """Measure it.

    Args:
        said: (n,) probabilities, in [0, 1]; at least one.
        useful: (n,) 1 for a hit that was useful, else 0.

    Raises:
        ValueError: There is no hit, or not as many of both.
    """
    if not len(said) or len(said) != len(useful):
        raise ValueError(f"reliability needs hits, and as many outcomes: {len(said)} and {len(useful)}")
    place = np.minimum((said * BINS).astype(np.int64), BINS - 1)
    counts = np.bincount(place, minlength=BINS)
    sums = [np.bincount(place, values, minlength=BINS) for values in (said, useful)]
    rate = float(useful.mean())
    return Reliability(
        n=len(said),
        rate=rate,
        ece=float(np.abs(sums[0] - sums[1]).sum() / len(said)),
        brier=float(np.mean((said - useful) ** 2)),
        brier_of_rate=rate * (1.0 - rate),
        bins=tuple(
            Bin(int(counts[k]), float(sums[0][k] / counts[k]), float(sums[1][k] / counts[k]))
            for k in range(BINS)
            if counts[k]
        ),
    )
