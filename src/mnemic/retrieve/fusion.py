"""The ``default`` configuration: signals of sentences and traces fused, then spread over HERO's graph, fused again.

What each signal is worth was measured on development data: docs/decisions/0003-retrieval.md and 0004-sentences.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mnemic.algo import activation, lexical, ordinal, ppr
from mnemic.algo.candidates import Floats, Targets
from mnemic.algo.graph import Doubles, Mask
from mnemic.algo.vectors import dot
from mnemic.config import Fusion
from mnemic.retrieve.matched import Matched, dated, linked, passing, transition

_MENTIONED = 0.3
"""What words that name the one asked about count, against that one's own words."""

_ENOUGH = 1e-3
"""Change at which the walk stops: the order of the first hits is settled long before."""

_FEW = 5
"""Turns of a speaker that say whether the answer is theirs: one may match by chance, a few tell."""


_ALONE = 0.5
"""What a trace that is alone in its session is taken to have beside it, of its own score. Evidence on LoCoMo's
development half has .8 of it (median, lower quartile .56)."""


@dataclass(frozen=True, slots=True)
class Fused:
    """What was fused.

    Attributes:
        scores: (targets,), in [0, 1].
        contributions: Signal -> (targets,); they sum to the scores.
        standing: How much better the named speaker's words fit than all others', in [-2, 2]; None where the question
            does not name exactly one, or nobody else speaks.
    """

    scores: Doubles
    contributions: dict[str, Doubles]
    standing: float | None


def scores(matched: Matched, config: Fusion, targets: Targets) -> Fused:
    """Score what is ranked: by its best sentence, and by the trace it is or lies in."""
    sentences = _Sentences.of(matched, config)
    of_traces = _of_traces(matched, config, sentences)
    best, unit = targets.best_units(sentences.total)
    signals = {name: np.where(unit >= 0, values[unit], 0.0) for name, values in sentences.weighted.items()}
    for name, values in of_traces.items():
        signals[name] = targets.of_traces(values)
        best = best + signals[name]
    # A signal that applies to no candidate leaves the total, so that scores of all questions are on one scale.
    total = sum(float(getattr(config, name)) for name in signals if name != "beside") or 1.0
    total *= 1.0 + config.beside * ("beside" in signals)
    return Fused(
        scores=best / total,
        contributions={name: values / total for name, values in signals.items()},
        standing=_standing(matched, sentences),
    )


@dataclass(frozen=True, slots=True)
class _Sentences:
    """(u,) weighted signals of each sentence, and their sum; 0 for sentences that do not pass.

    ``words`` is the lexical signal without its weight; with none it serves nothing, missing vectors neither.
    """

    weighted: dict[str, Doubles]
    total: Doubles
    words: Doubles

    @classmethod
    def of(cls, matched: Matched, config: Fusion) -> _Sentences:
        graph, passing = matched.graph, matched.candidates.units
        words = _share(matched.words) if config.lexical > 0 else np.zeros(len(matched.words))
        signals = {
            "unit": _alike(matched, config, words),
            "lexical": words,
            "speaker": _speaks(matched) * passing,
            "note": _noted(matched),
        }
        if (near := dated(matched.question, graph, config, matched.candidates.turns)) is not None:
            signals["date"] = near[graph.unit_turn] * passing
        if matched.question.which is not None:
            signals["order"] = _ordered(matched, matched.question.which, signals["unit"])
        weights = {name: float(getattr(config, name)) for name in signals}
        used = {name: weights[name] * values for name, values in signals.items() if weights[name] and np.any(values)}
        return cls(used, sum(used.values(), np.zeros(len(passing))), words)


def _alike(matched: Matched, config: Fusion, words: Doubles) -> Doubles:
    """(u,) the unit signal: what asks is less likely to answer."""
    alike = _completed(matched.units, matched.graph.units_without_vector, words)
    return np.maximum(alike - config.asking * matched.graph.unit_asks, 0.0) * matched.candidates.units


def _completed(cosines: Floats, unknown: Mask, words: Doubles) -> Doubles:
    """Cosines, those not known judged by the words: as the best cosine for the best words.

    Else what an embedder has not seen yet would stand behind everything that it has.
    """
    completed = np.asarray(cosines, np.float64).copy()
    completed[unknown] = completed.max(initial=0.0) * words[unknown]
    return completed


def _of_traces(matched: Matched, config: Fusion, sentences: _Sentences) -> dict[str, Doubles]:
    """The weighted signals of whole traces, each (traces,), without those that apply to none."""
    graph, traces = matched.graph, matched.candidates.traces
    holders = Targets(graph, traces=True)
    unknown = (np.isnan(matched.traces) | graph.traces_without_vector) & traces
    near = np.clip(np.nan_to_num(matched.traces).astype(np.float64), 0.0, 1.0)
    if unknown.any():
        near = _completed(near, unknown, holders.of_units(sentences.words))
    near = config.trace * near
    own = (holders.of_units(sentences.total) + near) * traces
    signals = {"trace": near}
    if config.graph > 0:
        signals["graph"] = config.graph * _spread(matched, config, own)
        own = own + signals["graph"]
    if config.beside > 0:
        signals["beside"] = config.beside * _beside(matched, own)
    return {name: values for name, values in signals.items() if np.any(values)}


def _beside(matched: Matched, own: Doubles) -> Doubles:
    """(traces,) the larger score of the two traces beside each one in its session: evidence stands together.

    A session of one trace has nothing beside it that could speak for that trace or against it.
    """
    chain = passing(matched)
    sessions = matched.graph.trace_session[chain]
    together = sessions[:-1] == sessions[1:]
    beside = np.zeros(len(own))
    if not together.any():
        return beside
    earlier, later = chain[:-1][together], chain[1:][together]
    beside[chain] = _ALONE * own[chain]
    beside[earlier] = beside[later] = 0.0
    beside[earlier] = own[later]
    beside[later] = np.maximum(beside[later], own[earlier])
    return beside


def _spread(matched: Matched, config: Fusion, base: Doubles) -> Doubles:
    """(traces,) the graph signal: PageRank restarted at the best traces by ``base`` and at the activated cues.

    It lifts the traces that share rare cues with the best ones or stand beside them: the rest of a list, the
    answer to a question that was found.
    """
    rivals = base[matched.candidates.traces]
    # The best beyond those it restarts at: what they have more than it is their share of the mass.
    cut = np.partition(rivals, -config.spread - 1)[-config.spread - 1] if config.spread < len(rivals) else 0.0
    restart = np.maximum(base - cut, 0.0)
    cues = linked(matched) * activation.inverse_frequency(matched.candidates.frequency, len(rivals))
    if not restart.sum() > 0:
        return np.zeros(len(base))
    cues *= config.cue_restart * restart.sum() / max(cues.sum(), 1e-12)
    mass = np.concatenate((cues, restart))
    rank = ppr.pagerank(transition(matched), mass, follow=config.follow, tolerance=_ENOUGH)
    return _share(rank[len(cues) :] * matched.candidates.traces)


def _share(values: Doubles) -> Doubles:
    """Scaled so that the largest is 1."""
    largest = values.max(initial=0.0)
    return values / largest if largest > 0 else values


def _speaks(matched: Matched) -> Doubles:
    """(u,) 1 where the speaker is the one and only whom the question names, less where others name them."""
    graph, named = matched.graph, matched.question.named
    if len(named) != 1:
        return np.zeros(len(graph.unit_turn))
    (who,) = named
    own = graph.turn_speaker[graph.unit_turn] == who
    naming = graph.windows.scores(lexical.terms(graph.speakers[who]))[graph.unit_window] > 0
    return np.where(own, 1.0, np.where(naming, _MENTIONED, 0.0))


def _standing(matched: Matched, sentences: _Sentences) -> float | None:
    named = matched.question.named
    if len(named) != 1:
        return None
    fit = sentences.total - sentences.weighted.get("speaker", 0.0)
    turns = Targets(matched.graph, traces=False).of_units(fit)
    own = matched.graph.turn_speaker == next(iter(named))
    mine, others = (turns[matched.candidates.turns & mask] for mask in (own, ~own))
    return _of_the_best(mine) - _of_the_best(others) if len(mine) and len(others) else None


def _ordered(matched: Matched, which: ordinal.Which, alike: Doubles) -> Doubles:
    """(u,) how late or early a sentence was said among all that pass, as far as it is about the question at all."""
    passing = matched.candidates.turns
    place = np.zeros(len(passing))
    place[passing] = ordinal.place(matched.graph.turn_between(passing)[1][passing], which)
    return place[matched.graph.unit_turn] * _share(alike)


def _noted(matched: Matched) -> Doubles:
    """(u,) the note signal: the best cosine of a given note that rests on a sentence, itself never shown."""
    graph, candidates = matched.graph, matched.candidates
    lends = graph.note_given & graph.note_current & candidates.notes
    noted = np.zeros(len(graph.unit_turn))
    if lends.any():
        cosines = np.zeros(len(lends))
        cosines[lends] = np.clip(dot(graph.note_vectors[lends], matched.question.vector), 0.0, 1.0)
        np.maximum.at(noted, graph.source_unit, cosines[graph.source_note])
    return noted


def _of_the_best(values: Doubles) -> float:
    few = min(_FEW, len(values))
    return float(np.partition(values, -few)[-few:].mean())
