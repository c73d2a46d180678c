"""Notes that are let go, and brought back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from mnemic.algo.forgetting import strength, weakest
from mnemic.algo.moments import filled
from mnemic.algo.revise import plain
from mnemic.errors import InvalidInput, NotFound
from mnemic.protocols import Batch, NoteState, Store
from mnemic.types import STATUSES, Note, Operation

_DAY: Final = timedelta(days=1)


def forget(
    store: Store, user_id: str, *, max_notes: int, half_life_days: float, dry_run: bool, now: datetime
) -> tuple[Note, ...]:
    """Plan once which notes to archive, and do it; the weakest first.

    Raises:
        StoreConflict: Another writer came between.
    """
    notes = store.notes(user_id)
    if len(notes) <= max_notes:
        return ()
    strengths = _strengths(store, user_id, notes, half_life_days)
    # A trait is all that a profile says of its matter, unless another note says the same.
    witnesses = [f"{note.about}\0{plain(note.text)}" if note.kind == "trait" else None for note in notes]
    gone = weakest(strengths, witnesses, max_notes)
    states = tuple(
        NoteState(
            note_id=notes[place].note_id,
            version=notes[place].version,
            action="EXPIRE",
            before=(notes[place].status, notes[place].valid),
            after=("archived", notes[place].valid),
            detail={"strength": round(strengths[place], 6), "notes": len(notes), "max_notes": max_notes},
        )
        for place in gone
    )
    if states and not dry_run:
        store.write(user_id, Batch(states=states, trigger="forget"), now=now)
    return tuple(replace(notes[place], status="archived") for place in gone)


def restore(store: Store, user_id: str, note_id: str, *, now: datetime) -> Note:
    """Plan once how an archived note becomes current again, and do it.

    Raises:
        NotFound: There is no such note.
        InvalidInput: It is not archived.
        StoreConflict: Another writer came between.
    """
    found = store.notes(user_id, note_ids=[note_id], statuses=STATUSES)
    if not found:
        raise NotFound(f"user {user_id!r} has no note {note_id!r}")
    note = found[-1]
    if note.status != "archived":
        raise InvalidInput(f"note {note_id!r} of user {user_id!r} is not archived, but {note.status}")
    state = NoteState(
        note_id=note_id,
        version=note.version,
        action="UPDATE",
        before=(note.status, note.valid),
        after=("current", note.valid),
        detail={"reason": "restored"},
    )
    store.write(user_id, Batch(states=(state,), trigger="person"), now=now)
    return replace(note, status="current")


def _strengths(store: Store, user_id: str, notes: Sequence[Note], half_life_days: float) -> list[float]:
    """Of each note, in the time of the history.

    Nobody counts how often a note is found. What counts instead is in how many more sessions it was said: by its own
    sources, and by those of the notes that were retracted because it says the same.
    """
    said = [[span.turn_id for note in same for span in note.sources] for same in _same(store, user_id, notes)]
    turns = store.turns(user_id, turn_ids=[turn_id for its in said for turn_id in its])
    session = {turn.turn_id: turn.session_id for turn in turns}
    again = [max(0, len({session[turn_id] for turn_id in its if turn_id in session}) - 1) for its in said]
    heard = filled([note.last_confirmed for note in notes])
    latest = max(heard)
    return [
        strength((latest - at) / _DAY, hits, note.kind, half_life_days=half_life_days)
        for note, at, hits in zip(notes, heard, again, strict=True)
    ]


def _same(store: Store, user_id: str, notes: Sequence[Note]) -> list[list[Note]]:
    """Each note with those that were merged into it."""
    into = {operation.target_id: _other(operation) for operation in store.operations(user_id)}
    same = {note.note_id: [note] for note in notes}
    for note in store.notes(user_id, statuses=("retracted",)):
        if (kept := into.get(note.note_id)) in same:
            same[kept].append(note)
    return [same[note.note_id] for note in notes]


def _other(operation: Operation) -> str | None:
    """Into which note one was merged by that operation."""
    other = operation.detail.get("other")
    return other if operation.action == "MERGE" and isinstance(other, str) else None
