"""Who gets which work: users whose rows somebody is writing are passed over, so that workers do not queue."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeVar

from sqlalchemy import Connection

from mnemic.store.database import Busy, Database

Lease = TypeVar("Lease")

_PASSED_OVER = 8
"""Users at most, before waiting for the first of them: a queue that nobody works on helps nobody."""


def claim(
    database: Database,
    first: Callable[[Connection, Collection[str]], str | None],
    lease: Callable[[Connection, str], Lease | None],
) -> Lease | None:
    """Lease work; who finds none has written nothing.

    It is what ``FOR UPDATE SKIP LOCKED`` does, of users instead of rows: work of one kind runs once a user, so that
    the user is what is locked.

    Args:
        database: Whose.
        first: From users to pass over to the user whose work is due longest; None where there is none.
        lease: Leases work of a user; None where others were faster.
    """
    busy: list[str] = []
    while True:
        is_last = len(busy) >= _PASSED_OVER
        found = None if is_last else database.look(lambda connection: first(connection, busy))
        user_id = found if found is not None else next(iter(busy), None)
        if user_id is None:
            return None
        try:
            taken = _leased(database, user_id, lease, wait=found is None)
        except Busy:
            busy.append(user_id)
            continue
        if taken is not None:
            return taken
        if found is None:
            busy.clear()


def _leased(
    database: Database, user_id: str, lease: Callable[[Connection, str], Lease | None], *, wait: bool
) -> Lease | None:
    return database.change(lambda connection: lease(connection, user_id), user_id=user_id, wait=wait)
