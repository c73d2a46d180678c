"""New local notes that say by their own words that something changed or was wrong: what they replace counts no more."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from mnemic.algo import slots
from mnemic.algo.inconsistencies import by_age
from mnemic.algo.revise import superseded
from mnemic.algo.trust import outranks
from mnemic.protocols import BY_NOTE, Batch, NoteState, Store
from mnemic.types import Interval, Json, Note


def may(note: Note) -> bool:
    """Whether a new note is worth comparing with all that is known of its person."""
    return note.status == "current" and slots.may_replace(note.text)


def replace_old(store: Store, user_id: str, note_ids: Collection[str], *, now: datetime) -> None:
    """Let new notes take the place of older current ones that they change or correct; in one transaction.

    Raises:
        StoreConflict: Another writer came between; plan again.
    """
    new = store.notes(user_id, note_ids=list(note_ids))
    known = {about: by_age(store.notes(user_id, about=about)) for about in dict.fromkeys(note.about for note in new)}
    # Worked out once for each note, and kept of the few that give something a value: many may be added to many.
    rivals = {
        about: [(place, old, found) for place, old in enumerate(notes) if (found := slots.slots(old.text))]
        for about, notes in known.items()
    }
    places = {note.note_id: place for notes in known.values() for place, note in enumerate(notes)}
    states: list[NoteState] = []
    gone: set[str] = set()
    for note in by_age(new):
        said = slots.change(note.text)
        if said is None or note.note_id in gone:
            continue
        how, place = said.how, places[note.note_id]
        for older, old, values in rivals[note.about]:
            if older >= place:
                break
            if old.note_id in gone or not said.replaces(values) or outranks(old.tier, note.tier):
                continue
            gone.add(old.note_id)
            relation: dict[str, Json] = {"relation": how, BY_NOTE: note.note_id}
            states.append(_state(old, superseded(old, note), relation))
            if how == "corrected" and _is_earlier(old, note):
                # What is right now was so all the while.
                right = replace(note, valid=Interval(old.valid.start, note.valid.end))
                states.append(_state(note, right, {"relation": how, "other": old.note_id}))
                note = right
    if states:
        store.write(user_id, Batch(states=tuple(states), trigger="rules"), now=now)


def _is_earlier(old: Note, note: Note) -> bool:
    return note.valid.start is not None and (old.valid.start is None or old.valid.start < note.valid.start)


def _state(before: Note, after: Note, detail: dict[str, Json]) -> NoteState:
    action = "UPDATE" if before.status == after.status else "EXPIRE"
    return NoteState(
        note_id=before.note_id,
        version=before.version,
        action=action,
        before=(before.status, before.valid),
        after=(after.status, after.valid),
        detail=detail,
    )
