"""Export: everything of a user as JSON objects, for a line each, from which it can be written back as it was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from mnemic.protocols import Held, Store
from mnemic.types import STATUSES, Episode, Interval, Json, Note, Operation, Span, Trace, Turn, WorkKind, WorkState

VERSION = 1
"""Of the lines; it grows when an older mnemic could not read them any more."""
_PAGE = 1000


def records(store: Store, user_id: str) -> Iterator[dict[str, Json]]:
    """What a user has: nothing for an unknown one.

    First ``{"mnemic": …}``, which names the export. Then every turn, as a message that ``Memory.add`` takes back
    unchanged, with ``{"recorded_at": …}`` before those of another time, and ``{"trace": …}`` behind the turns it is of.
    Then ``{"note": …}`` for every version, ``{"episode": …}`` and ``{"operation": …}``.

    Units, cues and vectors are not exported: they follow from the words.
    """
    page = store.turns(user_id, limit=_PAGE)
    if not page:
        return
    yield _header(store, user_id, page[0])
    recorded_at: datetime | None = None
    while page:
        for turn in page:
            if turn.recorded_at != recorded_at:
                recorded_at = turn.recorded_at
                yield {"recorded_at": moment(recorded_at)}
            yield _message(turn)
        yield from _traces(store, user_id, page)
        page = store.turns(user_id, after_seq=page[-1].seq, limit=_PAGE)
    confirmations, held = store.confirmations(user_id), store.held(user_id)
    for note in store.notes(user_id, statuses=STATUSES):
        place = (note.note_id, note.version)
        yield {"note": _note(note, confirmations.get(place, ()), held.get(place))}
    for episode in store.episodes(user_id):
        yield {"episode": _episode(episode)}
    for operation in store.operations(user_id):
        yield {"operation": _operation(operation)}


def _header(store: Store, user_id: str, first: Turn) -> dict[str, Json]:
    numbers = store.numbers(user_id)
    counted: dict[str, Json] = {"trace": numbers.trace, "note": numbers.note, "operation": numbers.operation}
    # The same state is the same export, whenever it is made.
    state = json.dumps([user_id, store.revision(user_id), counted, first.turn_id, moment(first.recorded_at)])
    return {"mnemic": {"version": VERSION, "export": hashlib.sha256(state.encode()).hexdigest()[:32], "next": counted}}


def _traces(store: Store, user_id: str, page: Sequence[Turn]) -> Iterator[dict[str, Json]]:
    """The traces that end in a page of turns."""
    ids = {turn.turn_id for turn in page}
    found = [trace for trace in store.traces(user_id, turn_ids=list(ids)) if trace.spans[-1].turn_id in ids]
    work = store.work_on(user_id, [trace.trace_id for trace in found])
    for trace in found:
        yield {"trace": _trace(trace, work.get(trace.trace_id, {}))}


def _message(turn: Turn) -> dict[str, Json]:
    message: dict[str, Json] = {"role": turn.role, "content": turn.text} if turn.given is None else dict(turn.given)
    message |= {"id": turn.turn_id, "session_id": turn.session_id, "speaker": turn.speaker}
    if turn.agent_id is not None:
        message["agent_id"] = turn.agent_id
    if turn.timestamp is not None:
        message["timestamp"] = turn.timestamp.isoformat()
    if turn.metadata:
        message["metadata"] = dict(turn.metadata)
    if turn.tier is not None:
        message["tier"] = turn.tier
    if turn.quarantine is not None:
        message["quarantine"] = turn.quarantine
    return message


def _trace(trace: Trace, work: Mapping[WorkKind, WorkState]) -> dict[str, Json]:
    fields: dict[str, Json] = {
        "id": trace.trace_id,
        "ordinal": trace.ordinal,
        "session_id": trace.session_id,
        "spans": spans(trace.spans),
        "tokens": trace.tokens,
    }
    if work:
        states: dict[str, Json] = {kind: state for kind, state in work.items()}
        fields["work"] = states
    return fields


def _note(note: Note, confirmed: Sequence[str], held: Held | None) -> dict[str, Json]:
    fields: dict[str, Json] = {
        "id": note.note_id,
        "version": note.version,
        "kind": note.kind,
        "about": note.about,
        "text": note.text,
        "status": note.status,
        "valid": interval(note.valid),
        "sources": spans(note.sources),
        "recorded_at": moment(note.recorded_at),
    }
    if note.metadata:
        fields["metadata"] = dict(note.metadata)
    if note.given_id is not None:
        fields["given_id"] = note.given_id
    if confirmed:
        fields["confirmed_by"] = list[Json](confirmed)
    if held is not None:
        fields["held"] = {"relation": held.relation, "target": held.target_id}
    return fields


def _episode(episode: Episode) -> dict[str, Json]:
    return {
        "id": episode.episode_id,
        "session_id": episode.session_id,
        "turns": list[Json](episode.turn_ids),
        "topic": episode.topic,
        "summary": episode.summary,
        "made_by": episode.made_by,
        "recorded_at": moment(episode.recorded_at),
    }


def _operation(operation: Operation) -> dict[str, Json]:
    fields: dict[str, Json] = {
        "id": operation.operation_id,
        "at": moment(operation.at),
        "action": operation.action,
        "target": operation.target_id,
        "version": operation.version,
        "trigger": operation.trigger,
        "before": operation.before,
        "after": operation.after,
    }
    if operation.detail:
        fields["detail"] = dict(operation.detail)
    return fields


def spans(given: Sequence[Span]) -> list[Json]:
    """Each as turn id, start and end."""
    return [[span.turn_id, span.start, span.end] for span in given]


def interval(valid: Interval) -> list[Json]:
    """From and to."""
    return [moment(valid.start), moment(valid.end)]


def moment(at: datetime | None) -> str | None:
    """ISO format."""
    return at.isoformat() if at else None
