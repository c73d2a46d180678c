"""The probability that a hit is useful: that it holds words which answer the question.

A logistic curve (Platt, "Probabilistic outputs for support vector machines", 1999) over what says most: how much
speaks for the hit, how far it is behind the best one or the best one ahead of all others, and whether the words of the
one asked about fit better than those of others.
Fitted by ``scripts/fit_usefulness.py`` on LoCoMo's development half, questions without an answer among them
(docs/decisions/0013-probabilities.md); within one search it keeps the order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from mnemic.types import Granularity

if TYPE_CHECKING:
    from mnemic.algo.candidates import Doubles


@dataclass(frozen=True, slots=True)
class Curve:
    """Weights of the log-odds.

    Attributes:
        strength: Of the hit's summed signals, in [0, 1].
        behind: Of how much less that is than the best hit's.
        lead: Of how much more the best hit's is than the next one's; for the best hit alone.
        standing: Of how much better the named speaker's words fit than all others'.
        named: Added where the question names one speaker.
        offset: Always added.
    """

    strength: float
    behind: float
    lead: float
    standing: float
    named: float
    offset: float


CURVES: Final[Mapping[Granularity, Curve]] = {
    "trace": Curve(strength=3.287, behind=-9.437, lead=8.397, standing=3.547, named=-0.748, offset=-2.642),
    "turn": Curve(strength=2.813, behind=-9.555, lead=11.2, standing=3.804, named=-0.459, offset=-2.938),
}


def probabilities(strengths: Doubles, lead: float, standing: float | None, curve: Curve) -> Doubles:
    """How likely each of n hits is to be useful.

    Args:
        strengths: (n,) the hits' summed signals, best first.
        lead: How much the best is ahead of the next, whether that is among the n or not.
        standing: As in ``retrieve.fusion.Fused``; None where no single speaker is named.
        curve: Of what is ranked.

    Returns:
        (n,) in (0, 1), in the same order.
    """
    odds = curve.offset + curve.strength * strengths
    if len(strengths):
        odds = odds + curve.behind * (strengths[0] - strengths)
        odds[0] += curve.lead * lead
    if standing is not None:
        odds = odds + curve.named + curve.standing * standing
    return 1.0 / (1.0 + np.exp(-odds))
