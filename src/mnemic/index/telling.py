"""Everything that an index says, in terms of ids: two that answer alike are told alike, whatever happened to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from mnemic.algo.episodes import stretches

if TYPE_CHECKING:
    from mnemic.algo.graph import Graph, Ints
    from mnemic.algo.sparse import Sparse


def told(graph: Graph) -> dict[str, object]:
    """Everything that a graph says, in terms of ids, whatever its slots are."""
    turns = [int(slot) for slot in np.flatnonzero(graph.turn_alive)]
    traces = [int(slot) for slot in np.flatnonzero(graph.trace_alive)]
    notes = [int(slot) for slot in np.flatnonzero(graph.note_alive)]
    sources, phrases, spans = (_places(of) for of in (graph.source_note, graph.phrase_turn, graph.span_trace))
    trace_of = dict(enumerate(graph.trace_ids)) | {-1: ""}
    units: dict[int, tuple[str, int]] = {
        int(slot): (graph.turn_ids[int(turn)], int(graph.unit_start[slot]))
        for slot, turn in enumerate(graph.unit_turn)
        if graph.turn_alive[turn]
    }
    context: dict[int, tuple[str, int] | tuple[str, str]] = units | {
        len(graph.unit_turn) + slot: _note(graph, slot) for slot in notes
    }
    return {
        "turns": {graph.turn_ids[slot]: _turn(graph, slot, phrases.get(slot, [])) for slot in turns},
        "units": {
            name: (int(graph.unit_end[slot]), trace_of[int(graph.unit_trace[slot])], graph.unit_vectors[slot].tobytes())
            for slot, name in units.items()
        },
        "traces": {graph.trace_ids[slot]: _trace(graph, slot, spans.get(slot, [])) for slot in traces},
        "chain": [graph.trace_ids[int(slot)] for slot in graph.chain],
        "notes": sorted(
            (
                *_note(graph, slot),
                graph.note_about[slot],
                bool(graph.note_current[slot]),
                bool(graph.note_given[slot]),
                graph.note_vectors[slot].tobytes(),
                sorted(units[int(unit)] for unit in graph.source_unit[sources.get(slot, [])]),
            )
            for slot in notes
        ),
        "cues": {key: graph.cue_vectors[slot].tobytes() for key, slot in graph.cue_slot.items()},
        "cue keys": {key: (graph.cue_keys[slot], graph.cue_surfaces[slot]) for key, slot in graph.cue_slot.items()},
        "mentions": {
            (context[int(row)], graph.cue_keys[int(column)]): float(value)
            for row, column, value in _entries(graph.mentions)
        },
        "frequency": {
            (graph.trace_ids[int(row)], graph.cue_keys[int(column)]): float(value)
            for row, column, value in _entries(graph.frequency)
        },
        "rests": sorted(
            (_note(graph, int(note)), graph.turn_ids[turn])
            for note, turn in zip(graph.rest_note, graph.rest_turn, strict=True)
            if graph.note_alive[note]
        ),
        "episodes": [
            (one.episode_id, tuple(graph.turn_ids[slot] for slot in one.turns), one.stored) for one in stretches(graph)
        ],
        "speakers": {speaker for speaker in graph.speakers if speaker},
    }


def _places(owners: Ints) -> dict[int, list[int]]:
    """Owner -> where it stands, in order."""
    found: dict[int, list[int]] = {}
    for place, owner in enumerate(owners.tolist()):
        found.setdefault(owner, []).append(place)
    return found


def _note(graph: Graph, slot: int) -> tuple[str, str]:
    return graph.note_ids[slot], graph.note_text[slot]


def _turn(graph: Graph, slot: int, spoken: list[int]) -> tuple[object, ...]:
    when = float(graph.turn_time[slot])
    return (
        graph.turn_session[slot],
        graph.turn_role[slot],
        bool(graph.turn_opens[slot]),
        graph.turn_agent[slot],
        graph.turn_metadata[slot],
        None if np.isnan(when) else when,
        graph.speakers[int(graph.turn_speaker[slot])],
        sorted(zip(graph.phrase_start[spoken].tolist(), graph.phrase_end[spoken].tolist(), strict=True)),
    )


def _trace(graph: Graph, slot: int, held: list[int]) -> tuple[object, ...]:
    return (
        int(graph.trace_ordinal[slot]),
        graph.trace_vectors[slot].tobytes(),
        [(graph.turn_ids[graph.span_turn[i]], int(graph.span_start[i]), int(graph.span_end[i])) for i in held],
    )


def _entries(matrix: Sparse) -> Iterator[tuple[int, int, float]]:
    return zip(matrix.rows, matrix.columns, matrix.values, strict=True)
