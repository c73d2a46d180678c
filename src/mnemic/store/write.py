"""Committing a batch: checks, removals, then everything new."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection, insert, select, update

from mnemic.errors import NotFound, StoreConflict
from mnemic.protocols import Batch, Removed, Written
from mnemic.store import note_states, users, work
from mnemic.store.add import add
from mnemic.store.adding import Adding, LogEntry
from mnemic.store.encodings import json_text, micros
from mnemic.store.read import numbers_of_turns
from mnemic.store.remove import Removing
from mnemic.store.standing import log_standing
from mnemic.store.tables import operations, requests, turns
from mnemic.store.tally import Tally, together
from mnemic.types import Erased, Json, Metadata, Quarantine


def write(connection: Connection, user_id: str, batch: Batch, *, now: datetime) -> Written:
    """Commit a batch. Raises StoreConflict; the caller's transaction undoes what was written until then."""
    counters = users.begin(connection, user_id)
    _check(connection, user_id, batch)
    removing = Removing(connection, user_id, counters.revision)
    begun = work.of_places(connection, user_id, batch.remove_traces)
    tally = Tally(connection, user_id) if batch.remove_turns else None
    candidates = removing.apply(batch)
    erased = Erased() if tally is None else tally.gone()
    adding = Adding(connection, user_id, counters, micros(now), begun=begun)
    log_standing(adding, removing.touched, batch.trigger)
    if batch.lease is not None:
        work.finish(connection, user_id, batch.lease, now=now)
    note_states.apply(adding, batch)
    note_states.settle(connection, user_id, batch.settled)
    note_states.hold(adding, batch.waiting)
    written = add(adding, batch)
    # Only now: what the batch adds may mention them again.
    tally = None if tally is None else Tally(connection, user_id)
    removing.drop_unmentioned(candidates)
    users.save(connection, user_id, counters)
    return written if tally is None else replace(written, removed=Removed(together(erased, tally.gone())))


def set_metadata(connection: Connection, user_id: str, turn_id: str, metadata: Metadata, *, now: datetime) -> None:
    """Replace a turn's metadata, and log it. Raises NotFound."""
    query = select(turns.c.seq, turns.c.metadata).where(turns.c.user_id == user_id, turns.c.turn_id == turn_id)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise NotFound(f"user {user_id!r} has no turn {turn_id!r}")
    counters = users.begin(connection, user_id)
    values = {"metadata": dict(metadata) or None, "revision": counters.revision}
    connection.execute(update(turns).where(turns.c.user_id == user_id, turns.c.seq == row.seq), values)
    entry = {
        "user_id": user_id,
        "operation": counters.take("next_operation"),
        "at": micros(now),
        "action": "UPDATE",
        "target_id": turn_id,
        "version": None,
        "trigger": "person",
        "before": json_text(row.metadata or {}),
        "after": json_text(dict(metadata)),
    }
    connection.execute(insert(operations), entry)
    users.save(connection, user_id, counters)


def set_quarantine(connection: Connection, user_id: str, turn_id: str, state: Quarantine, *, now: datetime) -> int:
    """Let a turn stand otherwise in quarantine, and log it; the number of the entry. Raises NotFound."""
    mine = (turns.c.user_id == user_id, turns.c.turn_id == turn_id)
    row = connection.execute(select(turns.c.seq, turns.c.quarantine).where(*mine)).one_or_none()
    if row is None or row.quarantine is None:
        raise NotFound(f"user {user_id!r} has no turn {turn_id!r} in quarantine")
    counters = users.begin(connection, user_id)
    values = {"quarantine": state, "revision": counters.revision}
    connection.execute(update(turns).where(turns.c.user_id == user_id, turns.c.seq == row.seq), values)
    adding = Adding(connection, user_id, counters, micros(now))
    detail: dict[str, Json] = {"quarantine": [row.quarantine, state]}
    adding.log([LogEntry("UPDATE", turn_id, None, "person", None, None, detail)])
    users.save(connection, user_id, counters)
    return adding.logged[0]


def _check(connection: Connection, user_id: str, batch: Batch) -> None:
    """Whether what the plan saw still holds."""
    for session_id, seen in batch.tails.items():
        of_session = (turns.c.user_id == user_id, turns.c.session_id == session_id)
        query = select(turns.c.turn_id).where(*of_session).order_by(turns.c.seq.desc()).limit(1)
        if connection.execute(query).scalar_one_or_none() != seen:
            raise StoreConflict(f"session {session_id!r} of user {user_id!r} has changed; plan the write again")
    if batch.idempotency_key is not None:
        known = (requests.c.user_id == user_id, requests.c.key == batch.idempotency_key)
        if connection.execute(select(requests.c.request).where(*known)).one_or_none():
            raise StoreConflict(f"idempotency key {batch.idempotency_key!r} of user {user_id!r} is known already")
    given = Counter(turn.turn_id for turn in batch.turns)
    twice = [turn_id for turn_id, count in given.items() if count > 1]
    taken = twice or sorted(numbers_of_turns(connection, user_id, given.keys() - set(batch.remove_turns)))
    if taken:
        raise StoreConflict(f"turn {taken[0]!r} of user {user_id!r} exists already; plan the write again")
