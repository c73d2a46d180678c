"""One user's index in memory: arrays that follow the rows, revision by revision, without being rebuilt.

An index is disposable: built from ``load(since=0)`` or brought up to date by any sequence of deltas, it answers
alike. Adding costs time in proportion to what is added; the two sparse matrices are remade, by vectorised code,
at the first search after a change.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from mnemic.algo.arrays import Rows
from mnemic.algo.graph import Graph
from mnemic.algo.lexical import BM25, terms
from mnemic.algo.sparse import Sparse
from mnemic.types import Metadata, Note, Span, TimePhrase, Trace, Turn, Unit

if TYPE_CHECKING:
    from mnemic.protocols import Delta, Floats, TurnRow


class _Turns:
    """Columns of turns and of what hangs off a single turn."""

    def __init__(self, dim: int) -> None:
        self.slot: dict[str, int] = {}
        self.by_seq: dict[int, int] = {}
        self.ids: list[str] = []
        self.session: list[str] = []
        self.agent: list[str | None] = []
        self.metadata: list[Metadata] = []
        self.terms: list[tuple[str, ...]] = []
        self.before: list[int] = []
        self.after: list[int] = []
        self.units: list[range] = []
        self.alive = Rows(np.bool_)
        self.time = Rows(np.float64)
        self.speaker = Rows(np.int64)
        self.window = Rows(np.int64)
        self.last_of: dict[str, int] = {}
        self.speakers: list[str] = []
        self.speaker_slot: dict[str, int] = {}
        self.unit_turn = Rows(np.int64)
        self.unit_start = Rows(np.int64)
        self.unit_end = Rows(np.int64)
        self.unit_trace = Rows(np.int64)
        self.unit_vectors = Rows(np.float32, dim)
        self.phrase_turn = Rows(np.int64)
        self.phrase_start = Rows(np.float64)
        self.phrase_end = Rows(np.float64)


class UserIndex:
    """Everything that retrieval needs of one user, as of ``revision``."""

    def __init__(self, dim: int) -> None:
        self.revision = 0
        self.dead_turns = 0
        self._dim = dim
        self._turns = _Turns(dim)
        self._windows = BM25()
        self._trace_slot: dict[str, int] = {}
        self._trace_ids: list[str] = []
        self._trace_session: list[str] = []
        self._trace_alive = Rows(np.bool_)
        self._trace_ordinal = Rows(np.int64)
        self._trace_vectors = Rows(np.float32, dim)
        self._spans = Rows(np.int64, 4)  # trace, turn, start, end
        self._note_slot: dict[str, int] = {}
        self._note_ids: list[str] = []
        self._note_text: list[str] = []
        self._note_alive = Rows(np.bool_)
        self._note_current = Rows(np.bool_)
        self._note_vectors = Rows(np.float32, dim)
        self._sources = Rows(np.int64, 2)  # note, unit
        self._cue_slot: dict[str, int] = {}
        self._cue_keys: list[str] = []
        self._cue_vectors = Rows(np.float32, dim)
        self._unit_cues = Rows(np.int64, 3)  # unit, cue, count
        self._note_cues = Rows(np.int64, 3)
        self._graph: Graph | None = None

    @property
    def nbytes(self) -> int:
        """Bytes held, roughly: what the LRU counts."""
        turns = self._turns
        arrays = (
            turns.unit_vectors, turns.unit_turn, turns.unit_start, turns.unit_end, turns.unit_trace,
            self._trace_vectors, self._note_vectors, self._cue_vectors, self._unit_cues, self._spans,
        )  # fmt: skip
        held = sum(rows.nbytes for rows in arrays) + self._windows.nbytes
        return held + 600 * len(turns.ids) + 200 * len(self._cue_keys)

    @property
    def is_mostly_dead(self) -> bool:
        """True when more than half of its turns were removed: building it again is cheaper than carrying them."""
        return self.dead_turns * 2 > len(self._turns.ids)

    def apply(self, delta: Delta) -> None:
        """Bring the index to ``delta.revision``: removals first, then what is new or changed."""
        for trace_id in delta.removed_traces:
            self._remove_trace(trace_id)
        for seq in delta.removed_turns:
            self._remove_turn(seq)
        for note_id in delta.removed_notes:
            self._remove_note(note_id)
        for key in delta.removed_cues:
            self._remove_cue(key)
        for key, _, vector in delta.cues:
            self._put_cue(key, vector)
        for row in delta.turns:
            self._put_turn(row)
        for trace, vector in delta.traces:
            self._put_trace(trace, vector)
        for note, vector in delta.notes:
            self._put_note(note, vector)
        self.revision = delta.revision
        self._graph = None

    def graph(self) -> Graph:
        """The arrays as they are now; valid until the next ``apply``."""
        if self._graph is None:
            self._graph = self._snapshot()
        return self._graph

    # turns ---------------------------------------------------------------------------------------------

    def _put_turn(self, row: TurnRow) -> None:
        turns = self._turns
        slot = turns.slot.get(row.turn.turn_id)
        if slot is None:
            slot = self._append_turn(row.turn)
            self._append_units(slot, row.units)
            self._append_phrases(slot, row.phrases)
        turns.metadata[slot] = row.turn.metadata
        units = turns.units[slot]
        if row.unit_vectors is not None and len(units):
            turns.unit_vectors.view[units.start : units.stop] = row.unit_vectors

    def _append_turn(self, turn: Turn) -> int:
        turns = self._turns
        slot = len(turns.ids)
        turns.slot[turn.turn_id] = slot
        turns.by_seq[turn.seq] = slot
        turns.ids.append(turn.turn_id)
        turns.session.append(turn.session_id)
        turns.agent.append(turn.agent_id)
        turns.metadata.append(turn.metadata)
        turns.terms.append(tuple(terms(turn.text)))
        before = turns.last_of.get(turn.session_id, -1)
        turns.before.append(before)
        turns.after.append(-1)
        if before >= 0:
            turns.after[before] = slot
        turns.last_of[turn.session_id] = slot
        speaker = turns.speaker_slot.setdefault(turn.speaker, len(turns.speakers))
        if speaker == len(turns.speakers):
            turns.speakers.append(turn.speaker)
        turns.alive.extend([True])
        turns.time.extend([_seconds(turn.timestamp, math.nan)])
        turns.speaker.extend([speaker])
        turns.window.extend([self._windows.add(self._window_terms(slot))])
        return slot

    def _append_units(self, slot: int, units: Sequence[Unit]) -> None:
        turns = self._turns
        first = len(turns.unit_turn)
        turns.units.append(range(first, first + len(units)))
        turns.unit_turn.extend([slot] * len(units))
        turns.unit_start.extend([unit.start for unit in units])
        turns.unit_end.extend([unit.end for unit in units])
        turns.unit_trace.extend([-1] * len(units))
        turns.unit_vectors.extend(np.zeros((len(units), self._dim)))
        self._unit_cues.extend(
            [
                (first + i, self._cue_slot[key], count)
                for i, unit in enumerate(units)
                for key, count in unit.cues.items()
            ]
        )

    def _append_phrases(self, slot: int, phrases: Sequence[TimePhrase]) -> None:
        turns = self._turns
        turns.phrase_turn.extend([slot] * len(phrases))
        turns.phrase_start.extend([_seconds(phrase.interval.start, -math.inf) for phrase in phrases])
        turns.phrase_end.extend([_seconds(phrase.interval.end, math.inf) for phrase in phrases])

    def _remove_turn(self, seq: int) -> None:
        turns = self._turns
        slot = turns.by_seq.pop(seq, None)
        if slot is None:
            return
        del turns.slot[turns.ids[slot]]
        turns.alive.view[slot] = False
        self.dead_turns += 1
        before, after = turns.before[slot], turns.after[slot]
        if before >= 0:
            turns.after[before] = after
        if after >= 0:
            turns.before[after] = before
        elif before >= 0:
            turns.last_of[turns.session[slot]] = before
        else:
            del turns.last_of[turns.session[slot]]
        self._windows.remove(turns.window.view[slot])
        # Nothing of an erased turn stays readable, in memory either.
        turns.ids[slot] = ""
        turns.terms[slot] = ()
        turns.metadata[slot] = {}
        units = turns.units[slot]
        turns.unit_vectors.view[units.start : units.stop] = 0
        if after >= 0:
            self._windows.remove(turns.window.view[after])
            turns.window.view[after] = self._windows.add(self._window_terms(after))

    def _window_terms(self, slot: int) -> tuple[str, ...]:
        """Terms of a turn together with the one before it in its session."""
        before = self._turns.before[slot]
        return (self._turns.terms[before] if before >= 0 else ()) + self._turns.terms[slot]

    # traces, notes, cues -------------------------------------------------------------------------------

    def _put_trace(self, trace: Trace, vector: Floats | None) -> None:
        slot = self._trace_slot.get(trace.trace_id)
        if slot is None:
            slot = self._trace_slot[trace.trace_id] = len(self._trace_ids)
            self._trace_ids.append(trace.trace_id)
            self._trace_session.append(trace.session_id)
            self._trace_alive.extend([True])
            self._trace_ordinal.extend([trace.ordinal])
            self._trace_vectors.extend(np.zeros((1, self._dim)))
            spans = [(slot, self._turns.slot[span.turn_id], span.start, span.end) for span in trace.spans]
            self._spans.extend(spans)
            for _, turn, start, end in spans:
                self._own_units(slot, turn, start, end)
        if vector is not None:
            self._trace_vectors.view[slot] = vector

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
        slot = self._note_slot.get(note.note_id)
        if slot is not None and self._note_text[slot] != note.text:
            self._remove_note(note.note_id)
            slot = None
        if slot is None:
            slot = self._note_slot[note.note_id] = len(self._note_ids)
            self._note_ids.append(note.note_id)
            self._note_text.append(note.text)
            self._note_alive.extend([True])
            self._note_current.extend([True])
            self._note_vectors.extend(np.zeros((1, self._dim)))
            self._note_cues.extend([(slot, self._cue_slot[key], count) for key, count in note.cues.items()])
            self._sources.extend([(slot, unit) for span in note.sources for unit in self._units_in(span)])
        self._note_current.view[slot] = note.status == "current"
        if vector is not None:
            self._note_vectors.view[slot] = vector

    def _units_in(self, span: Span) -> list[int]:
        """The units that overlap a span; none when its turn is gone."""
        turns = self._turns
        slot = turns.slot.get(span.turn_id)
        if slot is None:
            return []
        starts, ends = turns.unit_start.view, turns.unit_end.view
        return [unit for unit in turns.units[slot] if starts[unit] < span.end and ends[unit] > span.start]

    def _remove_note(self, note_id: str) -> None:
        slot = self._note_slot.pop(note_id, None)
        if slot is not None:
            self._note_alive.view[slot] = False
            self._note_vectors.view[slot] = 0
            self._note_text[slot] = ""

    def _put_cue(self, key: str, vector: Floats | None) -> None:
        slot = self._cue_slot.get(key)
        if slot is None:
            slot = self._cue_slot[key] = len(self._cue_keys)
            self._cue_keys.append(key)
            self._cue_vectors.extend(np.zeros((1, self._dim)))
        if vector is not None:
            self._cue_vectors.view[slot] = vector

    def _remove_cue(self, key: str) -> None:
        slot = self._cue_slot.pop(key, None)
        if slot is not None:
            self._cue_keys[slot] = ""
            self._cue_vectors.view[slot] = 0

    # the view ------------------------------------------------------------------------------------------

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
            turn_window=turns.window.view,
            speakers=turns.speakers,
            windows=self._windows,
            unit_turn=turns.unit_turn.view,
            unit_start=turns.unit_start.view,
            unit_end=turns.unit_end.view,
            unit_trace=turns.unit_trace.view,
            unit_vectors=turns.unit_vectors.view,
            trace_ids=self._trace_ids,
            trace_session=self._trace_session,
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
            cue_keys=self._cue_keys,
            cue_slot=self._cue_slot,
            cue_vectors=self._cue_vectors.view,
            mentions=mentions,
            frequency=frequency,
        )

    def _matrices(self) -> tuple[Sparse, Sparse]:
        turns = self._turns
        units, cues = len(turns.unit_turn), len(self._cue_keys)
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


def _seconds(moment: datetime | None, unknown: float) -> float:
    return unknown if moment is None else moment.timestamp()
