"""When the best that was found is still nothing."""

from __future__ import annotations

import math

_CALIBRATED_AT = 1000
"""Sentences in the memories that embedders' relevance thresholds were calibrated on."""


def floor(relevance: float, units: int) -> float:
    """The cosine that the best of n sentences must reach to be relevant.

    The largest of n unrelated cosines grows like sqrt(ln n): what is a coincidence among a thousand sentences is
    none among three.

    Args:
        relevance: The embedder's threshold, for a memory of 1,000 sentences.
        units: n >= 0.

    Returns:
        ``relevance * sqrt(ln(1 + n) / ln(1001))``, at most ``relevance``.
    """
    return relevance * min(1.0, math.sqrt(math.log1p(units) / math.log1p(_CALIBRATED_AT)))
