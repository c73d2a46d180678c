"""Erasing: turns with all that hangs off them, and whole users."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, bindparam, delete, select, update

from mnemic.errors import StoreConflict
from mnemic.protocols import Batch
from mnemic.store import episodes, reinstate, users
from mnemic.store.bulk import insert_rows
from mnemic.store.ids import number_of, pieces, public_id
from mnemic.store.read import numbers_of_turns, rows_with
from mnemic.store.service_rows import forget_replies
from mnemic.store.tables import (
    cues,
    note_confirmations,
    note_cues,
    note_sources,
    notes,
    operations,
    removals,
    request_turns,
    requests,
    trace_spans,
    traces,
    turns,
    unit_cues,
)
from mnemic.store.vectors import bump, finish
from mnemic.store.work import again, forget_reasons

Version = tuple[int, int]
"""(note, version)."""

_PIECE = 5_000
"""Turns of a user that are erased by one statement."""
_CURRENT = notes.c.status == "current"


@dataclass(frozen=True, slots=True)
class Removing:
    """The removals of one batch.

    Attributes:
        touched: Numbers of the notes of which some version, or its standing, is not what it was.
    """

    connection: Connection
    user_id: str
    revision: int
    touched: set[int] = field(default_factory=set[int])

    def apply(self, batch: Batch) -> set[int]:
        """Erase what the batch says; returns the cues that may have lost their last mention.

        Raises:
            StoreConflict: A turn or trace is gone already, or another trace rests on one of the turns.
        """
        seqs = self._turns_to_remove(batch.remove_turns)
        if seqs:
            forget_replies(self.connection, self.user_id)
        numbers = self._traces_to_remove(batch.remove_traces, seqs)
        episodes.remove(self.connection, self.user_id, self.revision, batch.remove_episodes)
        episodes.remove_with(self.connection, self.user_id, self.revision, seqs)
        doomed = self._notes_resting_on(seqs)
        mentioned = self._cues_of(seqs, doomed)
        self._remove_notes(doomed)
        self._remove_traces(numbers)
        self._remove_turns(seqs, batch.remove_turns)
        return mentioned

    def drop_unmentioned(self, candidates: Collection[int]) -> None:
        """Erase those of the cues that neither a unit nor a note mentions any more."""
        query = select(cues.c.cue, cues.c.key).where(
            cues.c.user_id == self.user_id,
            *(
                ~select(table.c.cue).where(table.c.user_id == cues.c.user_id, table.c.cue == cues.c.cue).exists()
                for table in (unit_cues, note_cues)
            ),
        )
        gone = rows_with(self.connection, query, cues.c.cue, candidates)
        self._delete(cues, cues.c.cue, (row.cue for row in gone))
        finish(self.connection, self.user_id, (row.key for row in gone))

    # what is concerned ---------------------------------------------------------------------------------

    def _turns_to_remove(self, turn_ids: Collection[str]) -> list[int]:
        known = numbers_of_turns(self.connection, self.user_id, turn_ids)
        gone = [turn_id for turn_id in turn_ids if turn_id not in known]
        if gone:
            raise StoreConflict(f"turn {gone[0]!r} is gone already; plan the erasure again")
        return sorted(known.values())

    def _traces_to_remove(self, trace_ids: Collection[str], seqs: Collection[int]) -> list[int]:
        query = select(traces.c.trace).where(traces.c.user_id == self.user_id)
        named = {trace_id: number_of("T", trace_id) for trace_id in trace_ids}
        wanted = [number for number in named.values() if number is not None]
        known = {row.trace for row in rows_with(self.connection, query, traces.c.trace, wanted)}
        gone = [trace_id for trace_id, number in named.items() if number not in known]
        if gone:
            raise StoreConflict(f"trace {gone[0]!r} is gone already; plan the erasure again")
        holding = select(trace_spans.c.trace).where(trace_spans.c.user_id == self.user_id).distinct()
        left = {row.trace for row in rows_with(self.connection, holding, trace_spans.c.seq, seqs)} - known
        if left:
            raise StoreConflict(f"trace {public_id('T', min(left))} holds erased words; plan the erasure again")
        return sorted(known)

    def _notes_resting_on(self, seqs: Collection[int]) -> list[Version]:
        """Versions of notes with a source in these turns.

        Other sources do not keep a note: which of its words it has from which of them, nobody can tell.
        """
        version = (note_sources.c.note, note_sources.c.version)
        query = select(*version).where(note_sources.c.user_id == self.user_id)
        return sorted({tuple(row) for row in rows_with(self.connection, query, note_sources.c.seq, seqs)})

    def _cues_of(self, seqs: Collection[int], doomed: Collection[Version]) -> set[int]:
        of_units = select(unit_cues.c.cue).where(unit_cues.c.user_id == self.user_id).distinct()
        of_notes = select(note_cues.c.cue).where(note_cues.c.user_id == self.user_id).distinct()
        rows = rows_with(self.connection, of_units, unit_cues.c.seq, seqs)
        rows += rows_with(self.connection, of_notes, note_cues.c.note, (note for note, _ in doomed))
        return {row.cue for row in rows}

    # the erasing ---------------------------------------------------------------------------------------

    def _remove_notes(self, doomed: Collection[Version]) -> None:
        """Erase versions, their log entries, and their words in the entries of the versions after them."""
        if not doomed:
            return
        numbers = sorted({note for note, _ in doomed})
        mine = select(notes.c.note, notes.c.version).where(notes.c.user_id == self.user_id)
        counted = {tuple(row) for row in rows_with(self.connection, mine.where(_CURRENT), notes.c.note, numbers)}
        versions = [{"the_note": note, "the_version": version} for note, version in doomed]
        self._read_again(counted & set(doomed))
        heirs = reinstate.heirs(self.connection, self.user_id, {public_id("N", note) for note, _ in doomed})
        self.connection.execute(delete(notes).where(*self._version), versions)
        entries = [{"the_target": public_id("N", note), "the_version": version} for note, version in doomed]
        about = (operations.c.user_id == self.user_id, operations.c.target_id == bindparam("the_target"))
        made = operations.c.version == bindparam("the_version")
        self.connection.execute(delete(operations).where(*about, made), entries)
        replaced = operations.c.version == bindparam("the_version") + 1
        # Where the text stayed the same, the words before are those of the version that stays.
        replaced &= operations.c.before.is_distinct_from(operations.c.after)
        self.connection.execute(update(operations).where(*about, replaced).values(before=None), entries)
        self._log("note", numbers)
        self._settle(numbers, {note for note, _ in counted & set(doomed)}, heirs)

    def _read_again(self, versions: Collection[Version]) -> None:
        """Have the other turns that bore these out, or said the same again, read again: else what they say is lost."""
        held: set[int] = set()
        numbers = {note for note, _ in versions}
        for table in (note_sources, note_confirmations):
            query = (
                select(table.c.note, table.c.version, trace_spans.c.trace)
                .join(trace_spans, (trace_spans.c.user_id == table.c.user_id) & (trace_spans.c.seq == table.c.seq))
                .where(table.c.user_id == self.user_id)
            )
            found = rows_with(self.connection, query, table.c.note, numbers)
            held |= {row.trace for row in found if (row.note, row.version) in versions}
        again(self.connection, self.user_id, held, "notes")

    def _settle(self, numbers: Collection[int], uncounted: Collection[int], heirs: Mapping[str, str]) -> None:
        """Let what is left of these notes come again.

        Of those whose current version is gone, the last one that ever counted counts again if it was only superseded.
        """
        query = select(notes.c.note, notes.c.version, notes.c.status).where(notes.c.user_id == self.user_id)
        left = rows_with(self.connection, query, notes.c.note, numbers)
        bump(self.connection, self.user_id, self.revision, notes, ("note", "version"), [tuple(row[:2]) for row in left])
        lost = set(numbers) - {row.note for row in left}
        gone, counted = ({public_id("N", note) for note in its} for its in (lost, lost & {*uncounted}))
        finish(self.connection, self.user_id, gone)
        back = reinstate.reinstate(self.connection, self.user_id, self.revision, gone, counted, heirs)
        self.touched.update(numbers, back)
        ever = [row for row in left if row.note in uncounted and row.status not in ("proposed", "unsupported")]
        last = {row.note: row for row in sorted(ever, key=lambda row: row.version)}
        again = [
            {"the_note": row.note, "the_version": row.version} for row in last.values() if row.status == "superseded"
        ]
        if again:
            self.connection.execute(update(notes).where(*self._version).values(status="current"), again)

    @property
    def _version(self) -> tuple[ColumnElement[bool], ...]:
        mine = notes.c.user_id == self.user_id
        return mine, notes.c.note == bindparam("the_note"), notes.c.version == bindparam("the_version")

    def _remove_traces(self, numbers: Collection[int]) -> None:
        forget_reasons(self.connection, self.user_id, numbers)
        self._delete(traces, traces.c.trace, numbers)
        finish(self.connection, self.user_id, (public_id("T", number) for number in numbers))
        self._log("trace", numbers)

    def _remove_turns(self, seqs: Collection[int], turn_ids: Collection[str]) -> None:
        query = select(request_turns.c.request).where(request_turns.c.user_id == self.user_id).distinct()
        named = [row.request for row in rows_with(self.connection, query, request_turns.c.seq, seqs)]
        self._delete(turns, turns.c.seq, seqs)
        self._delete_empty_requests(named)
        finish(self.connection, self.user_id, turn_ids)
        about = (operations.c.user_id == self.user_id, operations.c.version.is_(None))
        for piece in pieces(turn_ids):
            self.connection.execute(delete(operations).where(*about, operations.c.target_id.in_(piece)))
        self._log("turn", seqs)

    def _delete_empty_requests(self, numbers: Iterable[int]) -> None:
        names_nobody = ~(
            select(request_turns.c.request)
            .where(request_turns.c.user_id == requests.c.user_id, request_turns.c.request == requests.c.request)
            .exists()
        )
        self._delete(requests, requests.c.request, numbers, names_nobody)

    def _delete(
        self, table: Table, column: ColumnElement[int], numbers: Iterable[int], *conditions: ColumnElement[bool]
    ) -> None:
        for piece in pieces(numbers):
            mine = table.c.user_id == self.user_id
            self.connection.execute(delete(table).where(mine, column.in_(piece), *conditions))

    def _log(self, kind: str, numbers: Iterable[int]) -> None:
        rows: list[dict[str, Any]] = [
            {"user_id": self.user_id, "revision": self.revision, "kind": kind, "number": number} for number in numbers
        ]
        if rows:
            insert_rows(self.connection, removals, rows)


def remove_user(connection: Connection, user_id: str) -> None:
    """Erase everything of a user."""
    # What mentions cues goes first; the rest follows its user.
    found = users.counters(connection, user_id) or users.Counters()
    # Piece by piece: PostgreSQL cascades row by row, and ends a statement that takes minutes.
    for first in range(0, found.next_seq, _PIECE):
        mine = (turns.c.user_id == user_id, turns.c.seq >= first, turns.c.seq < first + _PIECE)
        connection.execute(delete(turns).where(*mine))
    connection.execute(delete(notes).where(notes.c.user_id == user_id))
    forget_replies(connection, user_id)
    users.depart(connection, user_id)
