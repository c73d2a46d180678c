"""One user's index in memory: arrays that follow the rows, revision by revision, without being rebuilt.

An index is disposable: built from ``load(since=0)`` or brought up to date by any sequence of deltas, it answers
alike. Adding costs time in proportion to what is added; after a removal the sparse matrices are remade, by vectorised
code, at the next search.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mnemic.algo.arrays import Rows
from mnemic.algo.graph import Graph
from mnemic.algo.lexical import BM25, terms
from mnemic.algo.sparse import Sparse
from mnemic.index.cues import Cues
from mnemic.index.episodes import Episodes
from mnemic.index.incidence import Incidence
from mnemic.index.turns import Turns
from mnemic.index.vectors import Vectors
from mnemic.types import Note, Trace

if TYPE_CHECKING:
    from mnemic.algo.graph import Doubles, Ints
    from mnemic.protocols import Delta, Floats, TurnRow

_WITHDRAWN = ("unsupported", "retracted", "proposed", "archived", "quarantined")
"""Notes that lead nowhere: nobody says that they are so, or nobody says it yet, or they were put away."""


class UserIndex:
    """Everything that retrieval needs of one user, as of ``revision``."""

    def __init__(self, dim: int) -> None:
        self.revision = 0
        self._dim = dim
        self._turns = Turns(dim)
        self._cues = Cues(dim)
        self._unit_cues = Rows(np.int64, 3)  # unit, cue, count
        self._cues_of_turn: list[range] = []  # rows of _unit_cues
        self._later_cues: dict[int, list[range]] = {}  # turn -> rows of what was found in it later
        self._trace_slot: dict[str, int] = {}
        self._trace_ids: list[str] = []
        self._trace_alive = Rows(np.bool_)
        self._trace_ordinal = Rows(np.int64)
        self._trace_vectors = Vectors(dim)
        self._spans = Rows(np.int64, 4)  # trace, turn, start, end
        self._note_slots: dict[str, dict[int, int]] = {}  # note_id -> version -> slot
        self._note_ids: list[str] = []
        self._note_text: list[str] = []
        self._note_about: list[str] = []
        self._note_alive = Rows(np.bool_)
        self._note_current = Rows(np.bool_)
        self._note_given = Rows(np.bool_)
        self._note_vectors = Rows(np.float32, dim)
        self._note_cues = Rows(np.int64, 3)  # note, cue, count
        self._cues_of_note: list[range] = []  # rows of _note_cues
        self._note_words = BM25()
        self._note_document = Rows(np.int64)
        self._sources = Rows(np.int64, 2)  # note, unit
        self._rests = Rows(np.int64, 2)  # note, turn
        self._episodes = Episodes()
        self._graph: Graph | None = None
        self._forget_matrices()

    @property
    def nbytes(self) -> int:
        """Bytes held, roughly: what the LRU counts."""
        arrays = (self._trace_vectors, self._note_vectors, self._spans)
        matrices = (self._by_unit, self._by_note, self._by_trace)
        pairs = self._unit_cues.nbytes + self._note_cues.nbytes + sum(matrix.nbytes for matrix in matrices)
        words = self._note_words.nbytes
        return self._turns.nbytes + self._cues.nbytes + sum(rows.nbytes for rows in arrays) + pairs + words

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
            self._graph = self._snapshot()
        return self._graph

    def graph_as(self, counting: Collection[tuple[str, int]]) -> Graph:
        """The arrays as if exactly some versions of notes (note_id, version) counted, as of another time."""
        graph = self.graph()
        slots = {self._note_slots.get(note_id, {}).get(version, -1) for note_id, version in counting} - {-1}
        alive, document, words = np.zeros(len(self._note_ids), np.bool_), np.full(len(self._note_ids), -1), BM25()
        chosen = sorted(slots)
        alive[chosen] = True
        document[chosen] = words.add_all([tuple(terms(self._note_text[slot])) for slot in chosen])
        pairs, by_note = self._note_cues.view, Incidence()
        by_note.append(*_columns(pairs[alive[pairs[:, 0]]]), height=len(alive), width=len(self._cues.keys))
        mentions = Sparse((self._by_unit.block(), by_note.block()))
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
            for unit, said in zip(self._turns.units[slot], row.units, strict=True):
                pairs += self._cues.mention(unit, said.cues)
            self._cues_of_turn.append(range(first + before, first + len(pairs)))
        for slot, row in old:
            before = len(pairs)
            pairs += self._found_later(slot, row)
            if len(pairs) > before:
                self._later_cues.setdefault(slot, []).append(range(first + before, first + len(pairs)))
                self._forget_matrices()
        self._unit_cues.extend(pairs)
        for row in rows:
            self._episodes.changed(row.turn.session_id)

    def _found_later(self, slot: int, row: TurnRow) -> list[tuple[int, int, int]]:
        """(unit, cue, count) of what a known turn mentions and did not mention before."""
        if not any(unit.cues for unit in row.units):
            return []
        held = {tuple(pair) for rows in self._mentioned_in(slot) for pair in rows[:, :2].tolist()}
        pairs: list[tuple[int, int, int]] = []
        for unit, said in zip(self._turns.units[slot], row.units, strict=True):
            more = {key: count for key, count in said.cues.items() if (unit, self._cues.slot[key]) not in held}
            pairs += self._cues.mention(unit, more)
        return pairs

    def _mentioned_in(self, slot: int) -> list[Ints]:
        """The rows of ``_unit_cues`` of a turn."""
        return [
            self._unit_cues.view[rows.start : rows.stop]
            for rows in (self._cues_of_turn[slot], *self._later_cues.get(slot, ()))
        ]

    def _remove_turn(self, seq: int) -> None:
        self._episodes.changed(self._turns.session_of(seq))
        slot = self._turns.remove(seq)
        if slot is not None:
            for rows in self._mentioned_in(slot):
                self._cues.release(rows[:, 1])
            self._later_cues.pop(slot, None)
            self._forget_matrices()

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
        units = self._turns.units[turn]
        starts = self._turns.unit_start.view[units.start : units.stop]
        first, stop = units.start + int(starts.searchsorted(start)), units.start + int(starts.searchsorted(end))
        self._turns.unit_trace.view[first:stop] = trace
        if first < self._by_unit.height:
            self._forget_matrices()

    def _remove_trace(self, trace_id: str) -> None:
        slot = self._trace_slot.pop(trace_id, None)
        if slot is not None:
            self._trace_alive.view[slot] = False
            self._trace_vectors.put(slot, None, 1)
            self._forget_matrices()
            unit_trace = self._turns.unit_trace.view
            unit_trace[unit_trace == slot] = -1

    def _put_notes(self, rows: Sequence[tuple[Note, Floats | None]]) -> None:
        """Add versions; one that comes again may rest on less than before, and starts afresh."""
        pairs: list[tuple[int, int, int]] = []
        sources: list[tuple[int, int]] = []
        rests: list[tuple[int, int]] = []
        start, done = len(self._note_ids), len(self._note_cues)
        for slot, (note, _) in enumerate(rows, start):
            versions = self._note_slots.setdefault(note.note_id, {})
            if note.version in versions:
                self._remove_note(versions[note.version])
            versions[note.version] = slot
            first = done + len(pairs)
            pairs += self._cues.mention(slot, note.cues)
            self._cues_of_note.append(range(first, done + len(pairs)))
            sources += [(slot, unit) for span in note.sources for unit in self._turns.units_in(span)]
            named = dict.fromkeys(span.turn_id for span in note.sources)
            rests += [(slot, self._turns.slot[turn_id]) for turn_id in named if turn_id in self._turns.slot]
        self._note_ids += [note.note_id for note, _ in rows]
        self._note_text += [note.text for note, _ in rows]
        self._note_about += [note.about for note, _ in rows]
        self._note_alive.extend([note.status not in _WITHDRAWN for note, _ in rows])
        self._note_current.extend([note.status == "current" for note, _ in rows])
        self._note_given.extend([note.given_id is not None for note, _ in rows])
        self._note_vectors.extend(self._stacked([vector for _, vector in rows]))
        self._note_cues.extend(pairs)
        self._sources.extend(sources)
        self._rests.extend(rests)
        current = [note for note, _ in rows if note.status == "current"]
        documents = iter(self._note_words.add_all([tuple(terms(note.text)) for note in current]).tolist())
        self._note_document.extend([next(documents) if note.status == "current" else -1 for note, _ in rows])

    def _remove_note(self, slot: int) -> None:
        self._note_alive.view[slot] = False
        self._note_vectors.view[slot] = 0
        self._note_text[slot] = self._note_about[slot] = ""
        if (document := int(self._note_document.view[slot])) >= 0:
            self._note_words.remove(document)
            self._note_document.view[slot] = -1
        rows = self._cues_of_note[slot]
        self._cues.release(self._note_cues.view[rows.start : rows.stop, 1])
        self._forget_matrices()

    def _snapshot(self) -> Graph:
        turns = self._turns
        mentions, frequency = self._matrices()
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
            note_about=self._note_about,
            note_alive=self._note_alive.view,
            note_current=self._note_current.view,
            note_given=self._note_given.view,
            note_vectors=self._note_vectors.view,
            note_words=self._note_words,
            note_document=self._note_document.view,
            source_note=self._sources.view[:, 0],
            source_unit=self._sources.view[:, 1],
            rest_note=self._rests.view[:, 0],
            rest_turn=self._rests.view[:, 1],
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

    # the sparse matrices -------------------------------------------------------------------------------

    def _forget_matrices(self) -> None:
        """Something in them is not there any more."""
        self._by_unit, self._by_note, self._by_trace = Incidence(), Incidence(), Incidence()
        self._pairs_done = self._note_pairs_done = 0

    def _matrices(self) -> tuple[Sparse, Sparse]:
        """``mentions`` and ``frequency``, after adding what came since the last time."""
        turns, cues = self._turns, len(self._cues.keys)
        pairs = self._unit_cues.view[self._pairs_done :]
        pairs = pairs[turns.alive.view[turns.unit_turn.view[pairs[:, 0]]]]
        about = self._note_cues.view[self._note_pairs_done :]
        about = about[self._note_alive.view[about[:, 0]]]
        self._pairs_done, self._note_pairs_done = len(self._unit_cues), len(self._note_cues)
        self._by_unit.append(*_columns(pairs), height=len(turns.unit_turn), width=cues)
        self._by_note.append(*_columns(about), height=len(self._note_ids), width=cues)
        owner = turns.unit_trace.view[pairs[:, 0]]
        held = owner >= 0
        ones = np.ones(int(held.sum()))
        self._by_trace.append(owner[held], pairs[held, 1], ones, height=len(self._trace_ids), width=cues)
        mentions = Sparse((self._by_unit.block(), self._by_note.block()))
        return mentions, Sparse((self._by_trace.block(),))


def _columns(pairs: Ints) -> tuple[Ints, Ints, Doubles]:
    """(k, 3) owners, cues and counts."""
    return pairs[:, 0], pairs[:, 1], pairs[:, 2].astype(np.float64)
