"""One user's memory as arrays: what retrieval reads, and nothing it could write to.

HERO's graph (paper section 3.1): contexts (units, then notes) mention cues, traces hold units. A *slot* is a
position in an array; slots of removed things stay behind, marked dead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mnemic.algo import ppr, when
from mnemic.algo.bm25 import BM25
from mnemic.algo.signs import Codes
from mnemic.algo.sparse import Sparse
from mnemic.types import Episode, Interval, Metadata, Role

if TYPE_CHECKING:
    from mnemic.algo.episodes import Stretch

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Graph:
    """A snapshot. Vectors are float16 unit rows, as stored; a row of zeros stands for a vector that is missing.

    Attributes:
        turn_ids, turn_session, turn_role, turn_agent, turn_metadata: For each of n turns, in the order of the dialogue.
        turn_alive: (n,) False for a turn that was removed.
        turn_time: (n,) seconds since the epoch, NaN when unknown.
        turn_known: (n,) when it was recorded, likewise.
        turn_held: (n,) whether it is in quarantine.
        turn_speaker: (n,) into ``speakers``.
        turn_opens: (n,) whether a turn's words begin a conversation anew, as in ``algo.openings``.
        speakers: Names, as given.
        windows: The BM25 index; a document is a turn, or a piece of a long one, with the turn or piece before it.
        unit_window: (u,) the document that each unit stands in.
        unit_asks: (u,) whether a unit is a question.
        unit_turn, unit_start, unit_end, unit_trace: (u,) where each unit stands; -1 for a removed trace.
        unit_vectors: (u, dim).
        unit_codes: Their sign codes, as in ``algo.signs``; empty where there are none.
        units_without_vector: (u,) units whose vector is missing, those of removed turns among them.
        trace_ids: For each of t traces.
        trace_alive, trace_ordinal: (t,).
        trace_vectors: (t, dim).
        traces_without_vector: (t,) as of units.
        span_trace, span_turn, span_start, span_end: (s,) of all traces, in order within each trace.
        phrase_turn: (p,); phrase_start, phrase_end: seconds since the epoch, -inf or inf where open.
        note_ids, note_text, note_about: For each of m notes.
        note_alive, note_current: (m,).
        note_given: (m,) whether somebody else wrote it: its words are not those of its sources.
        note_vectors: (m, dim).
        note_words: The BM25 index of the living current notes; note_document: (m,) a note's number there, or -1.
        source_note, source_unit: (k,) which unit a note rests on.
        rest_note, rest_turn: (r,) which turn a note rests on, with or without a unit.
        cue_keys: For each of c cues.
        cue_surfaces: Each as somebody wrote it.
        cue_slot: The reverse.
        cue_vectors: (c, dim).
        cue_codes: Their sign codes.
        mentions: (u + m, c), counts of the mentions by units and then notes.
        frequency: (t, c), f(c, t): in how many units of a trace a cue occurs.
        episodes: Those that a model made, by id.
        cuts: Session -> its episodes, as far as ``algo.episodes`` worked them out already.
    """

    turn_ids: Sequence[str]
    turn_session: Sequence[str]
    turn_role: Sequence[Role]
    turn_agent: Sequence[str | None]
    turn_metadata: Sequence[Metadata]
    turn_alive: Mask
    turn_time: Doubles
    turn_known: Doubles
    turn_held: Mask
    turn_speaker: Ints
    turn_opens: Mask
    speakers: Sequence[str]
    windows: BM25
    unit_turn: Ints
    unit_start: Ints
    unit_end: Ints
    unit_trace: Ints
    unit_window: Ints
    unit_asks: Mask
    unit_vectors: Floats
    unit_codes: Codes
    units_without_vector: Mask
    trace_ids: Sequence[str]
    trace_alive: Mask
    trace_ordinal: Ints
    trace_vectors: Floats
    traces_without_vector: Mask
    span_trace: Ints
    span_turn: Ints
    span_start: Ints
    span_end: Ints
    phrase_turn: Ints
    phrase_start: Doubles
    phrase_end: Doubles
    note_ids: Sequence[str]
    note_text: Sequence[str]
    note_about: Sequence[str]
    note_alive: Mask
    note_current: Mask
    note_given: Mask
    note_vectors: Floats
    note_words: BM25
    note_document: Ints
    source_note: Ints
    source_unit: Ints
    rest_note: Ints
    rest_turn: Ints
    cue_keys: Sequence[str]
    cue_surfaces: Sequence[str]
    cue_slot: Mapping[str, int]
    cue_vectors: Floats
    cue_codes: Codes
    mentions: Sparse
    frequency: Sparse
    episodes: Mapping[str, Episode]
    cuts: dict[str, tuple[Stretch, ...]]

    @property
    def dim(self) -> int:
        """Length of a vector; 0 when there are none."""
        return self.unit_vectors.shape[1]

    @cached_property
    def is_complete(self) -> bool:
        """Whether every living unit and trace has its vector."""
        waiting = self.units_without_vector & self.turn_alive[self.unit_turn]
        return not (waiting.any() or np.any(self.traces_without_vector & self.trace_alive))

    @cached_property
    def living(self) -> tuple[Mask, Mask]:
        """The units of living turns, and the living traces that hold such turns."""
        return self.holding(self.turn_alive)

    def holding(self, turns: Mask) -> tuple[Mask, Mask]:
        """(u,) the units of some turns, (n,), and (t,) the living traces with at least one of these."""
        traces = np.zeros(len(self.trace_ids), np.bool_)
        traces[self.span_trace[turns[self.span_turn]]] = True
        return turns[self.unit_turn], traces & self.trace_alive

    @cached_property
    def is_repacked(self) -> bool:
        """Whether some units have no trace any more."""
        return bool(np.any(self.unit_trace < 0))

    @cached_property
    def walk(self) -> ppr.Walk:
        """The undirected graph of all living traces and their cues, as ``ppr.pagerank`` takes it."""
        return ppr.Walk(self.frequency, self.chain)

    @cached_property
    def sessions(self) -> dict[str, Ints]:
        """Session -> its living turns, in the order of the dialogue."""
        found: dict[str, list[int]] = {}
        for slot in np.flatnonzero(self.turn_alive).tolist():
            found.setdefault(self.turn_session[slot], []).append(slot)
        return {session: np.array(slots, np.int64) for session, slots in found.items()}

    def turn_between(self, passing: Mask) -> tuple[Doubles, Doubles]:
        """(n,) the earliest and (n,) the latest moment at which each turn was said, as ``when.between`` says.

        Args:
            passing: (n,) the turns that are looked at: no other lends its date.
        """
        low, high = self.turn_time.copy(), self.turn_time.copy()
        unknown = np.isnan(self.turn_time) & passing
        if not unknown.any() or bool(np.all(unknown == passing)):
            return low, high
        for session in {self.turn_session[slot] for slot in np.flatnonzero(unknown).tolist()}:
            slots = self.sessions[session]
            slots = slots[passing[slots]]
            low[slots], high[slots] = when.between(self.turn_time[slots])
        return low, high

    def around(self, turn_id: str, session: str, passing: Mask) -> Interval | None:
        """When a turn without a date was said, by the dated turns around it that pass; None where nothing tells."""
        slots = self.sessions.get(session, np.zeros(0, np.int64))
        slots = slots[passing[slots]]
        low, high = when.between(self.turn_time[slots])
        for place, slot in enumerate(slots.tolist()):
            if self.turn_ids[slot] == turn_id and not np.isnan(low[place]):
                ends = (datetime.fromtimestamp(float(end[place]), UTC) for end in (low, high))
                return Interval(*ends)
        return None

    @cached_property
    def trace_session(self) -> Ints:
        """(t,) the same number for all traces of one session."""
        first = np.zeros(len(self.trace_ids), np.int64)
        first[self.span_trace[::-1]] = self.span_turn[::-1]
        numbers: dict[str, int] = {}
        return np.array([numbers.setdefault(self.turn_session[turn], turn) for turn in first.tolist()], np.int64)

    @cached_property
    def chain(self) -> Ints:
        """(living traces,) the living traces in the order of the dialogue."""
        alive = np.flatnonzero(self.trace_alive)
        ordinal = self.trace_ordinal[alive]
        return alive if np.all(ordinal[:-1] <= ordinal[1:]) else alive[np.argsort(ordinal, kind="stable")]
