"""What was true, and what was believed, at another time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import Final

from mnemic.protocols import Store
from mnemic.types import STATUSES, Episode, Note, NoteStatus, Turn

_PIECE: Final = 200
_EVER_COUNTED: Final[tuple[NoteStatus, ...]] = ("current", "superseded", "retracted", "archived")


def notes(
    store: Store,
    user_id: str,
    at: datetime | None,
    known_at: datetime | None,
    *,
    about: str | None = None,
    note_ids: Sequence[str] | None = None,
) -> list[Note]:
    """The notes that count for a question about another time: those that held at ``at``, by what ``known_at`` knew."""
    if at is None:
        return store.notes(user_id, about=about, note_ids=note_ids, known_at=known_at)
    return held(store.notes(user_id, about=about, note_ids=note_ids, statuses=STATUSES, known_at=known_at), at)


def versions(
    store: Store,
    user_id: str,
    known_at: datetime | None,
    *,
    about: str | None,
    statuses: Collection[NoteStatus] = STATUSES,
    after: str | None = None,
) -> Iterator[Note]:
    """Versions behind one, by note and version: read piece by piece, as far as they are asked for."""
    while True:
        piece = store.notes(user_id, about=about, statuses=statuses, known_at=known_at, after=after, limit=_PIECE)
        yield from piece
        if len(piece) < _PIECE:
            return
        after = f"{piece[-1].note_id}.{piece[-1].version}"


def held_after(
    store: Store, user_id: str, at: datetime, known_at: datetime | None, *, about: str | None, after: str | None
) -> Iterator[Note]:
    """What held at a time, of the notes behind one."""
    # A note is one of these or none, whatever its versions.
    behind = None if after is None else after.partition(".")[0]
    for _, its in groupby(versions(store, user_id, known_at, about=about, after=behind), lambda note: note.note_id):
        yield from held(its, at)


def held(versions: Iterable[Note], at: datetime) -> list[Note]:
    """What held at a time, as far as it is known: the last version of each note, if it was not taken back.

    What was superseded held until what took its place began to hold; of what never came to an end that way nobody knows
    how long it held.
    """
    lasting: dict[str, Note] = {}
    for note in versions:
        before = lasting.get(note.note_id)
        if note.status in _EVER_COUNTED and (before is None or before.status != "current"):
            lasting[note.note_id] = note
    return [note for note in lasting.values() if holds(note, at) and _counts(note)]


def holds(note: Note, at: datetime) -> bool:
    """Whether a time lies in a note's validity."""
    start, end = note.valid.start, note.valid.end
    return (start is None or start <= at) and (end is None or at < end)


def was_known(one: Turn | Episode, known_at: datetime | None) -> bool:
    """Whether something was recorded by a time; whatever is there, without one."""
    return known_at is None or (one.recorded_at is not None and one.recorded_at <= known_at)


def _counts(note: Note) -> bool:
    return note.status == "current" or (note.status == "superseded" and note.valid.end is not None)
