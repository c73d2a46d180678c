"""One user's index in memory: arrays that follow the rows, revision by revision, without being rebuilt.

An index is disposable: built from ``load(since=0)`` or brought up to date by any sequence of deltas, it answers
alike. Adding costs time in proportion to what is added; the two sparse matrices are remade, by vectorised code,
at the first search after a change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mnemic.algo.arrays import Rows
from mnemic.algo.graph import Graph
from mnemic.algo.sparse import Sparse
from mnemic.index.cues import Cues
from mnemic.index.turns import Turns
from mnemic.types import Note, Trace

if TYPE_CHECKING:
    from mnemic.protocols import Delta, Floats, TurnRow

_WITHDRAWN = ("unsupported", "retracted")
"""Notes that never lead anywhere."""


class UserIndex:
    """Everything that retrieval needs of one user, as of ``revision``."""

    def __init__(self, dim: int) -> None:
        self.revision = 0
        self._dim = dim
        self._turns = Turns(dim)
        self._cues = Cues(dim)
        self._unit_cues = Rows(np.int64, 3)  # unit, cue, count
        self._cues_of_turn: list[range] = []  # rows of _unit_cues
        self._trace_slot: dict[str, int] = {}
        self._trace_ids: list[str] = []
        self._trace_alive = Rows(np.bool_)
        self._trace_ordinal = Rows(np.int64)
        self._trace_vectors = Rows(np.float32, dim)
        self._spans = Rows(np.int64, 4)  # trace, turn, start, end
        self._note_slots: dict[str, dict[int, int]] = {}  # note_id -> version -> slot
        self._note_ids: list[str] = []
        self._note_text: list[str] = []
        self._note_alive = Rows(np.bool_)
        self._note_current = Rows(np.bool_)
        self._note_vectors = Rows(np.float32, dim)
        self._note_cues = Rows(np.int64, 3)  # note, cue, count
        self._cues_of_note: list[range] = []  # rows of _note_cues
        self._sources = Rows(np.int64, 2)  # note, unit
        self._graph: Graph | None = None

    @property
    def nbytes(self) -> int:
        """Bytes held, roughly: what the LRU counts."""
        arrays = (self._trace_vectors, self._note_vectors, self._spans)
        # The pairs are held once as they came and four times as sparse matrices.
        pairs = 6 * (self._unit_cues.nbytes + self._note_cues.nbytes)
        return self._turns.nbytes + self._cues.nbytes + sum(rows.nbytes for rows in arrays) + pairs

    @property
    def is_mostly_dead(self) -> bool:
        """True when more than half of its turns were removed: building it again is cheaper than carrying them."""
        return self._turns.dead * 2 > len(self._turns.ids)

    def apply(self, delta: Delta) -> None:
        """Bring the index to ``delta.revision``: removals first, then what is new or changed."""
        for trace_id in delta.removed_traces:
            self._remove_trace(trace_id)
        for seq in delta.removed_turns:
            self._remove_turn(seq)
        for note_id in delta.removed_notes:
            for slot in self._note_slots.pop(note_id, {}).values():
                self._remove_note(slot)
        for key, _, vector in delta.cues:
            self._cues.put(key, vector)
        for row in delta.turns:
            self._put_turn(row)
        for trace, vector in delta.traces:
            self._put_trace(trace, vector)
        for note, vector in delta.notes:
            self._put_note(note, vector)
        # Last: a cue that lost its mentions may have got new ones, and is then not named again.
        self._cues.sweep()
        self.revision = delta.revision
        self._graph = None

    def graph(self) -> Graph:
        """The arrays as they are now; valid until the next ``apply``."""
        if self._graph is None:
            self._graph = self._snapshot()
        return self._graph

    def _put_turn(self, row: TurnRow) -> None:
        slot = self._turns.put(row)
        if slot is not None:
            first = len(self._unit_cues)
            units = zip(self._turns.units[slot], row.units, strict=True)
            self._unit_cues.extend([pair for unit, said in units for pair in self._cues.mention(unit, said.cues)])
            self._cues_of_turn.append(range(first, len(self._unit_cues)))

    def _remove_turn(self, seq: int) -> None:
        slot = self._turns.remove(seq)
        if slot is not None:
            rows = self._cues_of_turn[slot]
            self._cues.release(self._unit_cues.view[rows.start : rows.stop, 1])

    def _put_trace(self, trace: Trace, vector: Floats | None) -> None:
        slot = self._trace_slot.get(trace.trace_id)
        if slot is None:
            slot = self._trace_slot[trace.trace_id] = len(self._trace_ids)
            self._trace_ids.append(trace.trace_id)
            self._trace_alive.extend([True])
            self._trace_ordinal.extend([trace.ordinal])
            self._trace_vectors.extend(np.zeros((1, self._dim)))
            spans = [(slot, self._turns.slot[span.turn_id], span.start, span.end) for span in trace.spans]
            self._spans.extend(spans)
            for _, turn, start, end in spans:
                self._own_units(slot, turn, start, end)
        self._trace_vectors.view[slot] = 0 if vector is None else vector

    def _own_units(self, trace: int, turn: int, start: int, end: int) -> None:
        """The units that begin inside a span belong to its trace."""
        units = self._turns.units[turn]
        starts = self._turns.unit_start.view[units.start : units.stop]
        owned = units.start + np.flatnonzero((starts >= start) & (starts < end))
        self._turns.unit_trace.view[owned] = trace

    def _remove_trace(self, trace_id: str) -> None:
        slot = self._trace_slot.pop(trace_id, None)
        if slot is not None:
            self._trace_alive.view[slot] = False
            self._trace_vectors.view[slot] = 0
            unit_trace = self._turns.unit_trace.view
            unit_trace[unit_trace == slot] = -1

    def _put_note(self, note: Note, vector: Floats | None) -> None:
        """Add a version; one that comes again may rest on less than before, and starts afresh."""
        versions = self._note_slots.setdefault(note.note_id, {})
        if note.version in versions:
            self._remove_note(versions[note.version])
        slot = versions[note.version] = len(self._note_ids)
        self._note_ids.append(note.note_id)
        self._note_text.append(note.text)
        self._note_alive.extend([note.status not in _WITHDRAWN])
        self._note_current.extend([note.status == "current"])
        self._note_vectors.extend(np.zeros((1, self._dim)) if vector is None else vector[None])
        first = len(self._note_cues)
        self._note_cues.extend(self._cues.mention(slot, note.cues))
        self._cues_of_note.append(range(first, len(self._note_cues)))
        self._sources.extend([(slot, unit) for span in note.sources for unit in self._turns.units_in(span)])

    def _remove_note(self, slot: int) -> None:
        self._note_alive.view[slot] = False
        self._note_vectors.view[slot] = 0
        self._note_text[slot] = ""
        rows = self._cues_of_note[slot]
        self._cues.release(self._note_cues.view[rows.start : rows.stop, 1])

    def _snapshot(self) -> Graph:
        turns = self._turns
        mentions, frequency = self._matrices()
        return Graph(
            turn_ids=turns.ids,
            turn_session=turns.session,
            turn_agent=turns.agent,
            turn_metadata=turns.metadata,
            turn_alive=turns.alive.view,
            turn_time=turns.time.view,
            turn_speaker=turns.speaker.view,
            speakers=turns.speakers,
            windows=turns.windows,
            unit_turn=turns.unit_turn.view,
            unit_start=turns.unit_start.view,
            unit_end=turns.unit_end.view,
            unit_trace=turns.unit_trace.view,
            unit_window=turns.unit_window.view,
            unit_vectors=turns.unit_vectors.view,
            trace_ids=self._trace_ids,
            trace_alive=self._trace_alive.view,
            trace_ordinal=self._trace_ordinal.view,
            trace_vectors=self._trace_vectors.view,
            span_trace=self._spans.view[:, 0],
            span_turn=self._spans.view[:, 1],
            span_start=self._spans.view[:, 2],
            span_end=self._spans.view[:, 3],
            phrase_turn=turns.phrase_turn.view,
            phrase_start=turns.phrase_start.view,
            phrase_end=turns.phrase_end.view,
            note_ids=self._note_ids,
            note_text=self._note_text,
            note_alive=self._note_alive.view,
            note_current=self._note_current.view,
            note_vectors=self._note_vectors.view,
            source_note=self._sources.view[:, 0],
            source_unit=self._sources.view[:, 1],
            cue_keys=self._cues.keys,
            cue_slot=self._cues.slot,
            cue_vectors=self._cues.vectors.view,
            mentions=mentions,
            frequency=frequency,
        )

    def _matrices(self) -> tuple[Sparse, Sparse]:
        turns = self._turns
        units, cues = len(turns.unit_turn), len(self._cues.keys)
        traces, notes = len(self._trace_ids), len(self._note_ids)
        pairs = self._unit_cues.view
        pairs = pairs[turns.alive.view[turns.unit_turn.view[pairs[:, 0]]]] if len(pairs) else pairs
        about = self._note_cues.view
        about = about[self._note_alive.view[about[:, 0]]] if len(about) else about
        rows = np.concatenate((pairs[:, 0], about[:, 0] + units))
        columns = np.concatenate((pairs[:, 1], about[:, 1]))
        counts = np.concatenate((pairs[:, 2], about[:, 2])).astype(np.float64)
        mentions = Sparse.from_pairs(rows, columns, counts, (units + notes, cues))
        owner = turns.unit_trace.view[pairs[:, 0]]
        held = owner >= 0
        ones = np.ones(int(held.sum()))
        frequency = Sparse.from_pairs(owner[held], pairs[held, 1], ones, (traces, cues))
        return mentions, frequency
