"""A question matched with a graph: what both configurations rank by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mnemic.algo import activation, ppr, signs, when
from mnemic.algo.activation import Activation
from mnemic.algo.candidates import Candidates, Targets, restrict
from mnemic.algo.graph import Doubles, Floats, Graph, Ints, Mask
from mnemic.algo.ppr import Walk
from mnemic.algo.sparse import Sparse
from mnemic.algo.vectors import dot, dot_rows
from mnemic.config import Configuration, Fusion, Hero
from mnemic.retrieve.question import Question
from mnemic.types import Thresholds

_ANCHORS = 8
_PASSING = 0.1
"""What quantile thresholds aim at: so many anchors, and this share of the contexts (methods.md A10)."""

_NO_ALIASES = 2.0
"""Above any cosine. Near-synonyms are anchors anyway; following aliases costs most of a query and gains nothing."""


_FEW_CUES = 4096
"""Cues up to which all are compared with those of the question; of more, those whose sign codes allow it."""

_FEW_UNITS = 1 << 15
"""Sentences up to which all are compared with the question; of more, those of the traces that have a chance."""

_CHANCE = 2048
"""Traces that have one. In a made-up memory of 100,000 turns the first 20 hits are those of all exact cosines for 198
of 200 questions: docs/decisions/0007-scale.md."""

_DOUBT = 3.0
"""Standard deviations of an estimate, beyond which it is taken to be right about a threshold."""


@dataclass(frozen=True, slots=True)
class Matched:
    """Similarities of a question to everything that a search may touch.

    Attributes:
        question: The question.
        graph: The graph.
        candidates: What of it passes the filters.
        similarity: (entities, cues) cosines, 1 for equal keys; 0 for cues that nothing allowed mentions.
        relevance: (units + notes,) cosines, -inf for what may not be a context.
        units: (u,) cosines, in [0, 1]; 0 for units that do not pass. In a large memory the ``default`` configuration
            makes do with estimates for those of traces that have no chance, none above the largest cosine it knows.
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
    """(units + notes,) cosines to the question, worked out for those asked for; -inf for what may not be a context.

    Attributes:
        question: The question.
        graph: The graph.
        units, notes: What may be one.
        of_units: (u,) cosines of units worked out already.
        exact: (u,) which of these are exact; of the others those are worked out that may reach ``least``.
        least: The cosine that makes a context relevant.
    """

    question: Question
    graph: Graph
    units: Mask
    notes: Mask
    of_units: Floats
    exact: Mask
    least: float

    def __getitem__(self, contexts: Ints | slice | int) -> Floats:
        """The cosines of some contexts, by whatever an array takes."""
        count = len(self.units)
        places: Ints = np.arange(count + len(self.notes))[contexts]
        is_unit = places < count
        cosines = np.full(places.shape, -np.inf, np.float32)
        units, notes = places[is_unit], places[~is_unit] - count
        about = self.of_units[units]
        doubtful = ~self.exact[units] & (about >= self.least - _DOUBT * signs.deviation(self.graph.dim))
        about[doubtful] = dot_rows(self.graph.unit_vectors, units[doubtful], self.question.vector)
        cosines[is_unit] = np.where(self.units[units], about, -np.inf)
        found = dot_rows(self.graph.note_vectors, notes, self.question.vector)
        cosines[~is_unit] = np.where(self.notes[notes], found, -np.inf)
        return cosines


def match(question: Question, graph: Graph, config: Configuration, *, passing: Mask, thresholds: Thresholds) -> Matched:
    """Match a question with the part of a graph that passes the filters, (n,) turns."""
    candidates = restrict(graph, passing)
    notes = candidates.notes & config.profile if isinstance(config, Hero) else candidates.notes & graph.note_current
    tau_init = _anchoring(config, thresholds)
    similarity = _similarity(question, graph, candidates, tau_init)
    words = graph.windows.scores(question.terms)[graph.unit_window] * candidates.units
    traces = dot(graph.trace_vectors, question.vector)
    if isinstance(config, Hero) or len(graph.unit_turn) <= _FEW_UNITS or not graph.unit_codes:
        units = dot(graph.unit_vectors, question.vector)
        exact = np.ones(len(units), np.bool_)
    else:
        units, exact = _estimated(question, graph, candidates, config, words, traces)
    relevance = Relevance(question, graph, candidates.units, notes, units, exact, thresholds.tau_iter)
    return Matched(
        question=question,
        graph=graph,
        candidates=candidates,
        similarity=similarity,
        relevance=relevance,
        units=np.clip(units, 0.0, 1.0) * candidates.units,
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
    chain = matched.graph.chain
    return chain[matched.candidates.traces[chain]]


def linked(matched: Matched) -> Doubles:
    """(cues,) the activation, without cues that no trace mentions: they would keep their restart mass (A21)."""
    return matched.active.weight * (matched.candidates.frequency.column_counts > 0)


def _estimated(
    question: Question, graph: Graph, candidates: Candidates, config: Fusion, words: Doubles, traces: Floats
) -> tuple[Floats, Mask]:
    """(u,) cosines, and which are exact: those in the traces that may be among the best; the rest are estimates.

    A trace's chance is its score by the estimates and the weights of the fusion, without the graph; and once more
    with who speaks, for the best of the others' words tell whether the answer is theirs. What stands beside the
    likeliest is exact, too: they gain from it.
    """
    units = signs.cosines(signs.differing(graph.unit_codes, question.vector), graph.dim)
    chance = np.float32(config.unit) * np.maximum(units - np.float32(config.asking) * graph.unit_asks, 0.0)
    chance += words * (config.lexical / max(float(words.max()), 1e-9))
    if (near := dated(question, graph, config, candidates.turns)) is not None:
        chance += (config.date * near)[graph.unit_turn]
    chances = [np.asarray(chance * candidates.units, np.float64)]
    if len(question.named) == 1:
        own = (graph.turn_speaker == min(question.named)) * config.speaker
        chances.append(chances[0] + own[graph.unit_turn])
    chain, has_one = graph.chain, np.zeros(len(traces), np.bool_)
    for values in chances:
        of_trace = (Targets(graph, traces=True).of_units(values) + config.trace * traces) * candidates.traces
        likely = _best(of_trace, _CHANCE // 4)[chain]
        has_one |= _best(of_trace, _CHANCE)
        has_one[chain[1:][likely[:-1]]] = has_one[chain[:-1][likely[1:]]] = True
    exact = has_one[graph.unit_trace] & candidates.units
    rows = np.flatnonzero(exact)
    found = dot_rows(graph.unit_vectors, rows, question.vector)
    np.minimum(units, found.max(initial=0.0), out=units)
    units[rows] = found
    return units, exact


def _best(values: Doubles, count: int) -> Mask:
    """(n,) which are among the ``count`` largest, at least one."""
    count = min(max(count, 1), len(values))
    return values >= np.partition(values, -count)[-count]


def dated(question: Question, graph: Graph, config: Fusion, passing: Mask) -> Doubles | None:
    """(turns,) how near each is, by when it was said and the times that it speaks of, to the times asked for.

    Only turns that pass, (turns,), lend others their dates. None where the question names no time.
    """
    asked = [(start, end, config.relative_date if relative else 1.0) for start, end, relative in question.asked]
    if not asked:
        return None
    near = when.proximity(*graph.turn_between(passing), asked, scale_days=config.date_scale_days)
    spoken = when.proximity(graph.phrase_start, graph.phrase_end, asked, scale_days=config.date_scale_days)
    np.maximum.at(near, graph.phrase_turn, spoken)
    return near


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
    if tau is None or len(graph.cue_keys) <= _FEW_CUES or not graph.cue_codes:
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
