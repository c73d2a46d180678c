"""The ``default`` configuration: signals fused, then spread over HERO's graph and fused once more.

What each signal is worth was measured on development data: docs/decisions/0003-retrieval.md.
"""

from __future__ import annotations

import numpy as np

from mnemic.algo import activation, lexical, ppr, when
from mnemic.algo.candidates import Targets
from mnemic.algo.fuse import fuse
from mnemic.algo.graph import Doubles
from mnemic.config import Fusion
from mnemic.retrieve.matched import Matched, linked, transition

_MENTIONED = 0.3
"""What words that name the one asked about count, against that one's own words."""

_ENOUGH = 1e-4
"""Change at which the walk stops: the order of the first hits is settled long before."""


def scores(matched: Matched, config: Fusion, targets: Targets) -> tuple[Doubles, dict[str, Doubles]]:
    """(targets,) scores, and each signal's contribution to them."""
    of_turns = {
        "date": _near(matched, config) * matched.candidates.turns,
        "speaker": _speaks(matched) * matched.candidates.turns,
    }
    of_traces = {"trace": np.clip(np.nan_to_num(matched.traces), 0.0, 1.0)}
    if config.graph > 0:
        of_traces["graph"] = _spread(matched, config, of_turns, of_traces)
    return _fused(matched, config, targets, of_turns, of_traces)


def _fused(
    matched: Matched,
    config: Fusion,
    targets: Targets,
    of_turns: dict[str, Doubles],
    of_traces: dict[str, Doubles],
) -> tuple[Doubles, dict[str, Doubles]]:
    signals = {
        "unit": targets.of_units(matched.units),
        "lexical": targets.of_units(_share(matched.words)),
        **{name: targets.of_turns(values) for name, values in of_turns.items()},
        **{name: targets.of_traces(values) for name, values in of_traces.items()},
    }
    return fuse(signals, {name: float(getattr(config, name)) for name in signals})


def _spread(matched: Matched, config: Fusion, of_turns: dict[str, Doubles], of_traces: dict[str, Doubles]) -> Doubles:
    """(traces,) the graph signal: PageRank restarted at the best traces so far and at the activated cues.

    It lifts the traces that share rare cues with the best ones or stand beside them: the rest of a list, the
    answer to a question that was found.
    """
    traces = Targets(matched.graph, traces=True)
    base = _fused(matched, config, traces, of_turns, of_traces)[0] * matched.candidates.traces
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


def _near(matched: Matched, config: Fusion) -> Doubles:
    """(turns,) the date signal: when it was said, and the times that it speaks of."""
    graph = matched.graph
    asked = [(start, end, config.relative_date if rel else 1.0) for start, end, rel in matched.question.asked]
    near = when.proximity(graph.turn_time, graph.turn_time, asked, scale_days=config.date_scale_days)
    spoken = when.proximity(graph.phrase_start, graph.phrase_end, asked, scale_days=config.date_scale_days)
    np.maximum.at(near, graph.phrase_turn, spoken)
    return near


def _speaks(matched: Matched) -> Doubles:
    """(turns,) 1 where the speaker is the one and only whom the question names, less where others name them."""
    graph, named = matched.graph, matched.question.named
    if len(named) != 1:
        return np.zeros(len(graph.turn_ids))
    (who,) = named
    speaks = np.asarray(graph.turn_speaker == who, np.float64)
    naming = graph.windows.scores(lexical.terms(graph.speakers[who]))[graph.unit_window] > 0
    np.maximum.at(speaks, graph.unit_turn[naming], _MENTIONED)
    return speaks
