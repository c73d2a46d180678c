"""From a question to ranked traces or turns, by ``hero`` or ``default``: pure functions of a graph and a question."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mnemic.algo import select, usefulness
from mnemic.algo.candidates import Targets
from mnemic.algo.graph import Doubles, Graph, Ints, Mask
from mnemic.config import Configuration, Hero
from mnemic.retrieve import fusion, hero
from mnemic.retrieve.matched import Matched, match
from mnemic.retrieve.question import Question
from mnemic.telemetry import Attributes, spanned
from mnemic.types import Granularity, Thresholds


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates (traces or turns) with their scores, and what they came from.

    Attributes:
        order: Slots of the best, best first.
        scores: (targets,).
        lead: How much the best is ahead of the next; 0 where there is no next.
        contributions: name -> (targets,); they sum to ``scores``.
        cosine: The best cosine of the question to a unit, in [0, 1].
        coverage: In [0, 1]: how much of the question's words, weighted by rarity, the best document holds.
        standing: Of the named speaker against all others, see ``fusion.Fused``; None in ``hero``.
        matched: What they were ranked by.
    """

    order: Ints
    scores: Doubles
    lead: float
    contributions: dict[str, Doubles]
    cosine: float
    coverage: float
    standing: float | None
    matched: Matched


def _told(ranking: Ranking) -> Attributes:
    return {"mnemic.turns": len(ranking.matched.graph.turn_session), "mnemic.hits": len(ranking.order)}


@spanned("mnemic.search.rank", _told)
def rank(
    question: Question,
    graph: Graph,
    config: Configuration,
    *,
    passing: Mask,
    granularity: Granularity,
    limit: int,
    thresholds: Thresholds,
) -> Ranking:
    """Rank what may be found.

    Args:
        question: From ``understand``.
        graph: The same user's.
        config: ``Hero`` or ``Fusion``.
        passing: (n,) turns that pass the filters; nothing of any other turn is read.
        granularity: What to rank.
        limit: How many of the best to put in order.
        thresholds: The embedder's.
    """
    matched = match(question, graph, config, passing=passing, thresholds=thresholds)
    targets = Targets(graph, traces=granularity == "trace")
    standing = None
    if isinstance(config, Hero):
        scores = targets.of_traces(hero.scores(matched, config))
        contributions = {"ppr" if config.ppr else "activation": scores}
    else:
        fused = fusion.scores(matched, config, targets)
        scores, contributions, standing = fused.scores, fused.contributions, fused.standing
    # R6: equal traces by cos(t, q), then the earlier one; equal turns of one trace by their best sentence.
    near = targets.of_traces(np.nan_to_num(matched.traces))
    ties = [-near, graph.trace_ordinal if targets.traces else -targets.of_units(matched.units)]
    may = matched.candidates.traces if targets.traces else matched.candidates.turns
    held = graph.windows.coverage(question.terms)[graph.unit_window] * matched.candidates.units
    # Two at least, so that what is said of the best does not depend on how many are wanted.
    order = select.best(scores, may, max(limit, 2), ties=ties)
    return Ranking(
        order=order[:limit],
        scores=scores,
        lead=float(scores[order[0]] - scores[order[1]]) if len(order) > 1 else 0.0,
        contributions=contributions,
        cosine=float(matched.units.max(initial=0.0)),
        coverage=float(held.max(initial=0.0)),
        standing=standing,
        matched=matched,
    )


def useful(ranking: Ranking, config: Configuration, granularity: Granularity) -> Doubles:
    """(limit,) the scores that hits are given, in their order: of ``default`` how likely each is to be useful.

    Args:
        ranking: From ``rank``.
        config: What it was ranked by.
        granularity: What was ranked.
    """
    strengths = ranking.scores[ranking.order]
    if isinstance(config, Hero):
        return strengths
    return usefulness.probabilities(strengths, ranking.lead, ranking.standing, usefulness.CURVES[granularity])
