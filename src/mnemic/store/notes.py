"""Notes and the log of what changed them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import Connection, and_, select

from mnemic.algo.replay import as_stood, replay
from mnemic.errors import InvalidInput
from mnemic.protocols import Held
from mnemic.store.encodings import interval, micros, moment
from mnemic.store.ids import number_of, numbers_of, public_id
from mnemic.store.read import by_name, rows_with
from mnemic.store.tables import (
    cues,
    given_notes,
    note_cues,
    note_sources,
    notes,
    operation_details,
    operations,
    proposals,
    turns,
)
from mnemic.store.testimony import testimony
from mnemic.types import Note, NoteStatus, Operation, Span

if TYPE_CHECKING:
    from mnemic.store.read import AnyRow, AnySelect

NOTE_COLUMNS = tuple(notes.c[name] for name in notes.c.keys() if name not in ("user_id", "revision"))  # noqa: SIM118 - a column collection is no dict


_ITS_DETAIL = (
    operation_details.c.user_id == operations.c.user_id,
    operation_details.c.operation == operations.c.operation,
)


def find_notes(
    connection: Connection,
    user_id: str,
    *,
    note_ids: Sequence[str] | None,
    given_ids: Sequence[str] | None,
    about: str | None,
    statuses: Collection[NoteStatus],
    after: str | None,
    limit: int | None,
    known_at: datetime | None = None,
) -> list[Note]:
    """Versions of notes that meet all criteria, by number, then version; as they stood at ``known_at``, if given.

    Raises:
        InvalidInput: ``after`` is no note_id.
    """
    query: AnySelect = select(*NOTE_COLUMNS).where(notes.c.user_id == user_id).order_by(notes.c.note, notes.c.version)
    if known_at is None:
        query = query.where(notes.c.status.in_(list(statuses)))
    else:
        query = query.where(notes.c.recorded_at <= micros(known_at))
    length, limit = limit, limit if known_at is None else None
    if about is not None:
        query = query.where(notes.c.about == about)
    if after is not None:
        last = number_of("N", after)
        if last is None:
            raise InvalidInput(f"{after!r} is not the id of a note")
        query = query.where(notes.c.note > last)
    numbers = None if note_ids is None else set(numbers_of("N", note_ids))
    if given_ids is not None:
        given = set(numbers_of_given(connection, user_id, given_ids).values())
        numbers = given if numbers is None else numbers & given
    if numbers is None:
        rows: Iterable[AnyRow] = connection.execute(query.limit(limit))
    else:
        found = rows_with(connection, query, notes.c.note, numbers)
        rows = sorted(found, key=lambda row: (row.note, row.version))[:limit]
    whole = whole_notes(connection, user_id, rows, known_at)
    if known_at is None:
        return whole
    ids = None if numbers is None else {note.note_id for note in whole}
    log = find_operations(connection, user_id, None, None) if ids is None else _on_notes(connection, user_id, ids)
    stood = as_stood(whole, replay(log, until=known_at, now=whole))
    return [note for note in stood if note.status in statuses][:length]


def _on_notes(connection: Connection, user_id: str, note_ids: Iterable[str]) -> list[Operation]:
    """The log of some notes, oldest first."""
    rows = rows_with(connection, _log(user_id), operations.c.target_id, note_ids)
    return [_operation(row) for row in sorted(rows, key=lambda row: row.operation)]


def log_of(connection: Connection, user_id: str, numbers: Iterable[int]) -> list[Operation]:
    """The log of some notes by their numbers, oldest first."""
    return _on_notes(connection, user_id, (public_id("N", number) for number in numbers))


def numbers_of_given(connection: Connection, user_id: str, given_ids: Iterable[str]) -> dict[str, int]:
    """Given id -> number of the notes that exist."""
    query = select(given_notes.c.given_id, given_notes.c.note).where(given_notes.c.user_id == user_id)
    query = by_name(query, given_notes)
    return {row.given_id: row.note for row in rows_with(connection, query, given_notes.c.given_id, given_ids)}


def whole_notes(
    connection: Connection, user_id: str, rows: Iterable[AnyRow], known_at: datetime | None = None
) -> list[Note]:
    """Notes with their sources and cues, in the order of the rows, from their ``NOTE_COLUMNS``.

    What was learnt later than ``known_at`` confirms nothing.
    """
    rows = list(rows)
    numbers = [row.note for row in rows]
    source_query = (
        select(
            note_sources.c.note,
            note_sources.c.version,
            turns.c.turn_id,
            note_sources.c.start,
            note_sources.c.stop,
        )
        .join(turns, (turns.c.user_id == note_sources.c.user_id) & (turns.c.seq == note_sources.c.seq))
        .where(note_sources.c.user_id == user_id)
        .order_by(note_sources.c.note, note_sources.c.version, note_sources.c.no)
    )
    sources: dict[tuple[int, int], list[Span]] = defaultdict(list)
    for row in rows_with(connection, source_query, note_sources.c.note, numbers):
        sources[row.note, row.version].append(Span(row.turn_id, row.start, row.stop))
    borne_out = testimony(connection, user_id, numbers, known_at)
    cue_query = (
        select(note_cues.c.note, note_cues.c.version, cues.c.key, note_cues.c.mentions)
        .join(cues, (cues.c.user_id == note_cues.c.user_id) & (cues.c.cue == note_cues.c.cue))
        .where(note_cues.c.user_id == user_id)
        .order_by(note_cues.c.cue)
    )
    mentioned: dict[tuple[int, int], dict[str, int]] = defaultdict(dict)
    for note, version, key, count in rows_with(connection, cue_query, note_cues.c.note, numbers):
        mentioned[note, version][key] = count
    given_query = select(given_notes.c.note, given_notes.c.version, given_notes.c.given_id)
    given_rows = rows_with(connection, given_query.where(given_notes.c.user_id == user_id), given_notes.c.note, numbers)
    given = {(row.note, row.version): row.given_id for row in given_rows}
    return [
        Note(
            note_id=public_id("N", row.note),
            version=row.version,
            kind=row.kind,
            about=row.about,
            text=row.text,
            valid=interval(row.from_at, row.from_offset, row.until_at, row.until_offset),
            sources=tuple(sources.get((row.note, row.version), ())),
            status=row.status,
            cues=mentioned.get((row.note, row.version), {}),
            recorded_at=moment(row.recorded_at),
            metadata=row.metadata or {},
            given_id=given.get((row.note, row.version)),
            last_confirmed=borne_out[row.note, row.version].last_confirmed,
            tier=borne_out[row.note, row.version].tier,
            corroboration=borne_out[row.note, row.version].corroboration,
        )
        for row in rows
    ]


def held(connection: Connection, user_id: str) -> dict[tuple[str, int], Held]:
    """(note_id, version) -> what a note that waits for a person asks for."""
    query = select(proposals).where(proposals.c.user_id == user_id)
    return {
        (public_id("N", row.note), row.version): Held(
            row.relation, None if row.target is None else public_id("N", row.target)
        )
        for row in connection.execute(query)
    }


def find_operations(
    connection: Connection, user_id: str, target_id: str | None, operation_ids: Sequence[str] | None
) -> list[Operation]:
    """The log, oldest first."""
    query = _log(user_id)
    if target_id is not None:
        query = query.where(operations.c.target_id == target_id)
    if operation_ids is None:
        rows: Iterable[AnyRow] = connection.execute(query)
    else:
        found = rows_with(connection, query, operations.c.operation, numbers_of("O", operation_ids))
        rows = sorted(found, key=lambda row: row.operation)
    return [_operation(row) for row in rows]


def _log(user_id: str) -> AnySelect:
    return (
        select(operations, operation_details.c.detail)
        .join(operation_details, and_(*_ITS_DETAIL), isouter=True)
        .where(operations.c.user_id == user_id)
        .order_by(operations.c.operation)
    )


def _operation(row: AnyRow) -> Operation:
    return Operation(
        operation_id=public_id("O", row.operation),
        at=moment(row.at),
        action=row.action,
        target_id=row.target_id,
        trigger=row.trigger,
        before=row.before,
        after=row.after,
        version=row.version,
        detail=row.detail or {},
    )
