"""The turns of one user as growing columns, with what hangs off a single turn: units, time phrases, BM25 document."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from mnemic.algo.arrays import Rows
from mnemic.algo.lexical import BM25, terms
from mnemic.algo.openings import opens
from mnemic.algo.sentences import asks
from mnemic.index.vectors import Vectors
from mnemic.types import Metadata, Role, Span, Turn, Unit

if TYPE_CHECKING:
    from mnemic.protocols import TurnRow

_PIECE = 1000
"""Characters of a lexical window's own piece; chat turns are shorter, and whole."""


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
        self.units: list[range] = []
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
        self.unit_vectors = Vectors(dim)
        self.phrase_turn = Rows(np.int64)
        self.phrase_start = Rows(np.float64)
        self.phrase_end = Rows(np.float64)
        self._dim = dim
        self._by_seq: dict[int, int] = {}
        self._first_terms: list[tuple[str, ...]] = []
        self._last_terms: list[tuple[str, ...]] = []
        self._before: list[int] = []
        self._after: list[int] = []
        self._last_of: dict[tuple[str, str | None], int] = {}
        self._speaker_slot: dict[str, int] = {}
        self._said: list[int] = []

    @property
    def nbytes(self) -> int:
        """Bytes held, roughly."""
        arrays = (self.unit_vectors, self.unit_turn, self.unit_start, self.unit_end, self.unit_trace, self.phrase_turn)
        return sum(rows.nbytes for rows in arrays) + self.windows.nbytes + 600 * len(self.ids)

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
                self.unit_vectors.put(self.units[known].start, row.unit_vectors, len(self.units[known]))
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
        units = self.units[slot]
        for window in np.unique(self.unit_window.view[units.start : units.stop]):
            self.windows.remove(int(window))
        if after >= 0 and len(self.units[after]):
            self._renew_first_window(after)
        self._silence(int(self.speaker.view[slot]))
        del self.slot[self.ids[slot]]
        self.ids[slot] = self.session[slot] = ""
        self.agent[slot] = None
        self.metadata[slot] = {}
        self._first_terms[slot] = self._last_terms[slot] = ()
        self.unit_vectors.put(units.start, None, len(units))
        return slot

    def units_in(self, span: Span) -> list[int]:
        """The units that overlap a span; none when its turn is gone."""
        slot = self.slot.get(span.turn_id)
        if slot is None:
            return []
        units = self.units[slot]
        first = np.searchsorted(self.unit_end.view[units.start : units.stop], span.start, "right")
        stop = np.searchsorted(self.unit_start.view[units.start : units.stop], span.end, "left")
        return list(units[int(first) : int(stop)])

    def _name(self, turn: Turn) -> int:
        """Give a new turn its slot and what is not an array."""
        slot = len(self.ids)
        self.slot[turn.turn_id] = self._by_seq[turn.seq] = slot
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
        first = len(self.unit_turn)
        for _, row in new:
            self.units.append(range(first, first + len(row.units)))
            first += len(row.units)
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
        self._before.append(before)
        self._after.append(-1)
        if before >= 0:
            self._after[before] = slot
        self._last_of[self._conversation(slot)] = slot

    def _unlink(self, slot: int) -> int:
        """Join the neighbours of a turn; the slot of the one after it, or -1."""
        before, after = self._before[slot], self._after[slot]
        if before >= 0:
            self._after[before] = after
        if after >= 0:
            self._before[after] = before
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
        windows: list[tuple[str, ...]] = []
        sizes: list[int] = []
        for slot, row in new:
            text, units = row.turn.text, row.units
            pieces = _pieces(units)
            found = [tuple(terms(text[units[a].start : units[b - 1].end])) for a, b in pieces]
            self._first_terms.append(found[0] if found else ())
            self._last_terms.append(found[-1] if found else ())
            windows += [before + own for before, own in zip((self._terms_before(slot), *found), found, strict=False)]
            sizes += [b - a for a, b in pieces]
        self.unit_window.extend(np.repeat(self.windows.add_all(windows), sizes))

    def _renew_first_window(self, slot: int) -> None:
        """The turn before has changed."""
        units = self.units[slot]
        windows = self.unit_window.view[units.start : units.stop]
        old = int(windows[0])
        self.windows.remove(old)
        windows[windows == old] = self.windows.add(self._terms_before(slot) + self._first_terms[slot])

    def _terms_before(self, slot: int) -> tuple[str, ...]:
        before = self._before[slot]
        return self._last_terms[before] if before >= 0 else ()

    # speakers ------------------------------------------------------------------------------------------

    def _voice(self, turn: Turn) -> int:
        """The slot of who speaks."""
        slot = self._speaker_slot.setdefault(turn.speaker, len(self.speakers))
        if slot == len(self.speakers):
            self.speakers.append(turn.speaker)
            self._said.append(0)
        self._said[slot] += 1
        return slot

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
