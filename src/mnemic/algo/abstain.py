"""When the best that was found is still nothing: off the topic, or said by somebody else than was asked about."""

from __future__ import annotations

import math

_CALIBRATED_AT = 1000
"""Sentences in the memories that embedders' relevance thresholds were calibrated on."""

_COVERED = 0.4
"""Share of the question's words, weighted by rarity, by which a document is relevant on its words alone."""

_OFFSET, _SLOPE = 0.9, 17.0
"""Of the speaker's logistic curve: fitted on LoCoMo's development half, docs/decisions/0004-sentences.md."""

_ANYBODY = 0.85
"""What the curve gives for the usual standing: for questions that name nobody."""

_SOMEBODY_ELSE = 0.25
"""Below this the answer is another speaker's; LoCoMo's development half: right 93 times in 100."""


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


def on_topic(cosine: float, coverage: float, least: float) -> float:
    """In [0, 1]; 1 exactly when something is about what the question is about.

    Args:
        cosine: The best of a sentence.
        coverage: In [0, 1]: of the question's words, by the best document.
        least: The cosine that is enough, from ``floor``.
    """
    if cosine >= least or coverage >= _COVERED:
        return 1.0
    return max(0.0, cosine / least, coverage / _COVERED)


def by_whom(standing: float | None) -> float:
    """In [0, 1]: that the answer is the named speaker's own.

    A question about one speaker's life that only the other's words answer has no answer in the memory.

    Args:
        standing: How much better the named speaker's words fit than all others'; None where none is named.
    """
    return _ANYBODY if standing is None else 1.0 / (1.0 + math.exp(-(_OFFSET + _SLOPE * standing)))


def nothing(topic: float, speaker: float) -> bool:
    """Whether the memory holds no answer, given ``on_topic`` and ``by_whom``."""
    return topic < 1.0 or speaker < _SOMEBODY_ELSE
