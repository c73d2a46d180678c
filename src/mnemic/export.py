"""Export: a user's turns and notes as JSON objects, for a line each."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from mnemic.protocols import Store
from mnemic.types import STATUSES, Interval, Json, Note, Turn

_PAGE = 1000


def records(store: Store, user_id: str) -> Iterator[dict[str, Json]]:
    """Every turn, as a message that ``Memory.add`` takes back unchanged, then every note as ``{"note": …}``.

    Traces, units, cues and vectors are not exported: they follow from the turns. So do notes, but for given ones.
    """
    last = -1
    while page := store.turns(user_id, after_seq=last, limit=_PAGE):
        yield from map(_message, page)
        last = page[-1].seq
    for note in store.notes(user_id, statuses=STATUSES):
        yield {"note": _note(note)}


def _message(turn: Turn) -> dict[str, Json]:
    message: dict[str, Json] = {"role": turn.role, "content": turn.text} if turn.given is None else dict(turn.given)
    message |= {"id": turn.turn_id, "session_id": turn.session_id, "speaker": turn.speaker}
    if turn.agent_id is not None:
        message["agent_id"] = turn.agent_id
    if turn.timestamp is not None:
        message["timestamp"] = turn.timestamp.isoformat()
    if turn.metadata:
        message["metadata"] = dict(turn.metadata)
    return message


def _note(note: Note) -> dict[str, Json]:
    fields: dict[str, Json] = {
        "id": note.note_id,
        "version": note.version,
        "kind": note.kind,
        "about": note.about,
        "text": note.text,
        "status": note.status,
        "valid": _interval(note.valid),
        "sources": [[span.turn_id, span.start, span.end] for span in note.sources],
        "recorded_at": _moment(note.recorded_at),
    }
    if note.metadata:
        fields["metadata"] = dict(note.metadata)
    return fields if note.given_id is None else fields | {"given_id": note.given_id}


def _interval(valid: Interval) -> list[Json]:
    return [_moment(valid.start), _moment(valid.end)]


def _moment(at: datetime | None) -> str | None:
    return at.isoformat() if at else None
