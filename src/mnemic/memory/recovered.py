"""What an export holds besides messages, read strictly: anything of a wrong type is told, never guessed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, TypeVar, get_args

from mnemic.algo.moments import parse_time
from mnemic.algo.scope import id_fault
from mnemic.errors import InvalidInput
from mnemic.protocols import Held, Numbers
from mnemic.types import (
    STATUSES,
    Action,
    Episode,
    Interval,
    Json,
    Note,
    NoteKind,
    Operation,
    Quarantine,
    Span,
    Trace,
    WorkKind,
    WorkState,
)

Value = TypeVar("Value", bound=str)
Fields = Mapping[str, Json]

_KINDS: Final[tuple[NoteKind, ...]] = get_args(NoteKind)
_ACTIONS: Final[tuple[Action, ...]] = get_args(Action)
_QUARANTINE: Final[tuple[Quarantine, ...]] = get_args(Quarantine)
_STATES: Final[tuple[WorkState, ...]] = get_args(WorkState)
# What a model found of cues is not in an export: whoever wants it has it read again.
_WORK: Final[tuple[WorkKind, ...]] = ("notes", "episodes")


@dataclass(frozen=True, slots=True)
class Kept:
    """One thing of an export, and the turns that it names."""

    value: Trace | Note | Operation | Episode
    turn_ids: frozenset[str] = frozenset()
    work: Mapping[WorkKind, WorkState] = field(default_factory=dict[WorkKind, WorkState])
    held: Mapping[tuple[str, int], Held] = field(default_factory=dict[tuple[str, int], Held])
    confirmations: Mapping[tuple[str, int], tuple[str, ...]] = field(
        default_factory=dict[tuple[str, int], tuple[str, ...]]
    )


def numbers(given: Json) -> Numbers:
    """The next numbers of an export's head; those that nothing has yet where it does not say."""
    fields = given if isinstance(given, dict) else {}
    found = {name: value for name in ("trace", "note", "operation") if isinstance(value := fields.get(name), int)}
    return Numbers(**{name: max(1, value) for name, value in found.items()})


def quarantine(given: Json) -> Quarantine:
    """How a message stands in quarantine. Raises InvalidInput."""
    return _one_of(given, _QUARANTINE, "quarantine")


def moment(given: Json, what: str) -> datetime:
    """A time. Raises InvalidInput."""
    found = _maybe_moment(given, what)
    if found is None:
        raise InvalidInput(f"{what} is missing")
    return found


def _trace(given: Json) -> Kept:
    fields = _fields(given, "a trace")
    spans = _spans(fields.get("spans"), "a trace's spans")
    if not spans:
        raise InvalidInput("a trace without spans")
    trace = Trace(
        _number(fields, "T"),
        _whole(fields, "ordinal"),
        _text(fields, "session_id"),
        spans,
        _whole(fields, "tokens"),
    )
    states = fields.get("work")
    work: dict[WorkKind, WorkState] = {}
    for kind in _WORK:
        if isinstance(states, dict) and states.get(kind) is not None:
            work[kind] = _one_of(states.get(kind), _STATES, "the state of work")
    return Kept(trace, frozenset(span.turn_id for span in spans), work)


def _note(given: Json) -> Kept:
    fields = _fields(given, "a note")
    note = Note(
        note_id=_number(fields, "N"),
        version=max(1, _whole(fields, "version")),
        kind=_one_of(fields.get("kind"), _KINDS, "kind"),
        about=_text(fields, "about"),
        text=_text(fields, "text"),
        valid=_interval(fields.get("valid")),
        sources=_spans(fields.get("sources"), "a note's sources"),
        status=_one_of(fields.get("status"), STATUSES, "status"),
        recorded_at=moment(fields.get("recorded_at"), "recorded_at"),
        metadata=_fields(fields.get("metadata") or {}, "metadata"),
        given_id=_maybe_text(fields, "given_id"),
    )
    if note.given_id is not None and (fault := id_fault(note.given_id)) is not None:
        raise InvalidInput(f"given_id {fault}")
    place = (note.note_id, note.version)
    confirmed = _texts(fields.get("confirmed_by") or [], "confirmed_by")
    held = fields.get("held")
    return Kept(
        note,
        frozenset(span.turn_id for span in note.sources) | frozenset(confirmed),
        held={} if held is None else {place: _held(held)},
        confirmations={place: confirmed} if confirmed else {},
    )


def _held(given: Json) -> Held:
    fields = _fields(given, "held")
    relation = _text(fields, "relation")
    return Held(relation[:16], _maybe_text(fields, "target"))


def _episode(given: Json) -> Kept:
    fields = _fields(given, "an episode")
    turn_ids = _texts(fields.get("turns"), "an episode's turns")
    if not turn_ids:
        raise InvalidInput("an episode without turns")
    episode = Episode(
        _number(fields, "E"),
        _text(fields, "session_id"),
        turn_ids,
        _text(fields, "topic"),
        _text(fields, "summary"),
        Interval(None, None),
        _text(fields, "made_by"),
        moment(fields.get("recorded_at"), "recorded_at"),
    )
    return Kept(episode, frozenset(turn_ids))


def _operation(given: Json) -> Kept:
    fields = _fields(given, "an operation")
    version = fields.get("version")
    return Kept(
        Operation(
            operation_id=_number(fields, "O"),
            at=moment(fields.get("at"), "at"),
            action=_one_of(fields.get("action"), _ACTIONS, "action"),
            target_id=_text(fields, "target"),
            trigger=_text(fields, "trigger"),
            before=_maybe_text(fields, "before"),
            after=_maybe_text(fields, "after"),
            version=None if version is None else _whole(fields, "version"),
            detail=_fields(fields.get("detail") or {}, "detail"),
        )
    )


KINDS: Final[Mapping[str, Callable[[Json], Kept]]] = {
    "trace": _trace,
    "note": _note,
    "episode": _episode,
    "operation": _operation,
}
"""The one key of a record -> what reads its value; raises InvalidInput."""


def _fields(given: Json, what: str) -> dict[str, Json]:
    if not isinstance(given, dict):
        raise InvalidInput(f"{what} is not an object")
    return given


def _text(fields: Fields, key: str) -> str:
    value = fields.get(key)
    if not isinstance(value, str):
        raise InvalidInput(f"{key} is not a text")
    return value


def _maybe_text(fields: Fields, key: str) -> str | None:
    return None if fields.get(key) is None else _text(fields, key)


def _texts(given: Json, what: str) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise InvalidInput(f"{what} are not a list of ids")
    return tuple(dict.fromkeys(str(one) for one in given))


def _whole(fields: Fields, key: str) -> int:
    value = fields.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 62:
        raise InvalidInput(f"{key} is not a whole number")
    return value


def _number(fields: Fields, kind: str) -> str:
    value = _text(fields, "id")
    digits = value[1:]
    if value[:1] != kind or not (digits.isascii() and digits.isdigit()) or digits[0] == "0" or len(digits) > 18:
        raise InvalidInput(f"id is not of the form {kind}7")
    return value


def _one_of(given: Json, known: tuple[Value, ...], what: str) -> Value:
    for one in known:
        if given == one:
            return one
    raise InvalidInput(f"{what} is one of {', '.join(known)}")


def _spans(given: Json, what: str) -> tuple[Span, ...]:
    if not isinstance(given, list):
        raise InvalidInput(f"{what} are not a list")
    return tuple(_span(one, what) for one in given)


def _span(given: Json, what: str) -> Span:
    if isinstance(given, list) and len(given) == 3:
        turn_id, start, end = given
        if isinstance(turn_id, str) and isinstance(start, int) and isinstance(end, int) and 0 <= start <= end < 1 << 31:
            return Span(turn_id, int(start), int(end))
    raise InvalidInput(f"{what} are each a turn id, a start and an end")


def _interval(given: Json) -> Interval:
    if not isinstance(given, list) or len(given) != 2:
        raise InvalidInput("valid is not a pair of times")
    return Interval(_maybe_moment(given[0], "valid"), _maybe_moment(given[1], "valid"))


def _maybe_moment(given: Json, what: str) -> datetime | None:
    if given is not None and not isinstance(given, str):
        raise InvalidInput(f"{what} is not a time in ISO format")
    try:
        return parse_time(given, "UTC")
    except InvalidInput as error:
        raise InvalidInput(f"{what} is not a time in ISO format") from error
