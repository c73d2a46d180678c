"""The turns of one user as growing columns, with what hangs off a single turn: units, time phrases, BM25 document."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from mnemic.algo.arrays import Rows
from mnemic.algo.bm25 import BM25
from mnemic.algo.lexical import terms
from mnemic.algo.openings import opens
from mnemic.algo.sentences import asks
from mnemic.index import state
from mnemic.index.vectors import Vectors
from mnemic.types import Metadata, Role, Span, Turn, Unit

if TYPE_CHECKING:
    from mnemic.algo.graph import Ints
    from mnemic.protocols import TurnRow

_PIECE = 1000
"""Characters of a lexical window's own piece; chat turns are shorter, and whole."""

_WIDE: Final = 1 << 15
"""Units up to which all are compared with a question; of more, few are (``retrieve.matched``)."""

_ROWS: Final = (
    "first_unit", "alive", "time", "known", "held", "speaker", "opens", "unit_turn", "unit_start", "unit_end",
    "unit_trace", "unit_window", "unit_asks", "phrase_turn", "phrase_start", "phrase_end",
    "_seq", "_terms", "_first_terms", "_last_terms", "_before", "_after",
)  # fmt: skip


class Turns:
    """Columns by slot, as ``Graph`` names them, and how they change."""

    def __init__(self, dim: int) -> None:
        self.slot: dict[str, int] = {}
        self.dead = 0
        self.ids: list[str] = []
        self.session: list[str] = []
        self.role: list[Role] = []
        self.agent: list[str | None] = []
        self.metadata: list[Metadata] = []
        self.first_unit = Rows(np.int64)  # of each turn, and of the next one to come
        self.first_unit.extend([0])
        self.alive = Rows(np.bool_)
        self.time = Rows(np.float64)
        self.known = Rows(np.float64)
        self.held = Rows(np.bool_)
        self.speaker = Rows(np.int64)
        self.opens = Rows(np.bool_)
        self.windows = BM25()
        self.speakers: list[str] = []
        self.unit_turn = Rows(np.int64)
        self.unit_start = Rows(np.int64)
        self.unit_end = Rows(np.int64)
        self.unit_trace = Rows(np.int64)
        self.unit_window = Rows(np.int64)
        self.unit_asks = Rows(np.bool_)
        self.unit_vectors = Vectors(dim, wide=_WIDE)
        self.phrase_turn = Rows(np.int64)
        self.phrase_start = Rows(np.float64)
        self.phrase_end = Rows(np.float64)
        self._dim = dim
        self._seq = Rows(np.int64)
        self._by_seq: dict[int, int] = {}
        # The terms of each turn by their numbers in ``windows``, and where those of its first and last piece are.
        self._terms = Rows(np.int32)
        self._first_terms = Rows(np.int64, 2)
        self._last_terms = Rows(np.int64, 2)
        self._before = Rows(np.int64)
        self._after = Rows(np.int64)
        self._last_of: dict[tuple[str, str | None], int] = {}
        self._speaker_slot: dict[str, int] = {}
        self._said: list[int] = []

    @property
    def nbytes(self) -> int:
        """Bytes held, roughly."""
        arrays = sum(getattr(self, name).nbytes for name in _ROWS)
        return arrays + self.unit_vectors.nbytes + self.windows.nbytes + 350 * len(self.ids)

    def put(self, rows: Sequence[TurnRow]) -> tuple[list[tuple[int, TurnRow]], list[tuple[int, TurnRow]]]:
        """Add turns; of known ones renew metadata and vectors. The new ones and the known ones, with their slots."""
        new: list[tuple[int, TurnRow]] = []
        old: list[tuple[int, TurnRow]] = []
        for row in rows:
            known = self.slot.get(row.turn.turn_id)
            if known is None:
                new.append((self._name(row.turn), row))
            else:
                self.metadata[known] = row.turn.metadata
                self.held.view[known] = _is_held(row.turn)
                units = self.units_of(known)
                self.unit_vectors.put(units.start, row.unit_vectors, len(units))
                old.append((known, row))
        if new:
            self._append_times(new)
            self._append_units(new)
            self._append_windows(new)
        return new, old

    def session_of(self, seq: int) -> str | None:
        """The session of a turn; None when it is not known."""
        slot = self._by_seq.get(seq)
        return None if slot is None else self.session[slot]

    def remove(self, seq: int) -> int | None:
        """Remove a turn, so that nothing of it stays readable; its slot, or None when it is not known."""
        slot = self._by_seq.pop(seq, None)
        if slot is None:
            return None
        self.alive.view[slot] = False
        self.dead += 1
        after = self._unlink(slot)
        units = self.units_of(slot)
        for window in np.unique(self.unit_window.view[units.start : units.stop]):
            self.windows.remove(int(window))
        if after >= 0 and len(self.units_of(after)):
            self._renew_first_window(after)
        self._silence(int(self.speaker.view[slot]))
        del self.slot[self.ids[slot]]
        self.ids[slot] = self.session[slot] = ""
        self.agent[slot] = None
        self.metadata[slot] = {}
        for ends in (self._first_terms, self._last_terms):
            start, stop = ends.view[slot]
            self._terms.view[start:stop] = ends.view[slot] = 0
        self.unit_vectors.put(units.start, None, len(units))
        return slot

    def units_in(self, span: Span) -> list[int]:
        """The units that overlap a span; none when its turn is gone."""
        slot = self.slot.get(span.turn_id)
        if slot is None:
            return []
        units = self.units_of(slot)
        first = np.searchsorted(self.unit_end.view[units.start : units.stop], span.start, "right")
        stop = np.searchsorted(self.unit_start.view[units.start : units.stop], span.end, "left")
        return list(units[int(first) : int(stop)])

    def units_of(self, slot: int) -> range:
        """The units of a turn."""
        first, stop = self.first_unit.view[slot : slot + 2].tolist()
        return range(first, stop)

    def _name(self, turn: Turn) -> int:
        """Give a new turn its slot and what is not an array."""
        slot = len(self.ids)
        self.slot[turn.turn_id] = self._by_seq[turn.seq] = slot
        self._seq.extend([turn.seq])
        self.ids.append(turn.turn_id)
        self.session.append(turn.session_id)
        self.role.append(turn.role)
        self.agent.append(turn.agent_id)
        self.metadata.append(turn.metadata)
        self._link(slot)
        return slot

    def _append_times(self, new: Sequence[tuple[int, TurnRow]]) -> None:
        self.alive.extend([True] * len(new))
        self.time.extend([_seconds(row.turn.timestamp, math.nan) for _, row in new])
        self.known.extend([_seconds(row.turn.recorded_at, math.nan) for _, row in new])
        self.held.extend([_is_held(row.turn) for _, row in new])
        self.speaker.extend([self._voice(row.turn) for _, row in new])
        self.opens.extend([opens(row.turn.text) for _, row in new])
        phrases = [(slot, phrase.interval) for slot, row in new for phrase in row.phrases]
        self.phrase_turn.extend([slot for slot, _ in phrases])
        self.phrase_start.extend([_seconds(interval.start, -math.inf) for _, interval in phrases])
        self.phrase_end.extend([_seconds(interval.end, math.inf) for _, interval in phrases])

    def _append_units(self, new: Sequence[tuple[int, TurnRow]]) -> None:
        self.first_unit.extend(len(self.unit_turn) + np.cumsum([len(row.units) for _, row in new]))
        units = [unit for _, row in new for unit in row.units]
        self.unit_turn.extend(np.repeat([slot for slot, _ in new], [len(row.units) for _, row in new]))
        self.unit_start.extend([unit.start for unit in units])
        self.unit_end.extend([unit.end for unit in units])
        self.unit_trace.extend(np.full(len(units), -1))
        self.unit_asks.extend([asks(row.turn.text[unit.start : unit.end]) for _, row in new for unit in row.units])
        nothing = np.zeros((max(len(row.units) for _, row in new), self._dim), np.float32)
        self.unit_vectors.extend_by(
            [nothing[: len(row.units)] if row.unit_vectors is None else row.unit_vectors for _, row in new]
        )

    # the chain of a session's turns --------------------------------------------------------------------

    def _link(self, slot: int) -> None:
        """Let a new turn follow the last one of its session."""
        before = self._last_of.get(self._conversation(slot), -1)
        self._before.extend([before])
        self._after.extend([-1])
        if before >= 0:
            self._after.view[before] = slot
        self._last_of[self._conversation(slot)] = slot

    def _unlink(self, slot: int) -> int:
        """Join the neighbours of a turn; the slot of the one after it, or -1."""
        before, after = int(self._before.view[slot]), int(self._after.view[slot])
        if before >= 0:
            self._after.view[before] = after
        if after >= 0:
            self._before.view[after] = before
        elif before >= 0:
            self._last_of[self._conversation(slot)] = before
        else:
            del self._last_of[self._conversation(slot)]
        return after

    def _conversation(self, slot: int) -> tuple[str, str | None]:
        """What a turn shares with the one before it: session and agent, as in traces."""
        return self.session[slot], self.agent[slot]

    # lexical windows -----------------------------------------------------------------------------------

    def _append_windows(self, new: Sequence[tuple[int, TurnRow]]) -> None:
        """A window for each piece of a turn: its terms together with those of the piece before it.

        A short turn is one piece. Before the first piece comes the last one of the turn before, in the same session
        and said to the same agent.
        """
        windows: list[Ints] = []
        sizes: list[int] = []
        for slot, row in new:
            text, units = row.turn.text, row.units
            pieces = _pieces(units)
            first = len(self._terms)
            ends = [(first, first)]
            for a, b in pieces:
                self._terms.extend(self.windows.numbered(terms(text[units[a].start : units[b - 1].end])))
                ends.append((ends[-1][1], len(self._terms)))
            self._first_terms.extend([ends[min(len(pieces), 1)]])
            self._last_terms.extend([ends[-1]])
            found = [self._terms.view[start:stop] for start, stop in ends[1:]]
            before = (self._terms_before(slot), *found)
            windows += [np.concatenate(both) for both in zip(before, found, strict=False)]
            sizes += [b - a for a, b in pieces]
        lengths = np.fromiter(map(len, windows), np.int64, len(windows))
        numbers = np.concatenate([np.zeros(0, np.int64), *windows])
        self.unit_window.extend(np.repeat(self.windows.add_numbered(numbers, lengths), sizes))

    def _renew_first_window(self, slot: int) -> None:
        """The turn before has changed."""
        units = self.units_of(slot)
        windows = self.unit_window.view[units.start : units.stop]
        old = int(windows[0])
        start, stop = self._first_terms.view[slot]
        terms = np.concatenate((self._terms_before(slot), self._terms.view[start:stop]))
        # Before the old one goes: a term that nothing holds any more loses its number.
        windows[windows == old] = self.windows.add_numbered(terms.astype(np.int64), np.array([len(terms)]))
        self.windows.remove(old)

    def _terms_before(self, slot: int) -> Ints:
        """The numbers of the terms of the last piece of the turn before."""
        before = self._before.view[slot]
        start, stop = self._last_terms.view[before] if before >= 0 else (0, 0)
        return self._terms.view[start:stop]

    # speakers ------------------------------------------------------------------------------------------

    def _voice(self, turn: Turn) -> int:
        """The slot of who speaks."""
        slot = self._speaker_slot.setdefault(turn.speaker, len(self.speakers))
        if slot == len(self.speakers):
            self.speakers.append(turn.speaker)
            self._said.append(0)
        self._said[slot] += 1
        return slot

    # snapshots -----------------------------------------------------------------------------------------

    def state(self) -> state.State:
        """What ``restored`` takes."""
        told = [[slot, metadata] for slot, metadata in enumerate(self.metadata) if metadata]
        return {
            **state.of_rows(self, _ROWS),
            **state.of_texts("ids", self.ids),
            **state.of_labels("session", self.session),
            **state.of_labels("role", self.role),
            **state.of_labels("agent", self.agent),
            **state.of_json("metadata", told),
            **state.of_texts("speakers", self.speakers),
            "said": np.array(self._said, np.int64),
            **state.of_texts("terms", self.windows.terms),
            **state.under("windows", self.windows.state()),
            **state.under("vectors", self.unit_vectors.state()),
        }

    @classmethod
    def restored(cls, dim: int, held: state.Held) -> Self:
        """Turns as they were. Raises KeyError or ValueError where they are damaged."""
        turns = cls(dim)
        state.put_rows(turns, _ROWS, held)
        turns.ids = state.texts("ids", held)
        turns.session, turns.role, turns.agent = (state.labels(name, held) for name in ("session", "role", "agent"))
        turns.metadata = [{} for _ in turns.ids]
        for slot, metadata in state.from_json("metadata", held):
            turns.metadata[slot] = metadata
        alive = np.flatnonzero(turns.alive.view).tolist()
        turns.dead = len(turns.ids) - len(alive)
        turns.slot = {turns.ids[slot]: slot for slot in alive}
        turns._by_seq = dict(zip(turns._seq.view[alive].tolist(), alive, strict=True))
        last = np.flatnonzero(turns.alive.view & (turns._after.view < 0)).tolist()
        turns._last_of = {turns._conversation(slot): slot for slot in last}
        turns.speakers, turns._said = state.texts("speakers", held), held["said"].view.tolist()
        turns._speaker_slot = {name: slot for slot, name in enumerate(turns.speakers) if turns._said[slot]}
        turns.windows.restore(state.texts("terms", held), state.of("windows", held))
        turns.unit_vectors = Vectors.restored(dim, state.of("vectors", held), wide=_WIDE)
        return turns

    def _silence(self, speaker: int) -> None:
        """One turn less; a name that nobody bears any more is forgotten."""
        self._said[speaker] -= 1
        if not self._said[speaker]:
            del self._speaker_slot[self.speakers[speaker]]
            self.speakers[speaker] = ""


def _pieces(units: Sequence[Unit]) -> list[tuple[int, int]]:
    """Ranges of units of about ``_PIECE`` characters each, so that a word in a long text is found where it stands."""
    pieces: list[tuple[int, int]] = []
    first = 0
    for last, unit in enumerate(units, 1):
        if last == len(units) or unit.end - units[first].start >= _PIECE:
            pieces.append((first, last))
            first = last
    return pieces


def _seconds(moment: datetime | None, unknown: float) -> float:
    return unknown if moment is None else moment.timestamp()


def _is_held(turn: Turn) -> bool:
    """Whether nothing may find it: it is in quarantine, and no person let it out."""
    return turn.quarantine in ("held", "discarded")
