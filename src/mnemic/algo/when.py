"""The date signal: how near something lies to the times a question names, and when what has no date was said."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
_DAY = 86_400.0


def proximity(
    start: Doubles, end: Doubles, asked: Sequence[tuple[float, float, float]], *, scale_days: float
) -> Doubles:
    """Nearness of n intervals to the nearest of the intervals asked for.

    Args:
        start: (n,) seconds since the epoch; -inf where open, NaN where the time is unknown.
        end: (n,) seconds; inf where open. A point has start == end.
        asked: (start, end, weight) of each interval in the question; weight in [0, 1].
        scale_days: The gap in days, > 0, at which nearness has fallen to a half.

    Returns:
        (n,) in [0, 1]: weight / (1 + gap / scale), the largest over ``asked``; 0 where unknown or nothing is asked.
    """
    near = np.zeros(len(start))
    for low, high, weight in asked:
        gap = np.maximum(0.0, np.maximum(low - end, start - high)) / _DAY
        # fmax passes over NaN: an unknown time is near nothing.
        near = np.fmax(near, weight / (1.0 + gap / scale_days))
    return near


def between(times: Doubles) -> tuple[Doubles, Doubles]:
    """When each of n turns of one session was said, those without a date by the dated ones around them.

    Args:
        times: (n,) seconds since the epoch in the order of the dialogue; NaN where unknown.

    Returns:
        (n,) the earliest and (n,) the latest moment: both the turn's own where it has one, else the times of the
        nearest dated turns before and after it, the earlier of the two first, as an imported dialogue may be out of
        order. With dated turns on one side only it is their nearest; with none it is NaN.
    """
    known = ~np.isnan(times)
    if not known.any():
        return times, times
    places = np.arange(len(times))
    before = np.maximum.accumulate(np.where(known, places, -1))
    after = np.minimum.accumulate(np.where(known, places, len(times))[::-1])[::-1]
    before, after = np.where(before < 0, after, before), np.where(after == len(times), before, after)
    return np.minimum(times[before], times[after]), np.maximum(times[before], times[after])
