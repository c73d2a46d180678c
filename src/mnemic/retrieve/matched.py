"""A question matched with a graph: what both configurations rank by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mnemic.algo import activation, ppr, signs
from mnemic.algo.activation import Activation
from mnemic.algo.candidates import Candidates, restrict
from mnemic.algo.graph import Doubles, Floats, Graph, Ints, Mask
from mnemic.algo.ppr import Walk
from mnemic.algo.sparse import Sparse
from mnemic.algo.vectors import dot
from mnemic.config import Configuration, Hero
from mnemic.retrieve.question import Question
from mnemic.types import Thresholds

_ANCHORS = 8
_PASSING = 0.1
"""What quantile thresholds aim at: so many anchors, and this share of the contexts (methods.md A10)."""

_NO_ALIASES = 2.0
"""Above any cosine. Near-synonyms are anchors anyway; following aliases costs most of a query and gains nothing."""


_FEW = 4096
"""Vectors up to which all are compared with the question; of more, those whose sign codes promise something."""

_PROMISING = 0.0625
"""Share of the sentences whose cosine is worked out exactly, of those beyond ``_FEW``."""


@dataclass(frozen=True, slots=True)
class Matched:
    """Similarities of a question to everything that a search may touch.

    Attributes:
        question: The question.
        graph: The graph.
        candidates: What of it passes the filters.
        similarity: (entities, cues) cosines, 1 for equal keys; 0 for cues that nothing allowed mentions.
        relevance: (units + notes,) cosines, -inf for what may not be a context.
        units: (u,) cosines, in [0, 1]; 0 for units that do not pass. Beyond some thousand units those that promise
            little have an estimate.
        traces: (t,) cosines; NaN for traces that hold a turn that does not pass.
        words: (u,) BM25 of the turn, or piece of a long one, that a unit stands in, with the one before it.
        active: HERO's phases 1 and 2.
    """

    question: Question
    graph: Graph
    candidates: Candidates
    similarity: Doubles
    relevance: Relevance
    units: Floats
    traces: Doubles
    words: Doubles
    active: Activation


@dataclass(frozen=True, slots=True)
class Relevance:
    """(units + notes,) cosines to the question, worked out for those asked for; -inf for what may not be a context."""

    question: Question
    graph: Graph
    units: Mask
    notes: Mask

    def __getitem__(self, contexts: Ints | slice | int) -> Floats:
        """The cosines of some contexts, by whatever an array takes."""
        count = len(self.units)
        places: Ints = np.arange(count + len(self.notes))[contexts]
        is_unit = places < count
        cosines = np.full(places.shape, -np.inf, np.float32)
        for chosen, offset, allowed, vectors in (
            (is_unit, 0, self.units, self.graph.unit_vectors),
            (~is_unit, count, self.notes, self.graph.note_vectors),
        ):
            rows = places[chosen] - offset
            cosines[chosen] = np.where(allowed[rows], dot(vectors[rows], self.question.vector), -np.inf)
        return cosines


def match(question: Question, graph: Graph, config: Configuration, *, passing: Mask, thresholds: Thresholds) -> Matched:
    """Match a question with the part of a graph that passes the filters, (n,) turns."""
    candidates = restrict(graph, passing)
    notes = candidates.notes & config.profile if isinstance(config, Hero) else candidates.notes & graph.note_current
    relevance = Relevance(question, graph, candidates.units, notes)
    tau_init = _anchoring(config, thresholds)
    similarity = _similarity(question, graph, candidates, tau_init)
    words = graph.windows.scores(question.terms)[graph.unit_window] * candidates.units
    traces = dot(graph.trace_vectors, question.vector)
    return Matched(
        question=question,
        graph=graph,
        candidates=candidates,
        similarity=similarity,
        relevance=relevance,
        units=_units(question, graph, candidates, words, traces),
        traces=np.where(candidates.whole, traces, np.nan),
        words=words,
        active=_activate(config, graph, candidates, similarity, relevance, thresholds),
    )


def transition(matched: Matched, *, directed: bool = False) -> Walk | Sparse:
    """The graph to walk on: the cached one where everything passes."""
    graph, candidates = matched.graph, matched.candidates
    if candidates.frequency is graph.frequency and not directed:
        return graph.walk
    chain = passing(matched)
    return ppr.transition(candidates.frequency, chain, directed=True) if directed else Walk(candidates.frequency, chain)


def passing(matched: Matched) -> Ints:
    """The traces that pass, in the order of the dialogue."""
    chain = matched.graph.chain()
    return chain[matched.candidates.traces[chain]]


def linked(matched: Matched) -> Doubles:
    """(cues,) the activation, without cues that no trace mentions: they would keep their restart mass (A21)."""
    return matched.active.weight * (matched.candidates.frequency.column_counts > 0)


def _units(question: Question, graph: Graph, candidates: Candidates, words: Doubles, traces: Floats) -> Floats:
    """(u,) cosines in [0, 1]; of many units exactly those of the most promising, and an estimate of the others."""
    count = len(graph.unit_turn)
    exact = _FEW + round(_PROMISING * max(0, count - _FEW))
    if exact >= count or not graph.unit_codes or not question.vector.any():
        return np.clip(dot(graph.unit_vectors, question.vector), 0.0, 1.0) * candidates.units
    cosines = signs.cosines(signs.differing(graph.unit_codes, question.vector), graph.dim)
    # What else speaks for a sentence, by about the weight that it has in the fusion.
    promise = cosines + (0.5 / max(float(words.max()), 1e-9)) * words + 0.5 * traces[graph.unit_trace]
    promise *= candidates.units
    best = np.flatnonzero(promise >= np.partition(promise, count - exact)[count - exact])
    cosines[best] = dot(graph.unit_vectors[best], question.vector)
    return np.clip(cosines, 0.0, 1.0) * candidates.units


def _similarity(question: Question, graph: Graph, candidates: Candidates, tau: float | None) -> Doubles:
    """(entities, cues) cosines, 1 for equal keys; 0 for cues that nothing allowed mentions.

    Of many cues those are left at 0 whose sign codes say that they are further away than ``tau``.
    """
    mentioned = candidates.mentions.column_counts > 0
    similarity = np.zeros((len(question.entities), len(graph.cue_keys)))
    for row, vector, entity in zip(similarity, question.entity_vectors, question.entities, strict=True):
        if vector.any():
            near = _near(graph, vector, tau)
            row[near] = dot(graph.cue_vectors[near], vector)
        if (slot := graph.cue_slot.get(entity.key)) is not None:
            row[slot] = 1.0
        row *= mentioned
    return similarity


def _near(graph: Graph, vector: Floats, tau: float | None) -> Ints | slice:
    """The cues that may be within ``tau`` of a vector."""
    if tau is None or len(graph.cue_keys) <= _FEW or not graph.cue_codes:
        return slice(None)
    return np.flatnonzero(signs.differing(graph.cue_codes, vector) <= signs.most(tau, graph.dim))


def _activate(
    config: Configuration,
    graph: Graph,
    candidates: Candidates,
    similarity: Doubles,
    relevance: Relevance,
    thresholds: Thresholds,
) -> Activation:
    """HERO phases 1 and 2 (R1, R2)."""
    hero = config if isinstance(config, Hero) else Hero(rounds=config.rounds, tau_alias=_NO_ALIASES)
    tau_init = _anchoring(config, thresholds) or 0.0
    tau_iter = thresholds.tau_iter if hero.tau_iter is None else hero.tau_iter
    tau_alias = thresholds.tau_alias if hero.tau_alias is None else hero.tau_alias
    if hero.thresholds == "quantile":
        tau_init = _cut(similarity.max(axis=0, initial=0.0), min(_ANCHORS, len(graph.cue_keys) // 10))
    anchors = activation.anchors(similarity, tau=tau_init, cap=hero.seeds)
    if hero.thresholds == "quantile":
        opened = relevance[np.unique(candidates.mentions.column_entries(np.flatnonzero(anchors))[1])]
        opened = np.asarray(opened[np.isfinite(opened)], np.float64)
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


def _anchoring(config: Configuration, thresholds: Thresholds) -> float | None:
    """tau_init; None where it follows from the cosines of all cues."""
    if not isinstance(config, Hero):
        return thresholds.tau_init
    if config.thresholds == "quantile":
        return None
    return thresholds.tau_init if config.tau_init is None else config.tau_init


def _cut(values: Doubles, count: int) -> float:
    """The threshold that about ``count`` of the values pass, but at least the largest, if there are any."""
    count = min(max(count, 1), len(values))
    return float(np.partition(values, -count)[-count]) if count else 1.0
