"""Users and their counters. Numbers outlive their rows, and even their user: none is ever given twice."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass

from sqlalchemy import Connection, delete, insert, select, update

from mnemic.store.tables import COUNTERS, departed, users


@dataclass(slots=True)
class Counters:
    """Where a user's numbers stand.

    Attributes:
        revision: Of the last committed change.
        base: An index older than this holds things that no removal names; it has to start afresh.
        next_seq: The next number to give, and so for the others.
    """

    revision: int = 0
    base: int = 0
    next_seq: int = 0
    next_ordinal: int = 0
    next_trace: int = 1
    next_note: int = 1
    next_operation: int = 1
    next_cue: int = 1
    next_request: int = 1

    def take(self, counter: str, count: int = 1) -> int:
        """Give out ``count`` numbers in a row; returns the first."""
        first = int(getattr(self, counter))
        setattr(self, counter, first + count)
        return first


def counters(connection: Connection, user_id: str) -> Counters | None:
    """A user's counters; those that an erased user left; None for one never seen."""
    return _live(connection, user_id) or _left(connection, user_id)


def exists(connection: Connection, user_id: str) -> bool:
    """Whether the user has anything, or had and was not erased."""
    return _live(connection, user_id) is not None


def begin(connection: Connection, user_id: str) -> Counters:
    """The counters for one write, at its new revision; the user is made if need be."""
    found = _live(connection, user_id)
    if found is None:
        found = _left(connection, user_id) or Counters()
        connection.execute(delete(departed).where(departed.c.digest == _digest(user_id)))
        connection.execute(insert(users), {"user_id": user_id, **asdict(found)})
    found.revision += 1
    return found


def save(connection: Connection, user_id: str, found: Counters) -> None:
    """Store the counters at the end of a write."""
    connection.execute(update(users).where(users.c.user_id == user_id), asdict(found))


def depart(connection: Connection, user_id: str) -> None:
    """Erase a user with all rows; a digest of the id keeps where its numbers stopped."""
    found = begin(connection, user_id)
    found.base = found.revision
    connection.execute(delete(users).where(users.c.user_id == user_id))
    connection.execute(insert(departed), {"digest": _digest(user_id), **asdict(found)})


def _live(connection: Connection, user_id: str) -> Counters | None:
    columns = [users.c[name] for name in COUNTERS]
    row = connection.execute(select(*columns).where(users.c.user_id == user_id)).one_or_none()
    return Counters(*row) if row else None


def _left(connection: Connection, user_id: str) -> Counters | None:
    columns = [departed.c[name] for name in COUNTERS]
    row = connection.execute(select(*columns).where(departed.c.digest == _digest(user_id))).one_or_none()
    return Counters(*row) if row else None


def _digest(user_id: str) -> bytes:
    return hashlib.sha256(user_id.encode("utf-8", "surrogatepass")).digest()
