"""The log made whole after an erasure: played again it gives what the rows say, of every version that is left."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import select

from mnemic.algo.replay import replay, turned
from mnemic.store.adding import Adding, LogEntry
from mnemic.store.encodings import interval
from mnemic.store.ids import public_id
from mnemic.store.log import log_of
from mnemic.store.read import rows_with
from mnemic.store.tables import notes


def log_standing(adding: Adding, numbers: Collection[int], trigger: str) -> None:
    """Write an entry for each version of some notes that stands otherwise than the entries which are left say.

    With the words that a version rested on their entries go, too: what they did to other versions stays in the rows.
    """
    if not numbers:
        return
    query = select(notes).where(notes.c.user_id == adding.user_id)
    rows = rows_with(adding.connection, query, notes.c.note, numbers)
    standings = replay(log_of(adding.connection, adding.user_id, numbers))
    entries: list[LogEntry] = []
    for row in sorted(rows, key=lambda row: (row.note, row.version)):
        now = (row.status, interval(row.from_at, row.from_offset, row.until_at, row.until_offset))
        known = standings.get((public_id("N", row.note), row.version))
        if known is None or (known.status, known.valid) == now:
            continue
        entries.append(
            LogEntry(
                action="UPDATE",
                target_id=public_id("N", row.note),
                version=row.version,
                trigger=trigger,
                before=row.text,
                after=row.text,
                detail=turned((known.status, known.valid), now),
            )
        )
    adding.log(entries)
