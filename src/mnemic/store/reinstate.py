"""Erasing a note that took another's place: then the other one counts again, as if the first had never been made."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import Connection, delete, select, update

from mnemic.algo.replay import ends
from mnemic.protocols import BY_NOTE
from mnemic.store.encodings import interval, interval_columns
from mnemic.store.ids import number_of, numbers_of, pieces
from mnemic.store.tables import notes, operation_details, operations


def heirs(connection: Connection, user_id: str, note_ids: Collection[str]) -> dict[str, str]:
    """Of notes that gave way: the note that each gave way to last; read before what is erased is erased."""
    return {row.target_id: row.detail[BY_NOTE] for row in _expired(connection, user_id) if row.target_id in note_ids}


def reinstate(
    connection: Connection,
    user_id: str,
    revision: int,
    gone: Collection[str],
    counted: Collection[str],
    heirs: Mapping[str, str],
) -> set[int]:
    """Let what gave way to some notes count again, where nothing has changed it since; the numbers of these notes.

    What gave way to a note that had given way itself, gives way to the last one of these that is left.

    Args:
        connection: Inside the erasing transaction.
        user_id: Whose.
        revision: Of this write.
        gone: Ids of notes of which no version is left.
        counted: Those that counted until now.
        heirs: What ``heirs`` told of those gone.
    """
    undone: list[int] = []
    concerned: set[int] = set()
    for row in _expired(connection, user_id):
        if row.detail[BY_NOTE] not in gone:
            continue
        last = _last(row.detail[BY_NOTE], gone, heirs)
        if last in counted:
            # When the other one began to hold goes with it, too.
            undone.append(row.operation)
            concerned.update(numbers_of("N", [row.target_id]))
            _turn_back(connection, user_id, revision, row.target_id, row.version, row.detail)
        elif last not in gone:
            mine = (operation_details.c.user_id == user_id, operation_details.c.operation == row.operation)
            connection.execute(update(operation_details).where(*mine).values(detail={**row.detail, BY_NOTE: last}))
    for piece in pieces(undone):
        mine = (operations.c.user_id == user_id, operations.c.operation.in_(piece))
        connection.execute(delete(operations).where(*mine))
    return concerned


def _last(note_id: str, gone: Collection[str], heirs: Mapping[str, str]) -> str:
    """The end of the chain in which each note gave way to the next, as far as these are gone."""
    seen = {note_id}
    while note_id in gone and heirs.get(note_id, note_id) not in seen:
        note_id = heirs[note_id]
        seen.add(note_id)
    return note_id


def _expired(connection: Connection, user_id: str) -> list[Any]:
    """The log's entries on notes that gave way to others, oldest first."""
    query = (
        select(operations.c.operation, operations.c.target_id, operations.c.version, operation_details.c.detail)
        .join(
            operation_details,
            (operation_details.c.user_id == operations.c.user_id)
            & (operation_details.c.operation == operations.c.operation),
        )
        .where(operations.c.user_id == user_id, operations.c.action == "EXPIRE")
        .order_by(operations.c.operation)
    )
    return [row for row in connection.execute(query).all() if BY_NOTE in row.detail]


def _turn_back(
    connection: Connection, user_id: str, revision: int, note_id: str, version: int, detail: dict[str, Any]
) -> None:
    mine = (notes.c.user_id == user_id, notes.c.note == number_of("N", note_id))
    rows = {row.version: row for row in connection.execute(select(notes).where(*mine))}
    row = rows.get(version)
    (before, after), (former, given) = detail["status"], detail["valid"]
    counts = any(one.status == "current" for one in rows.values())
    if row is None or counts or row.status != after:
        return
    if interval(row.from_at, row.from_offset, row.until_at, row.until_offset) != ends(given):
        return
    values = {"status": before, **interval_columns(ends(former)), "revision": revision}
    connection.execute(update(notes).where(*mine, notes.c.version == version).values(values))
