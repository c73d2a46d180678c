"""Reading what is stored, by its id or in order."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING

from mnemic.algo.episodes import LOCAL
from mnemic.algo.scope import check_id, check_user
from mnemic.config import BudgetName, Budgets, Limit
from mnemic.errors import InvalidInput, NotFound
from mnemic.memory import episodes
from mnemic.memory.search import check_count
from mnemic.memory.spent import summed
from mnemic.protocols import Amount, Store, Usage
from mnemic.types import (
    STATUSES,
    Allowance,
    Enrichment,
    Episode,
    Note,
    NoteStatus,
    Purpose,
    Scope,
    Spent,
    Status,
    Trace,
    Turn,
)

if TYPE_CHECKING:
    from mnemic.index import Indexes


def find(store: Store, indexes: Indexes, user_id: str, id: str) -> Turn | Trace | Note | Episode:
    """A turn, trace, note or episode by its id; a caller's goes before one of ours. Raises NotFound."""
    check_user(user_id)
    is_local = isinstance(id, str) and id.startswith(LOCAL)  # pyright: ignore[reportUnnecessaryIsInstance] - untyped
    check_id(id.removeprefix(LOCAL) if is_local else id, "id")
    found = (
        store.turns(user_id, turn_ids=[id])
        or store.traces(user_id, trace_ids=[id])
        or store.notes(user_id, note_ids=[id])
        or store.notes(user_id, note_ids=[id], statuses=STATUSES)  # the last version of one that does not count
        or (episodes.local(store, indexes, user_id, id) if is_local else store.episodes(user_id, episode_ids=[id]))
    )
    if found:
        return found[-1]
    raise NotFound(f"user {user_id!r} has no turn, trace, note or episode {id!r}")


def turn(store: Store, user_id: str, turn_id: str) -> Turn:
    """A turn by its id. Raises NotFound."""
    found = store.turns(user_id, turn_ids=[turn_id])
    if not found:
        raise NotFound(f"user {user_id!r} has no turn {turn_id!r}")
    return found[0]


def turns(
    store: Store, scope: Scope, *, limit: int | None, after: str | int | None, turn_ids: Sequence[str] | None
) -> list[Turn]:
    """Turns of a scope in order, from behind ``after``. Raises NotFound where there is no turn of such an id."""
    _check_limit(limit)
    for turn_id in turn_ids or ():
        check_id(turn_id, "turn_ids")
    if isinstance(after, int) and not isinstance(after, bool):
        seq = after
    else:
        seq = -1 if after is None else turn(store, scope.user_id, check_id(after, "after")).seq
    return store.turns(
        scope.user_id,
        turn_ids=turn_ids,
        session_id=scope.session_id,
        agent_id=scope.agent_id,
        after_seq=seq,
        limit=limit,
    )


def notes(
    store: Store,
    user_id: str,
    *,
    about: str | None,
    at: datetime | None,
    limit: int | None,
    statuses: Collection[NoteStatus],
) -> list[Note]:
    """Notes of some statuses, those that hold at a time where one is given."""
    _check_limit(limit)
    if isinstance(statuses, str) or not set(statuses) <= set(STATUSES):
        raise InvalidInput(f"statuses is a collection of {', '.join(STATUSES)}, not {statuses!r}")
    if about is not None:
        check_id(about, "about")
    found = store.notes(user_id, about=about, statuses=statuses, limit=limit if at is None else None)
    if at is not None:
        found = [note for note in found if _holds(note, at)]
    return found[:limit]


def status(
    store: Store,
    user_id: str | None,
    *,
    cue_extractor: str,
    index_bytes: int,
    warnings: tuple[str, ...],
    models: Mapping[Purpose, str],
    enrichment: Enrichment,
    budgets: Budgets,
    today: date,
) -> Status:
    """Sizes of the database and, where one is named, of a user's memory."""
    embedder = store.embedder()
    counts = None if user_id is None else store.counts(user_id)
    return Status(
        embedder=embedder.name if embedder else None,
        cue_extractor=cue_extractor,
        size_bytes=store.size_bytes(),
        users=len(store.users()),
        index_bytes=index_bytes,
        counts=counts,
        warnings=warnings,
        models=models,
        enrichment=enrichment,
        spent=_spent(store.usage(user_id)),
        keeps=counts is not None and bool(counts.turns or counts.notes),
        allowances=tuple(_allowances(store, user_id, budgets, today)),
        fingerprint=embedder.fingerprint if embedder else None,
    )


def _allowances(store: Store, user_id: str | None, budgets: Budgets, today: date) -> Iterator[Allowance]:
    """Every limit of the budgets, with what is spent of it."""
    day = None if user_id is None else _total(store.usage(user_id, since=today))
    scopes: tuple[tuple[BudgetName, Limit, Amount | None], ...] = (
        ("call", budgets.call, None),
        ("user_day", budgets.user_day, day),
        ("total", budgets.total, _total(store.usage(None)) if budgets.total != Limit() else None),
    )
    for name, limit, amount in scopes:
        if limit.tokens is not None:
            yield Allowance(name, "tokens", limit.tokens, amount and amount.tokens)
        if limit.calls is not None and name != "call":
            yield Allowance(name, "calls", limit.calls, amount and amount.calls)
        if limit.cost is not None:
            yield Allowance(name, "cost", limit.cost, amount and amount.cost)


def _total(usage: Sequence[Usage]) -> Amount:
    amounts = [one.amount for one in usage]
    return Amount(
        calls=sum(one.calls for one in amounts),
        tokens_in=sum(one.tokens_in for one in amounts),
        tokens_out=sum(one.tokens_out for one in amounts),
        cost=sum(one.cost for one in amounts),
        unpriced=sum(one.unpriced for one in amounts),
    )


def _spent(usage: Sequence[Usage]) -> tuple[Spent, ...]:
    """What was spent, by purpose, over all days."""
    return summed(
        Spent(
            one.purpose,
            one.amount.calls,
            one.amount.tokens_in,
            one.amount.tokens_out,
            one.amount.cost,
            one.amount.unpriced,
        )
        for one in usage
    )


def _holds(note: Note, at: datetime) -> bool:
    start, end = note.valid.start, note.valid.end
    return (start is None or start <= at) and (end is None or at < end)


def _check_limit(limit: int | None) -> None:
    if limit is not None:
        check_count(limit, "limit")
