"""Erasing a note that took another's place: then the other one counts again, as if the first had never been made."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, delete, select, update

from mnemic.algo.replay import ends
from mnemic.protocols import BY_NOTE
from mnemic.store.encodings import interval, interval_columns
from mnemic.store.ids import number_of, numbers_of, pieces
from mnemic.store.tables import notes, operation_details, operations


def reinstate(connection: Connection, user_id: str, revision: int, gone: Collection[str]) -> set[int]:
    """Let what gave way to some notes count again, where nothing has changed it since; the numbers of these notes.

    Args:
        connection: Inside the erasing transaction.
        user_id: Whose.
        revision: Of this write.
        gone: Ids of notes that counted until now, and of which no version is left.
    """
    query = (
        select(operations.c.operation, operations.c.target_id, operations.c.version, operation_details.c.detail)
        .join(
            operation_details,
            (operation_details.c.user_id == operations.c.user_id)
            & (operation_details.c.operation == operations.c.operation),
        )
        .where(operations.c.user_id == user_id, operations.c.action == "EXPIRE")
    )
    undone: list[int] = []
    concerned: set[int] = set()
    for row in connection.execute(query).all():
        if row.detail.get(BY_NOTE) in gone:
            # When the other one began to hold goes with it, too.
            undone.append(row.operation)
            concerned.update(numbers_of("N", [row.target_id]))
            _turn_back(connection, user_id, revision, row.target_id, row.version, row.detail)
    for piece in pieces(undone):
        mine = (operations.c.user_id == user_id, operations.c.operation.in_(piece))
        connection.execute(delete(operations).where(*mine))
    return concerned


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
