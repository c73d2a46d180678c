"""Who makes the vectors that were left for later: one lease a user. What waits are the ``embed`` tasks."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Column, ColumnElement, Connection, PrimaryKeyConstraint, String, delete, insert, select, update

from mnemic.protocols import EmbeddingLease
from mnemic.store import embedders, read
from mnemic.store.columns import number, owner, slim, small, user
from mnemic.store.encodings import ExactText, micros, moment
from mnemic.store.tables import tasks

# A user has a row while a lease runs, and where the work was put off.
embedding = slim(
    "embedding",
    user(),
    Column("lease", String(32)),
    small("attempts"),
    number("due_at"),
    Column("reason", ExactText),
    PrimaryKeyConstraint("user_id"),
    owner("users"),
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What may be begun: see ``protocols.EmbeddingQueue.claim_embedding``."""

    now: datetime
    hurry: bool
    silent: Collection[str]


def first(connection: Connection, wanted: Wanted, user_id: str | None, *, busy: Collection[str] = ()) -> str | None:
    """The next user of whom something waits that may be begun; users who are ``busy`` are passed over."""
    row = user_id if user_id is not None else _next_waiting(connection, None)
    while row is not None:
        may_begin = row not in busy and _may_begin(connection, row, wanted)
        if may_begin and read.pending(connection, row):
            return row
        row = None if user_id is not None else _next_waiting(connection, row)
    return None


def claim(
    connection: Connection, wanted: Wanted, user_id: str | None, *, token: str, until: datetime
) -> EmbeddingLease | None:
    """Lease it."""
    found = first(connection, wanted, user_id)
    if found is None:
        return None
    mine = embedding.c.user_id == found
    attempts = 1 + (connection.execute(select(embedding.c.attempts).where(mine)).scalar_one_or_none() or 0)
    connection.execute(delete(embedding).where(mine))
    row = {"user_id": found, "lease": token, "attempts": attempts, "due_at": micros(until), "reason": None}
    connection.execute(insert(embedding), row)
    return EmbeddingLease(token, found, attempts)


def leases(connection: Connection) -> dict[str, datetime]:
    """When each runs out."""
    query = select(embedding.c.lease, embedding.c.due_at).where(embedding.c.lease.is_not(None))
    return {row.lease: moment(row.due_at) for row in connection.execute(query)}


def extend(connection: Connection, lease: EmbeddingLease, *, until: datetime) -> bool:
    """Let a lease run longer, if it is still held."""
    return connection.execute(update(embedding).where(*_held(lease)).values(due_at=micros(until))).rowcount == 1


def finish(connection: Connection, lease: EmbeddingLease, fingerprint: str) -> bool:
    """End a lease where nothing of the user lacks a vector of that embedder: then nothing waits any more."""
    is_held = select(embedding.c.user_id).where(*_held(lease))
    if connection.execute(is_held).first() is None or not embedders.is_complete(connection, lease.user_id, fingerprint):
        return False
    connection.execute(delete(embedding).where(*_held(lease)))
    connection.execute(delete(tasks).where(tasks.c.user_id == lease.user_id, tasks.c.kind == "embed"))
    return True


def release(connection: Connection, lease: EmbeddingLease, *, due: datetime, reason: str, counts: bool) -> None:
    """Give the work back undone."""
    values = {"lease": None, "due_at": micros(due), "reason": reason or None}
    attempts = embedding.c.attempts - (0 if counts else 1)
    connection.execute(update(embedding).where(*_held(lease)).values(**values, attempts=attempts))


def put_off(connection: Connection, user_id: str | None) -> tuple[str, ...]:
    """Why it was put off; somebody may have made the vectors since, and then nothing is."""
    waits = select(tasks.c.user_id).where(tasks.c.user_id == embedding.c.user_id).exists()
    query = select(embedding.c.reason).where(embedding.c.reason.is_not(None), embedding.c.lease.is_(None), waits)
    if user_id is not None:
        query = query.where(embedding.c.user_id == user_id)
    return tuple(sorted({str(reason) for reason in connection.execute(query).scalars()}))


def _next_waiting(connection: Connection, after: str | None) -> str | None:
    """The next user with a task: one look into the index, however many tasks there are."""
    query = select(tasks.c.user_id).order_by(tasks.c.user_id).limit(1)
    if after is not None:
        query = query.where(tasks.c.user_id > after)
    return connection.execute(query).scalar_one_or_none()


def _may_begin(connection: Connection, user_id: str, wanted: Wanted) -> bool:
    query = select(embedding.c.lease, embedding.c.due_at).where(embedding.c.user_id == user_id)
    row = connection.execute(query).one_or_none()
    if row is None or row.due_at <= micros(wanted.now):
        return True
    return wanted.hurry if row.lease is None else row.lease in wanted.silent


def _held(lease: EmbeddingLease) -> tuple[ColumnElement[bool], ...]:
    return embedding.c.user_id == lease.user_id, embedding.c.lease == lease.token
