"""Reading what is stored, by its id or in order."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date, datetime
from itertools import islice
from typing import TYPE_CHECKING, get_args

from mnemic.algo.episodes import LOCAL
from mnemic.algo.scope import check_id, check_user
from mnemic.config import BudgetName, Budgets, Limit
from mnemic.errors import InvalidInput, NotFound
from mnemic.memory import episodes, past
from mnemic.memory.search import check_count
from mnemic.memory.spent import summed
from mnemic.protocols import Amount, LogFilter, Store, Usage
from mnemic.types import (
    STATUSES,
    Action,
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


def find(
    store: Store,
    indexes: Indexes,
    user_id: str,
    id: str,
    *,
    at: datetime | None = None,
    known_at: datetime | None = None,
) -> Turn | Trace | Note | Episode:
    """A turn, trace, note or episode by its id; a caller's goes before one of ours.

    Args:
        store: Where the rows are.
        indexes: Of the same store.
        user_id: Whose.
        id: Of anything.
        at: Of a note, the version that held at this time.
        known_at: As it was known at this time.

    Raises:
        NotFound: There is none, or was none, or it did not hold.
    """
    check_user(user_id)
    is_local = isinstance(id, str) and id.startswith(LOCAL)  # pyright: ignore[reportUnnecessaryIsInstance] - untyped
    check_id(id.removeprefix(LOCAL) if is_local else id, "id")
    found = (
        [one for one in store.turns(user_id, turn_ids=[id]) if past.was_known(one, known_at)]
        or [one for one in store.traces(user_id, trace_ids=[id]) if _are_known(store, user_id, one, known_at)]
        or _version(store, user_id, id, at, known_at)
        or [one for one in _episodes(store, indexes, user_id, id) if _are_known(store, user_id, one, known_at)]
    )
    if found:
        return found[-1]
    then = "" if at is None and known_at is None else " as of then"
    raise NotFound(f"user {user_id!r} has no turn, trace, note or episode {id!r}{then}")


def _episodes(store: Store, indexes: Indexes, user_id: str, id: str) -> Sequence[Episode]:
    if id.startswith(LOCAL):
        return episodes.local(store, indexes, user_id, id)
    return store.episodes(user_id, episode_ids=[id])


def _are_known(store: Store, user_id: str, one: Trace | Episode, known_at: datetime | None) -> bool:
    """Whether all turns of something were recorded by a time."""
    if known_at is None:
        return True
    ids = one.turn_ids if isinstance(one, Episode) else [span.turn_id for span in one.spans]
    return all(past.was_known(turn, known_at) for turn in store.turns(user_id, turn_ids=ids))


def _version(store: Store, user_id: str, id: str, at: datetime | None, known_at: datetime | None) -> list[Note]:
    """The version of a note that counts, else the last one; with a time, the one that held then."""
    versions = store.notes(user_id, note_ids=[id], statuses=STATUSES, known_at=known_at)
    if at is not None:
        return past.held(versions, at)
    return sorted(versions, key=lambda note: (note.status == "current", note.version))


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
    check_limit(limit)
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
    known_at: datetime | None,
    limit: int | None,
    statuses: Collection[NoteStatus] | None,
    after: str | None,
) -> list[Note]:
    """Notes: current ones, or what held at a time where one is given, or every version of some statuses."""
    check_limit(limit)
    if about is not None:
        check_id(about, "about")
    if statuses is None and at is not None:
        return list(islice(past.held_after(store, user_id, at, known_at, about=about, after=after), limit))
    if statuses is None:
        statuses = ("current",)
    if isinstance(statuses, str) or not set(statuses) <= set(STATUSES):
        raise InvalidInput(f"statuses is a collection of {', '.join(STATUSES)}, not {statuses!r}")
    if at is None:
        return store.notes(user_id, about=about, statuses=statuses, limit=limit, known_at=known_at, after=after)
    found = past.versions(store, user_id, known_at, about=about, statuses=statuses, after=after)
    return list(islice((note for note in found if past.holds(note, at)), limit))


def log_filter(
    action: Action | None, trigger: str | None, since: datetime | None, until: datetime | None, newest_first: bool
) -> LogFilter:
    """Which entries of the log are wanted. Raises InvalidInput."""
    if action is not None and action not in get_args(Action):
        raise InvalidInput(f"action is one of {', '.join(get_args(Action))}, not {action!r}")
    if trigger is not None:
        check_id(trigger, "trigger")
    return LogFilter(action, trigger, since, until, newest_first)


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


def check_limit(limit: int | None) -> None:
    """Raises InvalidInput where it is no number of things."""
    if limit is not None:
        check_count(limit, "limit")
