"""Thresholds of an embedder by quantile: HERO's values belong to its own embedder (methods.md 1.7 and A10).

Cosines of unrelated phrases lie near .1 for one model and near .8 for another, so a threshold carries over only as
*how much passes it*. The targets are the specification's; ``docs/decisions/0002-embedded-embedder.md`` shows them on
LoCoMo.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from mnemic.types import Thresholds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Mask = NDArray[np.bool_]

_ANCHORS: Final = 8.0  # cues in a question's S_0, on average; the specification asks for 5 to 10
_ANCHOR_SHARE: Final = 0.1  # of all cues at most, for memories of few
_ALIASES: Final = 0.35  # near-synonyms of a cue, on average: what HERO's .8 lets pass with MiniLM
_PASSING: Final = 0.15  # of a question's candidate contexts, on average; the specification asks for .05 to .15
_IRRELEVANT: Final = 0.02  # of answerable questions, taken for irrelevant


def calibrate(
    questions: Floats, entities: Sequence[Floats], cues: Floats, contexts: Floats, mentions: Sequence[Sequence[int]]
) -> Thresholds:
    """Choose the four thresholds so that fixed shares of a sample pass them.

    Without real questions, sentences of the memory will do, embedded as queries: leave them out of ``contexts``, and
    take their cues as their entities. The work grows with q * (c + n) + c * (c + n); samples of 2,000 are plenty.

    Args:
        questions: (q, d) unit vectors.
        entities: For each question the (e, d) unit vectors of its entities; e may be 0, but not for all.
        cues: (c, d) unit vectors of the memory's cues, c >= 2.
        contexts: (n, d) unit vectors of its units and notes, n >= 1.
        mentions: For each context the indices of the cues that it mentions.

    Returns:
        Thresholds in [-1, 1]. Over the questions that have entities, ``tau_init`` lets 8 cues pass on average (a
        tenth of the cues, if that is fewer) and ``tau_iter`` 15 % of the contexts that mention one of them or a
        near-synonym of one; ``tau_alias`` lets .35 near-synonyms of a cue pass; 98 % of the questions have a
        context above ``relevance``.

    Raises:
        ValueError: The arguments do not belong together, or there are too few.
    """
    if len(entities) != len(questions) or len(mentions) != len(contexts):
        raise ValueError("every question needs its entities, and every context its mentions")
    asking = [i for i, own in enumerate(entities) if len(own)]
    if not asking or len(cues) < 2 or not len(contexts):
        raise ValueError("calibration needs a question with an entity, two cues and a context")
    match = np.stack([(entities[i] @ cues.T).max(axis=0) for i in asking])
    synonymy = cues @ cues.T
    itself = np.eye(len(cues), dtype=bool)
    similarity = questions @ contexts.T

    tau_init = _passed_by(match, min(_ANCHORS / len(cues), _ANCHOR_SHARE))
    tau_alias = _passed_by(synonymy[~itself], min(_ALIASES / (len(cues) - 1), 1.0))
    frontier = _reach(match >= tau_init, (synonymy >= tau_alias) | itself)
    candidates = _reach(frontier, _incidence(mentions, len(cues)).T)
    return Thresholds(
        tau_init=tau_init,
        tau_alias=tau_alias,
        tau_iter=_passed_on_average(similarity[asking], candidates),
        relevance=float(np.quantile(similarity.max(axis=1), _IRRELEVANT)),
    )


def _passed_by(values: Floats, share: float) -> float:
    """The threshold that this share of the values passes."""
    return float(np.quantile(values, 1.0 - share))


def _passed_on_average(values: Floats, candidates: Mask) -> float:
    """The threshold that ``_PASSING`` of the candidates of a row passes, averaged over the rows that have any."""
    rows, columns = np.nonzero(candidates)
    if not len(rows):
        return _passed_by(values, _PASSING)
    found = values[rows, columns]
    weights = 1.0 / candidates.sum(axis=1)[rows]
    best_first = np.argsort(-found, kind="stable")
    passed = np.cumsum(weights[best_first])
    return float(found[best_first[np.searchsorted(passed, _PASSING * passed[-1])]])


def _reach(start: Mask, step: Mask) -> Mask:
    """Boolean product (a, b) x (b, c): what can be reached from each row in one step."""
    return (start.astype(np.float32) @ step.astype(np.float32)) > 0


def _incidence(mentions: Sequence[Sequence[int]], cue_count: int) -> Mask:
    incidence = np.zeros((len(mentions), cue_count), dtype=bool)
    for row, mentioned in zip(incidence, mentions, strict=True):
        row[list(mentioned)] = True
    return incidence
