"""What a search may touch: the part of a graph that is alive and passes the filters.

Filters come before everything else: a turn that does not pass lends no cue, no unit, no note and no edge.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnemic.algo.graph import Graph, Ints, Mask
from mnemic.algo.sparse import Sparse

Floats = NDArray[np.floating]
Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Candidates:
    """Masks over a graph's slots, and its matrices without what is masked.

    Attributes:
        turns: (n,) living turns that pass.
        units: (u,) their units.
        traces: (t,) traces with at least one such turn.
        whole: (t,) traces with only such turns: the others' embeddings know words that did not pass.
        notes: (m,) notes that rest only on such turns.
        mentions: (u + m, c) of these units and notes.
        frequency: (t, c) counted over these units.
    """

    turns: Mask
    units: Mask
    traces: Mask
    whole: Mask
    notes: Mask
    mentions: Sparse
    frequency: Sparse


def restrict(graph: Graph, passing: Mask) -> Candidates:
    """Narrow a graph down to the turns that pass, (n,)."""
    turns = graph.turn_alive & passing
    if bool(np.all(turns == graph.turn_alive)):
        units, traces = graph.living
        return Candidates(turns, units, traces, traces, graph.note_alive, graph.mentions, graph.frequency)
    units, traces = graph.holding(turns)
    whole = traces.copy()
    whole[graph.span_trace[~turns[graph.span_turn]]] = False
    notes = graph.note_alive.copy()
    notes[graph.rest_note[~turns[graph.rest_turn]]] = False
    mentions = _keep_rows(graph.mentions, np.concatenate((units, notes)))
    return Candidates(turns, units, traces, whole, notes, mentions, _frequency(graph, mentions))


def _keep_rows(matrix: Sparse, kept: Mask) -> Sparse:
    rows = matrix.rows
    entries = kept[rows]
    return Sparse.from_pairs(rows[entries], matrix.columns[entries], matrix.values[entries], matrix.shape)


def _frequency(graph: Graph, mentions: Sparse) -> Sparse:
    """f(c, t): in how many units of a trace a cue occurs."""
    rows = mentions.rows
    entries = rows < len(graph.unit_trace)
    owner = graph.unit_trace[rows[entries]]
    held = owner >= 0
    shape = (len(graph.trace_ids), mentions.shape[1])
    return Sparse.from_pairs(owner[held], mentions.columns[entries][held], np.ones(int(held.sum())), shape)


@dataclass(frozen=True, slots=True)
class Targets:
    """What is being ranked, traces or turns, and how values of other things carry over to it: by their maximum.

    All values are >= 0; a target that nothing carries over to gets 0.
    """

    graph: Graph
    traces: bool

    @property
    def count(self) -> int:
        """Slots, dead ones included."""
        return len(self.graph.trace_ids if self.traces else self.graph.turn_ids)

    def of_units(self, values: Floats) -> Doubles:
        """(u,) to (targets,)."""
        owner = self.graph.unit_trace if self.traces else self.graph.unit_turn
        if not self.graph.is_repacked:
            return _maximum(values, owner, self.count)
        held = owner >= 0
        return _maximum(values[held], owner[held], self.count)

    def best_units(self, values: Floats) -> tuple[Doubles, Ints]:
        """(u,) to (targets,): the largest value, and the first unit that has it; -1 for a target without units."""
        owner = self.graph.unit_trace if self.traces else self.graph.unit_turn
        largest = self.of_units(values)
        best = np.full(self.count, -1, np.int64)
        tops = np.flatnonzero((owner >= 0) & (values == largest[owner]))[::-1]
        best[owner[tops]] = tops
        return largest, best

    def of_turns(self, values: Floats) -> Doubles:
        """(n,) to (targets,)."""
        if not self.traces:
            return np.asarray(values, np.float64)
        return _maximum(values[self.graph.span_turn], self.graph.span_trace, self.count)

    def of_traces(self, values: Floats) -> Doubles:
        """(t,) to (targets,)."""
        if self.traces:
            return np.asarray(values, np.float64)
        return _maximum(values[self.graph.span_trace], self.graph.span_turn, self.count)


def _maximum(values: Floats, owner: Ints, count: int) -> Doubles:
    largest = np.zeros(count)
    np.maximum.at(largest, owner, np.asarray(values, np.float64))  # of one type: else it takes ten times as long
    return largest
