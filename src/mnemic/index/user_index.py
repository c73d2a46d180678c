"""One user's index in memory: arrays that follow the rows, revision by revision, without being rebuilt.

An index is disposable: built from ``load(since=0)`` or brought up to date by any sequence of deltas, it answers
alike. Adding costs time in proportion to what is added; after a removal the sparse matrices are remade, by vectorised
code, at the next search.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Protocol, Self

import numpy as np

from mnemic.algo.arrays import Rows
from mnemic.algo.bm25 import BM25
from mnemic.algo.graph import Graph
from mnemic.algo.lexical import terms
from mnemic.index import state
from mnemic.index.cues import Cues
from mnemic.index.episodes import Episodes
from mnemic.index.matrices import Matrices
from mnemic.index.notes import Notes
from mnemic.index.turns import Turns
from mnemic.index.vectors import Vectors
from mnemic.types import Note, Trace

if TYPE_CHECKING:
    from mnemic.algo.graph import Ints
    from mnemic.protocols import Delta, Floats, TurnRow


_WIDE: Final = 1 << 17
"""Traces, all of which are compared with every question, up to which there is a copy of their vectors for that."""

_ROWS: Final = ("_unit_cues", "_cues_of_turn", "_trace_alive", "_trace_ordinal", "_spans")


class _Part(Protocol):
    def state(self) -> state.State: ...


class UserIndex:
    """Everything that retrieval needs of one user, as of ``revision``."""

    def __init__(self, dim: int) -> None:
        self.revision = 0
        self._dim = dim
        self._turns = Turns(dim)
        self._cues = Cues(dim)
        self._unit_cues = Rows(np.int32, 3)  # unit, cue, count
        self._cues_of_turn = Rows(np.int64, 2)  # rows of _unit_cues
        self._later_cues: dict[int, list[range]] = {}  # turn -> rows of what was found in it later
        self._trace_slot: dict[str, int] = {}
        self._trace_ids: list[str] = []
        self._trace_alive = Rows(np.bool_)
        self._trace_ordinal = Rows(np.int64)
        self._trace_vectors = Vectors(dim, wide=_WIDE)
        self._spans = Rows(np.int64, 4)  # trace, turn, start, end
        self._notes = Notes(dim)
        self._episodes = Episodes()
        self._graph: Graph | None = None
        self._matrices = Matrices()

    @property
    def nbytes(self) -> int:
        """Bytes held, roughly: what the LRU counts."""
        parts = (self._turns, self._cues, self._notes, self._trace_vectors, self._matrices)
        rows = sum(getattr(self, name).nbytes for name in _ROWS)
        return sum(part.nbytes for part in parts) + rows + 200 * len(self._trace_ids)

    @property
    def turns(self) -> int:
        """How many it took in, removed ones too."""
        return len(self._turns.ids)

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
            if self._notes.remove(note_id, self._cues):
                self._matrices = Matrices()
        self._episodes.remove(delta.removed_episodes)
        self._episodes.put(delta.episodes)
        keys, surfaces = [key for key, _, _ in delta.cues], [surface for _, surface, _ in delta.cues]
        self._cues.put(keys, surfaces, self._stacked([vector for _, _, vector in delta.cues]))
        self._put_turns(delta.turns)
        self._put_traces(delta.traces)
        self._put_notes(delta.notes)
        # Last: a cue that lost its mentions may have got new ones, and is then not named again.
        self._cues.sweep()
        self.revision = delta.revision
        self._graph = None

    def graph(self) -> Graph:
        """The arrays as they are now; valid until the next ``apply``."""
        if self._graph is None:
            self._graph = self._graph_now()
        return self._graph

    def graph_as(self, counting: Collection[tuple[str, int]]) -> Graph:
        """The arrays as if exactly some versions of notes (note_id, version) counted, as of another time."""
        graph = self.graph()
        notes, words, chosen = self._notes, BM25(), self._notes.slots(counting)
        alive, document = np.zeros(len(notes.ids), np.bool_), np.full(len(notes.ids), -1)
        alive[chosen] = True
        document[chosen] = words.add_all([tuple(terms(notes.text[slot])) for slot in chosen])
        mentions = self._matrices.mentions(notes, alive, cues=len(self._cues.keys))
        masks = {"note_alive": alive, "note_current": alive}
        return replace(graph, **masks, note_words=words, note_document=document, mentions=mentions)

    def _stacked(self, vectors: Sequence[Floats | None]) -> Floats:
        """(n, dim); zeros for a vector that is missing."""
        nothing = np.zeros(self._dim, np.float32)
        rows = [nothing if vector is None else vector for vector in vectors]
        return np.array(rows, np.float32).reshape(len(rows), self._dim)

    def _put_turns(self, rows: Sequence[TurnRow]) -> None:
        pairs: list[tuple[int, int, int]] = []
        first = len(self._unit_cues)
        new, old = self._turns.put(rows)
        for slot, row in new:
            before = len(pairs)
            for unit, said in zip(self._turns.units_of(slot), row.units, strict=True):
                pairs += self._cues.mention(unit, said.cues)
            self._cues_of_turn.extend([(first + before, first + len(pairs))])
        for slot, row in old:
            before = len(pairs)
            pairs += self._found_later(slot, row)
            if len(pairs) > before:
                self._later_cues.setdefault(slot, []).append(range(first + before, first + len(pairs)))
                self._matrices = Matrices()
        self._unit_cues.extend(pairs)
        for row in rows:
            self._episodes.changed(row.turn.session_id)

    def _found_later(self, slot: int, row: TurnRow) -> list[tuple[int, int, int]]:
        """(unit, cue, count) of what a known turn mentions and did not mention before."""
        if not any(unit.cues for unit in row.units):
            return []
        held = {tuple(pair) for rows in self._mentioned_in(slot) for pair in rows[:, :2].tolist()}
        pairs: list[tuple[int, int, int]] = []
        for unit, said in zip(self._turns.units_of(slot), row.units, strict=True):
            more = {key: count for key, count in said.cues.items() if (unit, self._cues.slot[key]) not in held}
            pairs += self._cues.mention(unit, more)
        return pairs

    def _mentioned_in(self, slot: int) -> list[Ints]:
        """The rows of ``_unit_cues`` of a turn."""
        first, stop = self._cues_of_turn.view[slot].tolist()
        ranges = (range(first, stop), *self._later_cues.get(slot, ()))
        return [self._unit_cues.view[rows.start : rows.stop] for rows in ranges]

    def _remove_turn(self, seq: int) -> None:
        self._episodes.changed(self._turns.session_of(seq))
        slot = self._turns.remove(seq)
        if slot is not None:
            for rows in self._mentioned_in(slot):
                self._cues.release(rows[:, 1])
            self._later_cues.pop(slot, None)
            self._matrices = Matrices()

    def _put_traces(self, rows: Sequence[tuple[Trace, Floats | None]]) -> None:
        vectors = self._stacked([vector for _, vector in rows])
        new = [place for place, (trace, _) in enumerate(rows) if trace.trace_id not in self._trace_slot]
        for place in sorted(set(range(len(rows))).difference(new)):
            self._trace_vectors.put(self._trace_slot[rows[place][0].trace_id], vectors[place : place + 1], 1)
        traces = [rows[place][0] for place in new]
        first = len(self._trace_ids)
        self._trace_ids += [trace.trace_id for trace in traces]
        self._trace_slot |= {trace.trace_id: slot for slot, trace in enumerate(traces, first)}
        self._trace_alive.extend([True] * len(new))
        self._trace_ordinal.extend([trace.ordinal for trace in traces])
        self._trace_vectors.extend(vectors[new])
        spans = [
            (slot, self._turns.slot[span.turn_id], span.start, span.end)
            for slot, trace in enumerate(traces, first)
            for span in trace.spans
        ]
        self._spans.extend(np.array(spans, np.int64).reshape(len(spans), 4))
        for span in spans:
            self._own_units(*span)

    def _own_units(self, trace: int, turn: int, start: int, end: int) -> None:
        """The units that begin inside a span belong to its trace."""
        units = self._turns.units_of(turn)
        starts = self._turns.unit_start.view[units.start : units.stop]
        first, stop = units.start + int(starts.searchsorted(start)), units.start + int(starts.searchsorted(end))
        self._turns.unit_trace.view[first:stop] = trace
        if first < self._matrices.by_unit.height:
            self._matrices = Matrices()

    def _remove_trace(self, trace_id: str) -> None:
        slot = self._trace_slot.pop(trace_id, None)
        if slot is not None:
            self._trace_alive.view[slot] = False
            self._trace_vectors.put(slot, None, 1)
            self._matrices = Matrices()
            unit_trace = self._turns.unit_trace.view
            unit_trace[unit_trace == slot] = -1

    def _put_notes(self, rows: Sequence[tuple[Note, Floats | None]]) -> None:
        known = self._notes.slots([(note.note_id, note.version) for note, _ in rows])
        if known:  # what they mentioned before is not there any more
            self._matrices = Matrices()
        vectors = self._stacked([vector for _, vector in rows])
        self._notes.put(
            [(note, vector) for (note, _), vector in zip(rows, vectors, strict=True)], self._cues, self._turns
        )

    def _graph_now(self) -> Graph:
        turns, notes = self._turns, self._notes
        mentions, frequency = self._matrices.brought(
            turns, self._unit_cues, notes, cues=len(self._cues.keys), traces=len(self._trace_ids)
        )
        return Graph(
            turn_ids=turns.ids,
            turn_session=turns.session,
            turn_role=turns.role,
            turn_agent=turns.agent,
            turn_metadata=turns.metadata,
            turn_alive=turns.alive.view,
            turn_time=turns.time.view,
            turn_known=turns.known.view,
            turn_held=turns.held.view,
            turn_speaker=turns.speaker.view,
            turn_opens=turns.opens.view,
            speakers=turns.speakers,
            windows=turns.windows,
            unit_turn=turns.unit_turn.view,
            unit_start=turns.unit_start.view,
            unit_end=turns.unit_end.view,
            unit_trace=turns.unit_trace.view,
            unit_window=turns.unit_window.view,
            unit_asks=turns.unit_asks.view,
            unit_vectors=turns.unit_vectors.view,
            unit_codes=turns.unit_vectors.codes,
            units_without_vector=turns.unit_vectors.blank,
            trace_ids=self._trace_ids,
            trace_alive=self._trace_alive.view,
            trace_ordinal=self._trace_ordinal.view,
            trace_vectors=self._trace_vectors.view,
            traces_without_vector=self._trace_vectors.blank,
            span_trace=self._spans.view[:, 0],
            span_turn=self._spans.view[:, 1],
            span_start=self._spans.view[:, 2],
            span_end=self._spans.view[:, 3],
            phrase_turn=turns.phrase_turn.view,
            phrase_start=turns.phrase_start.view,
            phrase_end=turns.phrase_end.view,
            note_ids=notes.ids,
            note_text=notes.text,
            note_about=notes.about,
            note_alive=notes.alive.view,
            note_current=notes.current.view,
            note_given=notes.given.view,
            note_vectors=notes.vectors.view,
            note_words=notes.words,
            note_document=notes.document.view,
            source_note=notes.sources.view[:, 0],
            source_unit=notes.sources.view[:, 1],
            rest_note=notes.rests.view[:, 0],
            rest_turn=notes.rests.view[:, 1],
            cue_keys=self._cues.keys,
            cue_surfaces=self._cues.surfaces,
            cue_slot=self._cues.slot,
            cue_vectors=self._cues.vectors.view,
            cue_codes=self._cues.vectors.codes,
            mentions=mentions,
            frequency=frequency,
            episodes=self._episodes.stored,
            cuts=self._episodes.cuts,
        )

    # snapshots -----------------------------------------------------------------------------------------

    def state(self) -> state.State:
        """All of it as named arrays, valid until the next ``apply``."""
        self.graph()  # so that the matrices are those of everything
        later = [(slot, rows.start, rows.stop) for slot, found in self._later_cues.items() for rows in found]
        return {
            **state.of_rows(self, _ROWS),
            **state.of_texts("trace_ids", self._trace_ids),
            "later_cues": np.array(later, np.int64).reshape(len(later), 3),
            "numbers": np.array([self.revision, self._dim], np.int64),
            **{key: value for part, name in self._parts() for key, value in state.under(name, part.state()).items()},
        }

    @classmethod
    def restored(cls, held: state.Held) -> Self:
        """An index as it was. Raises KeyError or ValueError where a part is lacking or damaged."""
        revision, dim = held["numbers"].view.tolist()
        index = cls(dim)
        index.revision = revision
        state.put_rows(index, _ROWS, held)
        index._turns = Turns.restored(dim, state.of("turns", held))
        index._cues = Cues.restored(dim, state.of("cues", held))
        index._notes = Notes.restored(dim, state.of("notes", held))
        index._episodes = Episodes.restored(state.of("episodes", held))
        index._trace_vectors = Vectors.restored(dim, state.of("trace_vectors", held), wide=_WIDE)
        index._matrices = Matrices.restored(
            state.of("matrices", held), pairs=len(index._unit_cues), note_pairs=len(index._notes.cues)
        )
        index._trace_ids = state.texts("trace_ids", held)
        living = np.flatnonzero(index._trace_alive.view).tolist()
        index._trace_slot = {index._trace_ids[slot]: slot for slot in living}
        for slot, first, stop in held["later_cues"].view.tolist():
            index._later_cues.setdefault(slot, []).append(range(first, stop))
        return index

    def _parts(self) -> tuple[tuple[_Part, str], ...]:
        return (
            (self._turns, "turns"),
            (self._cues, "cues"),
            (self._notes, "notes"),
            (self._episodes, "episodes"),
            (self._trace_vectors, "trace_vectors"),
            (self._matrices, "matrices"),
        )
