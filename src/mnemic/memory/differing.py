"""What changed among notes between two moments."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from mnemic.protocols import Store
from mnemic.types import Note, NoteChange


def diff(store: Store, user_id: str, a: datetime, b: datetime) -> list[NoteChange]:
    """How the notes that counted at ``b`` differ from those at ``a``, by what was recorded when; by note_id."""
    log = store.operations(user_id)
    before, after = (_counted(store.notes(user_id, known_at=moment)) for moment in (a, b))
    early, late = sorted((a, b))
    changes: list[NoteChange] = []
    for note_id in sorted({*before, *after}, key=lambda note_id: int(note_id[1:])):
        pair = before.get(note_id), after.get(note_id)
        if _told(pair[0]) != _told(pair[1]):
            done = (one.operation_id for one in log if one.target_id == note_id and early < one.at <= late)
            changes.append(NoteChange(note_id, *pair, tuple(done)))
    return changes


def _counted(notes: Iterable[Note]) -> dict[str, Note]:
    return {note.note_id: note for note in notes}


def _told(note: Note | None) -> object:
    """What makes a note another one than it was."""
    return None if note is None else (note.version, note.valid)
