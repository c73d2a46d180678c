"""What language models are to do with traces: the outbox. Written with the traces, taken by lease, gone with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select, update

from mnemic.errors import StoreConflict
from mnemic.protocols import Lease
from mnemic.store.bulk import insert_rows
from mnemic.store.encodings import micros, moment
from mnemic.store.ids import numbers_of, pieces, public_id
from mnemic.store.read import rows_with
from mnemic.store.tables import trace_spans, traces, turns, work
from mnemic.types import Enrichment, FailedWork, WorkKind

if TYPE_CHECKING:
    from mnemic.store.read import AnyRow


_ERASED: Final = "the reason was erased with words that it may have held"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What may be claimed: see ``protocols.WorkQueue.claim``."""

    kinds: tuple[WorkKind, ...]
    user_id: str | None
    hurry: bool
    silent: Collection[str] = ()


def put(
    connection: Connection,
    user_id: str,
    trace_numbers: Iterable[int],
    kinds: Collection[str],
    *,
    due: int,
    state: str = "pending",
) -> int:
    """Make work of each kind on new traces; how much."""
    rows = [
        {"user_id": user_id, "trace": trace, "kind": kind, "state": state, "attempts": 0, "due_at": due}
        for trace in trace_numbers
        for kind in dict.fromkeys(kinds)
    ]
    if rows:
        insert_rows(connection, work, rows)
    return len(rows)


def enqueue(connection: Connection, user_id: str, kinds: Collection[WorkKind], *, due: datetime) -> int:
    """Make work on the traces that never had any of a kind."""
    made = 0
    for kind in dict.fromkeys(kinds):
        has = select(work.c.trace).where(work.c.user_id == traces.c.user_id, work.c.trace == traces.c.trace)
        query = select(traces.c.trace).where(traces.c.user_id == user_id, ~has.where(work.c.kind == kind).exists())
        made += put(connection, user_id, connection.execute(query).scalars().all(), (kind,), due=micros(due))
    return made


def of_places(connection: Connection, user_id: str, trace_ids: Collection[str]) -> dict[int, dict[str, str]]:
    """Place in the chain of some traces -> the work on them, kind -> state."""
    query = (
        select(traces.c.ordinal, work.c.kind, work.c.state)
        .join(traces, and_(traces.c.user_id == work.c.user_id, traces.c.trace == work.c.trace))
        .where(work.c.user_id == user_id)
    )
    found: dict[int, dict[str, str]] = {}
    for row in rows_with(connection, query, work.c.trace, numbers_of("T", trace_ids)):
        found.setdefault(row.ordinal, {})[row.kind] = row.state
    return found


def withheld(connection: Connection, user_id: str, session_id: str, kind: WorkKind) -> set[str]:
    """The turns of a session in whose traces no work of a kind ever was."""
    has = select(work.c.trace).where(work.c.user_id == traces.c.user_id, work.c.trace == traces.c.trace)
    query = (
        select(turns.c.turn_id)
        .join(trace_spans, and_(trace_spans.c.user_id == turns.c.user_id, trace_spans.c.seq == turns.c.seq))
        .join(traces, and_(traces.c.user_id == trace_spans.c.user_id, traces.c.trace == trace_spans.c.trace))
        .where(traces.c.user_id == user_id, traces.c.session_id == session_id, ~has.where(work.c.kind == kind).exists())
    )
    return set(connection.execute(query).scalars())


def first_user(connection: Connection, wanted: Wanted, *, now: datetime, busy: Collection[str]) -> str | None:
    """Whose work is due longest and may be claimed; users who are ``busy`` are passed over."""
    row = _first(connection, wanted, now=now, busy=busy)
    return None if row is None else row.user_id


def _first(connection: Connection, wanted: Wanted, *, now: datetime, busy: Collection[str] = ()) -> AnyRow | None:
    """The user, kind and session of what is due longest and may be claimed."""
    running = work.alias()
    # One at a time: what a user's notes become depends on what they are.
    elsewhere = (
        select(running.c.trace)
        .where(running.c.user_id == work.c.user_id, running.c.kind == work.c.kind)
        .where(
            running.c.state == "running", running.c.due_at > micros(now), running.c.lease.not_in(list(wanted.silent))
        )
        .exists()
    )
    query = (
        select(work.c.user_id, work.c.kind, traces.c.session_id)
        .join(traces, and_(traces.c.user_id == work.c.user_id, traces.c.trace == work.c.trace))
        .where(work.c.kind.in_(wanted.kinds), _claimable(wanted, now=now), ~elsewhere)
        .order_by(work.c.due_at, work.c.user_id, traces.c.ordinal)
        .limit(1)
    )
    if wanted.user_id is not None:
        query = query.where(work.c.user_id == wanted.user_id)
    if busy:
        query = query.where(work.c.user_id.not_in(list(busy)))
    return connection.execute(query).one_or_none()


def claim(
    connection: Connection, wanted: Wanted, *, token: str, now: datetime, until: datetime, limit: int
) -> Lease | None:
    """Lease what is due longest, with what else waits of its session."""
    row = _first(connection, wanted, now=now)
    if row is None:
        return None
    query = (
        select(work.c.trace, work.c.attempts)
        .join(traces, and_(traces.c.user_id == work.c.user_id, traces.c.trace == work.c.trace))
        .where(work.c.user_id == row.user_id, work.c.kind == row.kind, traces.c.session_id == row.session_id)
        .where(_claimable(replace(wanted, hurry=True), now=now))
        .order_by(traces.c.ordinal, traces.c.trace)
        .limit(limit)
    )
    found = connection.execute(query).all()
    values = {"state": "running", "lease": token, "due_at": micros(until), "attempts": work.c.attempts + 1}
    _update(connection, row.user_id, row.kind, [one.trace for one in found], values)
    return Lease(
        token=token,
        user_id=row.user_id,
        session_id=row.session_id,
        kind=row.kind,
        trace_ids=tuple(public_id("T", one.trace) for one in found),
        attempts=max(one.attempts for one in found) + 1,
    )


def leases(connection: Connection) -> dict[str, datetime]:
    """When each runs out."""
    query = select(work.c.lease, func.max(work.c.due_at)).where(work.c.state == "running").group_by(work.c.lease)
    return {lease: moment(due) for lease, due in connection.execute(query)}


def extend(connection: Connection, lease: Lease, *, until: datetime) -> None:
    """Let a lease run longer, unless it ran out and other work of its kind and user was begun since."""
    other = work.alias()
    begun_since = (
        select(other.c.trace)
        .where(other.c.user_id == work.c.user_id, other.c.kind == work.c.kind, other.c.state == "running")
        .where(other.c.lease != lease.token, other.c.due_at > work.c.due_at)
        .exists()
    )
    connection.execute(update(work).where(*_held(lease), ~begun_since).values(due_at=micros(until)))


def leased(connection: Connection, lease: Lease) -> tuple[str, ...]:
    """The traces that a lease still holds, in the order of the dialogue."""
    query = (
        select(work.c.trace)
        .join(traces, and_(traces.c.user_id == work.c.user_id, traces.c.trace == work.c.trace))
        .where(*_held(lease))
        .order_by(traces.c.ordinal, traces.c.trace)
    )
    return tuple(public_id("T", trace) for trace in connection.execute(query).scalars())


def finish(connection: Connection, user_id: str, lease: Lease, *, now: datetime) -> None:
    """Mark all work of a user's lease as done.

    Raises:
        StoreConflict: It does not hold all of it any more: it ran out, or a trace was erased.
    """
    ran_out = select(work.c.trace).where(*_held(lease), work.c.due_at <= micros(now)).limit(1)
    if (
        lease.user_id != user_id
        or set(leased(connection, lease)) != set(lease.trace_ids)
        or connection.execute(ran_out).one_or_none()
    ):
        raise StoreConflict(f"some work on session {lease.session_id!r} of user {user_id!r} is not leased any more")
    # Due now: it is due at once if it is to be done again.
    values = {"state": "done", "lease": None, "reason": None, "due_at": micros(now)}
    connection.execute(update(work).where(*_held(lease)).values(values))


def release(
    connection: Connection,
    lease: Lease,
    *,
    due: datetime | None,
    reason: str,
    counts: bool,
    trace_ids: Sequence[str],
) -> None:
    """Give work back undone."""
    values: dict[str, Any] = {"state": "failed", "lease": None, "reason": reason or None}
    if due is not None:
        values |= {"state": "pending", "due_at": micros(due)}
    if not counts:
        values["attempts"] = work.c.attempts - 1
    query = update(work).where(*_held(lease)).values(values)
    if not trace_ids:
        connection.execute(query)
    for piece in pieces(numbers_of("T", trace_ids)):
        connection.execute(query.where(work.c.trace.in_(piece)))


def retry(connection: Connection, user_id: str | None, *, now: datetime) -> int:
    """Let failed work be done again, and put-off work at once."""
    put_off = and_(work.c.state == "pending", work.c.reason.is_not(None))
    query = update(work).where(or_(work.c.state == "failed", put_off))
    if user_id is not None:
        query = query.where(work.c.user_id == user_id)
    values = {"state": "pending", "attempts": 0, "due_at": micros(now), "reason": None}
    return connection.execute(query.values(values)).rowcount


def again(connection: Connection, user_id: str, trace_numbers: Iterable[int], kind: WorkKind) -> None:
    """Let done work on some traces be done again: what came of it is gone."""
    values = {"state": "pending", "attempts": 0}
    for piece in pieces(trace_numbers):
        mine = (work.c.user_id == user_id, work.c.kind == kind, work.c.state == "done", work.c.trace.in_(piece))
        connection.execute(update(work).where(*mine).values(values))


def forget_reasons(connection: Connection, user_id: str, trace_numbers: Iterable[int]) -> None:
    """Take why work on some traces failed from all that failed with it: what models say may quote erased words."""
    query = select(work.c.reason).where(work.c.user_id == user_id, work.c.state == "failed", work.c.reason.is_not(None))
    reasons = {row.reason for row in rows_with(connection, query, work.c.trace, trace_numbers)}
    for reason in reasons:
        mine = (work.c.user_id == user_id, work.c.state == "failed", work.c.reason == reason)
        connection.execute(update(work).where(*mine).values(reason=_ERASED))


def enrichment(connection: Connection, user_id: str | None, kinds: Collection[WorkKind] | None) -> Enrichment:
    """How far the work is, of some kinds or all."""
    query = select(work.c.state, work.c.kind, work.c.reason, func.count().label("traces"))
    if user_id is not None:
        query = query.where(work.c.user_id == user_id)
    if kinds is not None:
        query = query.where(work.c.kind.in_(kinds))
    rows = connection.execute(query.group_by(work.c.state, work.c.kind, work.c.reason)).all()
    sizes = Counter[str]()
    for row in rows:
        sizes[row.state] += row.traces
    failed = [FailedWork(row.kind, row.traces, row.reason or "") for row in rows if row.state == "failed"]
    waiting = {row.reason for row in rows if row.state == "pending" and row.reason}
    return Enrichment(
        **sizes,
        failures=tuple(sorted(failed, key=lambda one: (one.kind, one.reason))),
        waiting_for=tuple(sorted(waiting)),
    )


def _claimable(wanted: Wanted, *, now: datetime) -> ColumnElement[bool]:
    """What waits and is due (in a ``hurry``, unless it was put off), and what is leased no more."""
    due = work.c.due_at <= micros(now)
    waits = and_(work.c.state == "pending", or_(due, work.c.reason.is_(None)) if wanted.hurry else due)
    return or_(waits, and_(work.c.state == "running", or_(due, work.c.lease.in_(list(wanted.silent)))))


def _held(lease: Lease) -> tuple[ColumnElement[bool], ...]:
    mine = (work.c.user_id == lease.user_id, work.c.kind == lease.kind)
    return (*mine, work.c.state == "running", work.c.lease == lease.token)


def _update(connection: Connection, user_id: str, kind: str, numbers: Iterable[int], values: dict[str, Any]) -> None:
    for piece in pieces(numbers):
        mine = (work.c.user_id == user_id, work.c.kind == kind, work.c.trace.in_(piece))
        connection.execute(update(work).where(*mine).values(values))
