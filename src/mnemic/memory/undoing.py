"""Taking operations back: one, all of one run, or everything since a moment; whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from mnemic.algo.jsonable import as_object
from mnemic.algo.replay import Version, makes, replay, stood
from mnemic.errors import NotFound, UndoConflict
from mnemic.protocols import Batch, Held, NoteState, Store
from mnemic.types import STATUSES, Action, Interval, Json, NoteStatus, Operation, Quarantine

Pair = tuple[NoteStatus, Interval]
WAITING: Final[tuple[NoteStatus, ...]] = ("proposed", "quarantined")
"""Notes of these statuses wait for a person."""
_UNMADE: Final[tuple[NoteStatus, ...]] = ("current", "unsupported", "proposed", "quarantined")
_SHOWN: Final = 5
"""Conflicts that an error names."""


@dataclass(slots=True)
class _Plan:
    """Changes of standing, each made on what the ones before it leave.

    Attributes:
        now: How every version of the notes concerned stands, so far.
        states: The changes.
        conflicts: What stands in the way.
    """

    now: dict[Version, Pair]
    states: list[NoteState] = field(default_factory=list[NoteState])
    conflicts: list[str] = field(default_factory=list[str])

    def turn(self, version: Version, after: Pair, action: Action, detail: dict[str, Json]) -> None:
        """Let a version stand otherwise."""
        self.states.append(NoteState(*version, action, self.now[version], after, detail))
        self.now[version] = after

    def others(self, version: Version) -> Iterator[tuple[int, NoteStatus]]:
        """The other versions of a note, and their statuses."""
        for (note_id, number), (status, _) in self.now.items():
            if note_id == version[0] and number != version[1]:
                yield number, status


def undo(store: Store, user_id: str, operation_id: str, *, now: datetime) -> tuple[Operation, ...]:
    """Take back one operation; the operations that do it.

    Raises:
        NotFound: There is no such operation.
        UndoConflict: What it changed has changed since, or is erased.
        StoreConflict: Something came between; plan again.
    """
    found = store.operations(user_id, operation_ids=[operation_id])
    if not found:
        raise NotFound(f"user {user_id!r} has no operation {operation_id!r}")
    if found[0].version is None:
        return _undo_metadata(store, user_id, found[0], now)
    return _undone(store, user_id, found, f"operation {operation_id!r}", f"undo {operation_id}", {}, now=now)


def undo_run(
    store: Store, user_id: str, run: str, *, now: datetime, make_id: Callable[[], str]
) -> tuple[Operation, ...]:
    """Take back all operations of one run, the last one first, or none of them; the operations that do it.

    They are a run themselves. What was erased since needs no undoing.

    Raises:
        NotFound: There is no such run.
        UndoConflict: Something that it changed has changed since.
        StoreConflict: Something came between; plan again.
    """
    found = [one for one in store.operations(user_id) if one.detail.get("run") == run]
    if not found:
        raise NotFound(f"user {user_id!r} has no run {run!r}; history shows the runs that there are")
    return _undone(store, user_id, found, f"run {run!r}", f"undo run {run}", {"run": make_id()}, now=now)


def restore(
    store: Store, user_id: str, as_of: datetime, *, now: datetime, make_id: Callable[[], str]
) -> tuple[Operation, ...]:
    """Let every version of a note stand as it stood at a moment; the operations that do it, one run.

    What was made later is retracted, and stays readable. What was erased stays erased.

    Raises:
        StoreConflict: Something came between; plan again.
    """
    versions = store.notes(user_id, statuses=STATUSES)
    log = store.operations(user_id)
    then = replay(log, until=as_of, now=versions)
    plan = _Plan({(one.note_id, one.version): (one.status, one.valid) for one in versions})
    detail: dict[str, Json] = {"run": make_id(), "as_of": as_of.isoformat()}
    for one in versions:
        version = (one.note_id, one.version)
        standing = then.get(version)
        if standing is not None and (standing.status, standing.valid) != (one.status, one.valid):
            plan.turn(version, (standing.status, standing.valid), "UPDATE", detail)
        elif standing is None and one.status != "retracted":
            plan.turn(version, ("retracted", one.valid), "RETRACT", detail)
    if not plan.states:
        return ()
    return _written(store, user_id, log, Batch(states=tuple(plan.states), trigger="restore"), now=now)


def _undone(
    store: Store,
    user_id: str,
    operations: Sequence[Operation],
    what: str,
    trigger: str,
    detail: dict[str, Json],
    *,
    now: datetime,
) -> tuple[Operation, ...]:
    targets = list(dict.fromkeys(one.target_id for one in operations))
    versions = store.notes(user_id, note_ids=targets, statuses=STATUSES)
    plan = _Plan({(one.note_id, one.version): (one.status, one.valid) for one in versions})
    log = [one for target in targets for one in store.operations(user_id, target_id=target)]
    erased = 0
    for one in sorted(operations, key=lambda one: int(one.operation_id[1:]), reverse=True):
        version = (one.target_id, one.version or 0)
        if version not in plan.now:
            erased += 1
            continue
        take_back = _unmake if makes(one) else _turn_back
        if not take_back(plan, one, version, {**detail, "undoes": one.operation_id}):
            plan.conflicts.append(_conflict(one, log))
    if erased == len(operations):
        raise UndoConflict(f"{what} cannot be undone: its note was erased with its words", conflicts=())
    if plan.conflicts:
        raise UndoConflict(_told(what, plan.conflicts), conflicts=tuple(plan.conflicts))
    return _written(store, user_id, log, Batch(states=tuple(plan.states), trigger=trigger), now=now)


def _turn_back(plan: _Plan, one: Operation, version: Version, detail: dict[str, Json]) -> bool:
    """A change of standing, the other way round; whether that can be."""
    pair = stood(one)
    if pair is None or pair[0] is None or plan.now[version] != pair[1]:
        return False
    if pair[0][0] == "current" and any(status == "current" for _, status in plan.others(version)):
        return False
    plan.turn(version, pair[0], "UPDATE", detail)
    return True


def _unmake(plan: _Plan, one: Operation, version: Version, detail: dict[str, Json]) -> bool:
    """An added note or version: it is retracted, and the one before it counts again."""
    status, valid = plan.now[version]
    counted = [number for number, its in plan.others(version) if its in ("current", "superseded")]
    if status not in _UNMADE or max(counted, default=0) > version[1]:
        return False
    plan.turn(version, ("retracted", valid), "RETRACT", detail)
    former = [number for number, its in plan.others(version) if number < version[1] and its == "superseded"]
    if one.action == "UPDATE" and status == "current" and former:
        last = (version[0], max(former))
        plan.turn(last, ("current", plan.now[last][1]), "UPDATE", detail)
    return True


def _written(
    store: Store, user_id: str, log: Iterable[Operation], batch: Batch, *, now: datetime
) -> tuple[Operation, ...]:
    written = store.write(user_id, _waiting(store, user_id, log, batch), now=now)
    return tuple(store.operations(user_id, operation_ids=written.operation_ids))


def _waiting(store: Store, user_id: str, log: Iterable[Operation], batch: Batch) -> Batch:
    """What waits for a person again does so with what it asked for, and what does not any more is settled."""
    held, log = store.held(user_id), list(log)
    states = list(batch.states)
    for place, state in enumerate(states):
        key = state.note_id, state.version
        if state.after[0] in WAITING and state.before[0] not in WAITING:
            asks = _asked_for(key, log)
            batch = replace(batch, waiting={**batch.waiting, key: asks})
        elif state.before[0] in WAITING and state.after[0] not in WAITING and key in held:
            asks = held[key]
            batch = replace(batch, settled=(*batch.settled, key))
        else:
            continue
        states[place] = replace(state, detail={**state.detail, **asked(asks)})
    return replace(batch, states=tuple(states))


def _asked_for(version: Version, log: Iterable[Operation]) -> Held:
    """What a version asked for when it waited, by the last entry that says it."""
    found = Held("independent", None)
    for one in log:
        if (one.target_id, one.version) == version and "relation" in one.detail:
            target = one.detail.get("target")
            found = Held(str(one.detail["relation"]), target if isinstance(target, str) else None)
    return found


def asked(held: Held) -> dict[str, Json]:
    """What a waiting note asks for, for the log."""
    return {"relation": held.relation, "target": held.target_id}


def _undo_metadata(store: Store, user_id: str, operation: Operation, now: datetime) -> tuple[Operation, ...]:
    turns = store.turns(user_id, turn_ids=[operation.target_id])
    log = store.operations(user_id, target_id=operation.target_id)
    if not turns or log[-1].operation_id != operation.operation_id:
        what = f"operation {operation.operation_id!r}"
        raise UndoConflict(_told(what, [_conflict(operation, log)]), conflicts=(_conflict(operation, log),))
    if "quarantine" in operation.detail:
        pair = operation.detail["quarantine"]
        state = pair[0] if isinstance(pair, list) else None
        restored: Quarantine = "released" if state == "released" else "discarded" if state == "discarded" else "held"
        done = store.set_quarantine(user_id, operation.target_id, restored, now=now)
        return tuple(store.operations(user_id, operation_ids=[done]))
    before = as_object(json.loads(operation.before or "{}"), "metadata")
    store.set_metadata(user_id, operation.target_id, before, now=now)
    return (store.operations(user_id, target_id=operation.target_id)[-1],)


def _conflict(operation: Operation, log: Iterable[Operation]) -> str:
    """What has changed since an operation, and what is to be undone first."""
    last = [one.operation_id for one in log if one.target_id == operation.target_id][-1]
    return f"{operation.target_id!r} has changed since; undo {last!r} first"


def _told(what: str, conflicts: Sequence[str]) -> str:
    told = dict.fromkeys(conflicts)
    more = f" (and {len(told) - _SHOWN} more)" if len(told) > _SHOWN else ""
    return f"{what} cannot be undone: {'; '.join(list(told)[:_SHOWN])}{more}"
