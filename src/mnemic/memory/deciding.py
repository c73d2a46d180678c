"""What a person decides about notes: proposals, and taking operations back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, Protocol

from mnemic.algo.revise import Proposal, Relation, revise
from mnemic.enrich import Judged, changed, quotations
from mnemic.errors import InvalidInput, NotFound
from mnemic.memory.undoing import asked
from mnemic.protocols import CONFIRMED, Batch, NoteState, Store, Written
from mnemic.types import STATUSES, Action, Json, Note, NoteStatus, Operation

_RELATIONS: Final[dict[str, Relation]] = {
    "independent": "independent",
    "extending": "extending",
    "contradictory": "contradictory",
}


class Write(Protocol):
    """Writes a batch of what was derived, with its vectors."""

    def __call__(self, user_id: str, batch: Batch, *, now: datetime) -> Written:
        """Write it."""
        ...


def decide(
    store: Store,
    user_id: str,
    note_id: str,
    *,
    approved: bool,
    write: Write,
    now: datetime,
    waits: NoteStatus = "proposed",
) -> tuple[Operation, ...]:
    """Let a note that waits count, or retract it; the operations.

    Raises:
        NotFound: No such note waits.
        StoreConflict: Something came between; plan again.
    """
    waiting = store.notes(user_id, note_ids=[note_id], statuses=(waits,))
    held = store.held(user_id).get((note_id, waiting[-1].version)) if waiting else None
    if held is None:
        raise NotFound(f"user {user_id!r} has no note {note_id!r} that waits for a decision")
    note = waiting[-1]
    batch = Batch()
    counts = False
    if approved:
        batch, counts = _approved(store, user_id, note, held.relation, held.target_id)
    status: NoteStatus = "current" if counts else "retracted"
    verdict: dict[str, Json] = {"decision": "approved" if approved else "rejected", **asked(held)}
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
        ways = {"proposed": "approve or reject it", "quarantined": "release or discard it"}
        way = ways.get(last, "undo what made it so")
        raise InvalidInput(f"note {note_id!r} of user {user_id!r} cannot be {what}: it is {last}; {way}")
    return found[-1]


def _turned(note: Note, action: Action, status: NoteStatus, detail: Mapping[str, Json]) -> NoteState:
    return NoteState(note.note_id, note.version, action, (note.status, note.valid), (status, note.valid), detail)
