"""Versions of notes that stay, word for word, but count otherwise from now on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Connection, delete, select, update

from mnemic.algo.replay import turned
from mnemic.errors import StoreConflict
from mnemic.protocols import BY_NOTE, Batch, Held
from mnemic.store.adding import Adding, LogEntry
from mnemic.store.encodings import interval, interval_columns
from mnemic.store.ids import number_of, public_id
from mnemic.store.tables import notes, proposals
from mnemic.types import Note


def apply(adding: Adding, batch: Batch) -> None:
    """Give versions another status and validity, and log it.

    Raises:
        StoreConflict: One is gone, or is not as it was.
    """
    entries: list[LogEntry] = []
    for state in batch.states:
        mine = (
            notes.c.user_id == adding.user_id,
            notes.c.note == number_of("N", state.note_id),
            notes.c.version == state.version,
        )
        row = adding.connection.execute(select(notes).where(*mine)).one_or_none()
        seen = row and (row.status, interval(row.from_at, row.from_offset, row.until_at, row.until_offset))
        if row is None or seen != state.before:
            raise StoreConflict(f"note {state.note_id!r} of user {adding.user_id!r} has changed; plan the write again")
        status, valid = state.after
        values = {"status": status, **interval_columns(valid), "revision": adding.counters.revision}
        adding.connection.execute(update(notes).where(*mine).values(values))
        entries.append(
            LogEntry(
                action=state.action,
                target_id=state.note_id,
                version=state.version,
                trigger=batch.trigger,
                before=row.text,
                after=row.text,
                detail={
                    **turned(state.before, state.after),
                    **({} if state.by is None else {BY_NOTE: _upcoming(adding, batch.notes, state.by)}),
                    **state.detail,
                },
            )
        )
    adding.log(entries)


def settle(connection: Connection, user_id: str, versions: Iterable[tuple[str, int]]) -> None:
    """Let notes wait for a person no more. Raises StoreConflict where one does not wait."""
    for note_id, version in versions:
        mine = (proposals.c.user_id == user_id, proposals.c.note == number_of("N", note_id))
        if connection.execute(delete(proposals).where(*mine, proposals.c.version == version)).rowcount == 0:
            raise StoreConflict(f"note {note_id!r} of user {user_id!r} waits for nobody any more")


def hold(adding: Adding, waiting: Mapping[tuple[str, int], Held]) -> None:
    """Let notes wait for a person again. Raises StoreConflict where one waits already."""
    rows = [
        {
            "note": number_of("N", note_id),
            "version": version,
            "relation": held.relation,
            "target": None if held.target_id is None else number_of("N", held.target_id),
        }
        for (note_id, version), held in waiting.items()
    ]
    for row in rows:
        mine = (proposals.c.user_id == adding.user_id, proposals.c.note == row["note"])
        query = select(proposals.c.note).where(*mine, proposals.c.version == row["version"])
        if adding.connection.execute(query).one_or_none():
            raise StoreConflict(f"a note of user {adding.user_id!r} waits for a person already")
    adding.put(proposals, rows)


def _upcoming(adding: Adding, new: Sequence[Note], place: int) -> str:
    """The id that one of the batch's notes has or will get."""
    before = sum(not note.note_id for note in new[:place])
    return new[place].note_id or public_id("N", adding.counters.next_note + before)
