"""What a person decides about notes: proposals, and taking operations back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, Protocol

from mnemic.algo.jsonable import as_object
from mnemic.algo.revise import Proposal, Relation, revise
from mnemic.enrich import Judged, changed, quotations
from mnemic.errors import InvalidInput, NotFound
from mnemic.protocols import CONFIRMED, Batch, Held, NoteState, Store, Written
from mnemic.types import STATUSES, Action, Interval, Json, Note, NoteStatus, Operation

_RELATIONS: Final[dict[str, Relation]] = {
    "independent": "independent",
    "extending": "extending",
    "contradictory": "contradictory",
}

_STATUSES: Final[dict[str, NoteStatus]] = {status: status for status in STATUSES}


class Write(Protocol):
    """Writes a batch of what was derived, with its vectors."""

    def __call__(self, user_id: str, batch: Batch, *, now: datetime) -> Written:
        """Write it."""
        ...


def decide(
    store: Store, user_id: str, note_id: str, *, approved: bool, write: Write, now: datetime
) -> tuple[Operation, ...]:
    """Let a proposed note count, or retract it; the operations.

    Raises:
        NotFound: No such note waits.
        StoreConflict: Something came between; plan again.
    """
    waiting = store.notes(user_id, note_ids=[note_id], statuses=("proposed",))
    held = store.held(user_id).get((note_id, waiting[-1].version)) if waiting else None
    if held is None:
        raise NotFound(f"user {user_id!r} has no note {note_id!r} that waits for a decision")
    note = waiting[-1]
    batch = Batch()
    counts = False
    if approved:
        batch, counts = _approved(store, user_id, note, held.relation, held.target_id)
    status: NoteStatus = "current" if counts else "retracted"
    verdict: dict[str, Json] = {"decision": "approved" if approved else "rejected", **_asked(held)}
    state = NoteState(
        note.note_id,
        note.version,
        "ADD" if counts else "RETRACT",
        (note.status, note.valid),
        (status, note.valid),
        verdict,
    )
    batch = replace(batch, states=(*batch.states, state), settled=((note.note_id, note.version),), trigger="person")
    written = write(user_id, batch, now=now)
    return tuple(store.operations(user_id, operation_ids=written.operation_ids))


def _approved(store: Store, user_id: str, note: Note, relation: str, target_id: str | None) -> tuple[Batch, bool]:
    """What else changes with a proposed note, and whether it counts itself then."""
    others = [
        one
        for one in store.notes(user_id, about=note.about, statuses=STATUSES)
        if (one.note_id, one.version) != (note.note_id, note.version)
    ]
    shown = [one for one in others if one.note_id == target_id and one.status == "current"]
    asked = _RELATIONS[relation] if shown else "independent"
    if asked == "extending" and not set(shown[0].sources) <= set(note.sources):
        asked = "independent"  # the target says more by now than the fuller text does
    wanted = replace(note, note_id="", status="current")
    proposal = Proposal(note.about, asked, wanted, 0 if shown else None)
    added = any(change.action == "ADD" for change in revise(others, shown, [proposal], new_id=lambda: "new"))
    judged = Judged(note.about, tuple(shown), (proposal,), "person")
    batch = changed(judged, others, trigger="person", facts=True, approve=False, detail={})
    # What would be added is there already: it only gets another status.
    kept = tuple(one for one in batch.notes if one.note_id)
    named: dict[str, Json] = {"by": note.note_id}
    states = tuple(state if state.by is None else replace(state, by=None, detail=named) for state in batch.states)
    touched = {(state.note_id, state.version) for state in states}
    free = [one for one in others if one.status == "current" and (one.note_id, one.version) not in touched]
    return replace(batch, notes=kept, states=(*states, *quotations([wanted], free, named)), details={}), added


def confirm(store: Store, user_id: str, note_id: str, *, now: datetime) -> Note:
    """Let a note count by a person's word; a current one is only confirmed.

    Raises:
        NotFound: There is no such note.
        InvalidInput: It is neither current nor unsupported.
        StoreConflict: Something came between; plan again.
    """
    versions = store.notes(user_id, note_ids=[note_id], statuses=STATUSES)
    note = _counting(user_id, note_id, versions, ("current", "unsupported"), "confirmed")
    former = [one for one in versions if one.status == "current" and one.version != note.version]
    states = (
        *(_turned(one, "UPDATE", "superseded", {}) for one in former),
        _turned(note, "UPDATE", "current", {"decision": CONFIRMED}),
    )
    store.write(user_id, Batch(states=states, trigger="person"), now=now)
    return store.notes(user_id, note_ids=[note_id])[-1]


def retract(store: Store, user_id: str, note_id: str, *, reason: str | None, now: datetime) -> Note:
    """Let a note count no more, by a person's word.

    Raises:
        NotFound: There is no such note.
        InvalidInput: It does not count anyway, or waits.
        StoreConflict: Something came between; plan again.
    """
    versions = store.notes(user_id, note_ids=[note_id], statuses=STATUSES)
    note = _counting(user_id, note_id, versions, ("current", "unsupported", "archived"), "retracted")
    why: dict[str, Json] = {} if reason is None else {"reason": reason}
    state = _turned(note, "RETRACT", "retracted", {"decision": "retracted", **why})
    store.write(user_id, Batch(states=(state,), trigger="person"), now=now)
    return replace(note, status="retracted")


def _counting(user_id: str, note_id: str, versions: Sequence[Note], statuses: Sequence[NoteStatus], what: str) -> Note:
    """The last version that has one of the statuses. Raises NotFound, InvalidInput."""
    if not versions:
        raise NotFound(f"user {user_id!r} has no note {note_id!r}")
    found = [note for note in versions if note.status in statuses]
    if not found:
        last = versions[-1].status
        way = "approve or reject it" if last == "proposed" else "undo what made it so"
        raise InvalidInput(f"note {note_id!r} of user {user_id!r} cannot be {what}: it is {last}; {way}")
    return found[-1]


def _turned(note: Note, action: Action, status: NoteStatus, detail: Mapping[str, Json]) -> NoteState:
    return NoteState(note.note_id, note.version, action, (note.status, note.valid), (status, note.valid), detail)


def undo(store: Store, user_id: str, operation_id: str, *, now: datetime) -> tuple[Operation, ...]:
    """Take back one operation; the operations that do it.

    Raises:
        NotFound: There is no such operation.
        InvalidInput: What it changed has changed since.
        StoreConflict: Something came between; plan again.
    """
    found = store.operations(user_id, operation_ids=[operation_id])
    if not found:
        raise NotFound(f"user {user_id!r} has no operation {operation_id!r}")
    operation = found[0]
    if operation.version is None:
        return _undo_metadata(store, user_id, operation, now)
    versions = store.notes(user_id, note_ids=[operation.target_id], statuses=STATUSES)
    by_version = {note.version: note for note in versions}
    note = by_version.get(operation.version)
    if note is None:
        raise InvalidInput(f"operation {operation_id!r} cannot be undone: its note was erased with its words")
    plan = _undone_state if "status" in operation.detail else _undone_version
    trigger = f"undo {operation_id}"
    states = plan(operation, note, by_version, lambda: _later(store, user_id, operation))
    batch = _waiting(store, user_id, operation, Batch(states=states, trigger=trigger))
    written = store.write(user_id, batch, now=now)
    return tuple(store.operations(user_id, operation_ids=written.operation_ids))


def _waiting(store: Store, user_id: str, operation: Operation, batch: Batch) -> Batch:
    """What is proposed again waits for a person again, and what is not any more does not."""
    held = store.held(user_id)
    for place, state in enumerate(batch.states):
        key = state.note_id, state.version
        if state.after[0] == "proposed":
            asks = Held(str(operation.detail.get("relation", "independent")), _name(operation.detail.get("target")))
            batch = replace(batch, waiting={**batch.waiting, key: asks})
        elif state.before[0] == "proposed" and key in held:
            asks = held[key]
            batch = replace(batch, settled=(*batch.settled, key))
        else:
            continue
        states = list(batch.states)
        states[place] = replace(state, detail={**state.detail, **_asked(asks)})
        batch = replace(batch, states=tuple(states))
    return batch


def _asked(held: Held) -> dict[str, Json]:
    """What a proposal asks for, for the log."""
    return {"relation": held.relation, "target": held.target_id}


def _name(target: Json) -> str | None:
    return target if isinstance(target, str) else None


def _undone_state(
    operation: Operation, note: Note, by_version: dict[int, Note], later: Callable[[], str]
) -> tuple[NoteState, ...]:
    """A change of status, the other way round."""
    del by_version
    (before, after), (valid_before, valid_after) = _pair(operation, "status"), _pair(operation, "valid")
    if note.status != after or note.valid != _interval(valid_after):
        raise InvalidInput(_changed_since(operation, later()))
    status = _STATUSES[str(before)]
    return (
        NoteState(note.note_id, note.version, "UPDATE", (note.status, note.valid), (status, _interval(valid_before))),
    )


def _undone_version(
    operation: Operation, note: Note, by_version: dict[int, Note], later: Callable[[], str]
) -> tuple[NoteState, ...]:
    """An added note or version: it is retracted, and the one before it counts again."""
    counted = [one.version for one in by_version.values() if one.status in ("current", "superseded")]
    if note.status not in ("current", "unsupported", "proposed") or max(counted, default=0) > note.version:
        raise InvalidInput(_changed_since(operation, later()))
    gone = NoteState(note.note_id, note.version, "RETRACT", (note.status, note.valid), ("retracted", note.valid))
    former = [one for one in by_version.values() if one.version < note.version and one.status == "superseded"]
    if operation.action != "UPDATE" or note.status != "current" or not former:
        return (gone,)
    last = max(former, key=lambda one: one.version)
    again = NoteState(last.note_id, last.version, "UPDATE", (last.status, last.valid), ("current", last.valid))
    return gone, again


def _undo_metadata(store: Store, user_id: str, operation: Operation, now: datetime) -> tuple[Operation, ...]:
    import json

    turns = store.turns(user_id, turn_ids=[operation.target_id])
    last = store.operations(user_id, target_id=operation.target_id)[-1]
    if not turns or last.operation_id != operation.operation_id:
        raise InvalidInput(_changed_since(operation, last.operation_id))
    before = as_object(json.loads(operation.before or "{}"), "metadata")
    store.set_metadata(user_id, operation.target_id, before, now=now)
    return (store.operations(user_id, target_id=operation.target_id)[-1],)


def _later(store: Store, user_id: str, operation: Operation) -> str:
    """The last operation on the same target."""
    return store.operations(user_id, target_id=operation.target_id)[-1].operation_id


def _changed_since(operation: Operation, last: str) -> str:
    return (
        f"operation {operation.operation_id!r} cannot be undone: {operation.target_id!r} has changed since; "
        f"undo {last!r} first"
    )


def _pair(operation: Operation, name: str) -> tuple[Json, Json]:
    found = operation.detail[name]
    assert isinstance(found, list)  # as the store writes it
    before, after = found
    return before, after


def _interval(ends: Json) -> Interval:
    assert isinstance(ends, list)  # as the store writes it
    start, end = (None if one is None else datetime.fromisoformat(str(one)) for one in ends)
    return Interval(start, end)
