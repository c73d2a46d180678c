"""A question matched with a graph: what both configurations rank by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mnemic.algo import activation, ppr
from mnemic.algo.activation import Activation
from mnemic.algo.candidates import Candidates, restrict
from mnemic.algo.graph import Doubles, Graph, Mask
from mnemic.algo.sparse import Sparse
from mnemic.algo.vectors import dot, dots
from mnemic.config import Configuration, Hero
from mnemic.retrieve.question import Question
from mnemic.types import Thresholds

_ANCHORS = 8
_PASSING = 0.1
"""What quantile thresholds aim at: so many anchors, and this share of the contexts (methods.md A10)."""

_NO_ALIASES = 2.0
"""Above any cosine. Near-synonyms are anchors anyway; following aliases costs most of a query and gains nothing."""


@dataclass(frozen=True, slots=True)
class Matched:
    """Similarities of a question to everything that a search may touch.

    Attributes:
        question: The question.
        graph: The graph.
        candidates: What of it passes the filters.
        similarity: (entities, cues) cosines, 1 for equal keys; 0 for cues that nothing allowed mentions.
        relevance: (units + notes,) cosines, -inf for what may not be a context.
        units: (u,) cosines, in [0, 1]; 0 for units that do not pass.
        traces: (t,) cosines; NaN for traces that hold a turn that does not pass.
        words: (u,) BM25 of the turn, or piece of a long one, that a unit stands in, with the one before it.
        active: HERO's phases 1 and 2.
    """

    question: Question
    graph: Graph
    candidates: Candidates
    similarity: Doubles
    relevance: Doubles
    units: Doubles
    traces: Doubles
    words: Doubles
    active: Activation


def match(question: Question, graph: Graph, config: Configuration, *, passing: Mask, thresholds: Thresholds) -> Matched:
    """Match a question with the part of a graph that passes the filters, (n,) turns."""
    candidates = restrict(graph, passing)
    similarity = _similarity(question, graph, candidates)
    relevance = _relevance(question, graph, candidates, config)
    return Matched(
        question=question,
        graph=graph,
        candidates=candidates,
        similarity=similarity,
        relevance=relevance,
        units=np.clip(relevance[: len(graph.unit_turn)], 0.0, 1.0),
        traces=np.where(candidates.whole, dot(graph.trace_vectors, question.vector), np.nan),
        words=graph.windows.scores(question.terms)[graph.unit_window] * candidates.units,
        active=_activate(config, graph, candidates, similarity, relevance, thresholds),
    )


def transition(matched: Matched, *, directed: bool = False) -> Sparse:
    """The graph to walk on: the cached one where everything passes."""
    graph, candidates = matched.graph, matched.candidates
    if candidates.frequency is graph.frequency and not directed:
        return graph.transposed
    chain = graph.chain()
    return ppr.transition(candidates.frequency, chain[candidates.traces[chain]], directed=directed)


def linked(matched: Matched) -> Doubles:
    """(cues,) the activation, without cues that no trace mentions: they would keep their restart mass (A21)."""
    frequency = matched.candidates.frequency
    return matched.active.weight * (np.bincount(frequency.columns, minlength=frequency.shape[1]) > 0)


def _similarity(question: Question, graph: Graph, candidates: Candidates) -> Doubles:
    """(entities, cues) cosines, 1 for equal keys; 0 for cues that nothing allowed mentions."""
    similarity = np.asarray(dots(question.entity_vectors, graph.cue_vectors), np.float64)
    for row, entity in enumerate(question.entities):
        if (slot := graph.cue_slot.get(entity.key)) is not None:
            similarity[row, slot] = 1.0
    mentioned = np.bincount(candidates.mentions.columns, minlength=len(graph.cue_keys)) > 0
    return similarity * mentioned


def _relevance(question: Question, graph: Graph, candidates: Candidates, config: Configuration) -> Doubles:
    """(units + notes,) cosines to the question; -inf for what may not be a context."""
    notes = candidates.notes & config.profile if isinstance(config, Hero) else candidates.notes & graph.note_current
    cosines = np.concatenate((dot(graph.unit_vectors, question.vector), dot(graph.note_vectors, question.vector)))
    return np.where(np.concatenate((candidates.units, notes)), cosines, -np.inf)


def _activate(
    config: Configuration,
    graph: Graph,
    candidates: Candidates,
    similarity: Doubles,
    relevance: Doubles,
    thresholds: Thresholds,
) -> Activation:
    """HERO phases 1 and 2 (R1, R2)."""
    hero = config if isinstance(config, Hero) else Hero(rounds=config.rounds, tau_alias=_NO_ALIASES)
    tau_init = thresholds.tau_init if hero.tau_init is None else hero.tau_init
    tau_iter = thresholds.tau_iter if hero.tau_iter is None else hero.tau_iter
    tau_alias = thresholds.tau_alias if hero.tau_alias is None else hero.tau_alias
    if hero.thresholds == "quantile":
        tau_init = _cut(similarity.max(axis=0, initial=0.0), min(_ANCHORS, len(graph.cue_keys) // 10))
    anchors = activation.anchors(similarity, tau=tau_init, cap=hero.seeds)
    if hero.thresholds == "quantile":
        opened = relevance[(candidates.mentions @ (anchors > 0).astype(np.float64) > 0) & np.isfinite(relevance)]
        tau_iter = _cut(opened, round(_PASSING * len(opened)))
    return activation.expand(
        anchors,
        candidates.mentions,
        relevance,
        graph.cue_vectors,
        tau_alias=tau_alias,
        tau_iter=tau_iter,
        rounds=hero.rounds,
    )


def _cut(values: Doubles, count: int) -> float:
    """The threshold that about ``count`` of the values pass, but at least the largest, if there are any."""
    count = min(max(count, 1), len(values))
    return float(np.partition(values, -count)[-count]) if count else 1.0
