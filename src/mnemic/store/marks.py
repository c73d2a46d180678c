"""Points in a user's history, for what is copied out of the rows and comes back to them later."""

from __future__ import annotations

from sqlalchemy import Connection, func, select

from mnemic.protocols import Mark
from mnemic.store import users
from mnemic.store.tables import operations, removals, turns


def mark(connection: Connection, user_id: str) -> Mark:
    """Where the user's history stands."""
    found = users.counters(connection, user_id) or users.Counters()
    said = select(turns.c.seq, turns.c.recorded_at).where(turns.c.user_id == user_id).order_by(turns.c.seq.desc())
    done = (
        select(operations.c.operation, operations.c.at)
        .where(operations.c.user_id == user_id)
        .order_by(operations.c.operation.desc())
    )
    turn, operation = (connection.execute(query.limit(1)).one_or_none() for query in (said, done))
    seq, said_at = turn or (-1, 0)
    number, done_at = operation or (0, 0)
    return Mark(found.revision, seq, said_at, number, done_at)


def follows(connection: Connection, user_id: str, mark: Mark) -> bool:
    """Whether what is stored came from what was stored at a mark, without an erasure.

    The last turn and the last entry of the log are there as they were: of a history that took another course, as
    after a restored backup, others would be, or none.
    """
    found = users.counters(connection, user_id)
    if found is None or not found.base <= mark.revision <= found.revision:
        return False
    erased = select(func.count()).where(
        removals.c.user_id == user_id, removals.c.revision > mark.revision, removals.c.kind == "turn"
    )
    said = select(turns.c.recorded_at).where(turns.c.user_id == user_id, turns.c.seq == mark.seq)
    done = select(operations.c.at).where(operations.c.user_id == user_id, operations.c.operation == mark.operation)
    return (
        not connection.execute(erased).scalar_one()
        and (connection.execute(said).scalar_one_or_none() or 0) == mark.said_at
        and (connection.execute(done).scalar_one_or_none() or 0) == mark.done_at
    )
