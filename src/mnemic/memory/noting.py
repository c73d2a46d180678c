"""Notes that somebody else wrote: read as callers give them, and made to rest on stored turns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, cast, get_args

from mnemic.algo.jsonable import as_object
from mnemic.algo.made_ids import statement_id
from mnemic.algo.moments import clip, parse_time, zone
from mnemic.algo.scope import id_fault
from mnemic.errors import InvalidInput, NotFound
from mnemic.types import Interval, Json, Note, NoteKind, Span, Turn

_FIELDS: Final = ("id", "text", "sources", "about", "kind", "valid", "metadata")
_KINDS: Final[tuple[NoteKind, ...]] = get_args(NoteKind)
_SHOWN: Final = 5
"""Ids that an error names."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a note has its statement from: a turn, or the slice ``[start, end)`` of one."""

    turn_id: str
    slice: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Given:
    """A note as it was given, checked by itself; what is None follows from its sources, or from what it states."""

    given_id: str | None
    text: str
    sources: tuple[Source, ...]
    about: str | None
    kind: NoteKind
    valid: Interval | None
    metadata: dict[str, Json]

    @property
    def turn_ids(self) -> tuple[str, ...]:
        """The turns it rests on, each once."""
        return tuple(dict.fromkeys(source.turn_id for source in self.sources))


def read(notes: object, timezone: str) -> list[Given]:
    """Read notes as ``Memory.add_notes`` takes them.

    Args:
        notes: One mapping or any number of them; they are not changed.
        timezone: Of times without one.

    Raises:
        InvalidInput: A note cannot be used, or two have the same id (the error names it by its index); or there is no
            such timezone.
    """
    zone(timezone)
    found: list[Given] = []
    places: dict[str, int] = {}
    for index, note in enumerate(_listed(notes)):
        try:
            given = _given(note, timezone)
        except InvalidInput as error:
            raise InvalidInput(f"notes[{index}]: {error}") from error
        if given.given_id is not None and (first := places.setdefault(given.given_id, index)) != index:
            raise InvalidInput(f"notes[{index}]: id {clip(given.given_id)} is also the id of notes[{first}]")
        found.append(given)
    return found


def resolved(given: Sequence[Given], turns: Mapping[str, Turn]) -> list[Note]:
    """Notes on their turns, with ids and with what their givers left open; without cues and ``note_id``.

    Args:
        given: As read.
        turns: turn_id -> turn, of those that the notes name, as far as there are any.

    Raises:
        NotFound: Names the turns that there are not, and the first note that rests on one.
        InvalidInput: A source reaches beyond its turn.
    """
    firsts: dict[str, int] = {}
    for index, one in enumerate(given):
        for turn_id in one.turn_ids:
            firsts.setdefault(turn_id, index)
    lost = [turn_id for turn_id in firsts if turn_id not in turns]
    if lost:
        more = f" and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
        raise NotFound(
            f"notes[{firsts[lost[0]]}]: there is no turn {', '.join(map(clip, lost[:_SHOWN]))}{more}; "
            "nothing was stored: add the messages first, or leave these sources out"
        )
    found: list[Note] = []
    for index, one in enumerate(given):
        try:
            found.append(_resolved(one, turns))
        except InvalidInput as error:
            raise InvalidInput(f"notes[{index}]: {error}") from error
    return found


def contradicted(notes: Iterable[Note], stored: Mapping[str | None, Note]) -> tuple[str, ...]:
    """A warning where notes with known ids state something else than what is stored under them.

    Args:
        notes: All with a ``given_id``.
        stored: ``given_id`` -> note, of those that are stored.
    """
    known = ((note.given_id, note, stored[note.given_id]) for note in notes if note.given_id in stored)
    other = [given_id for given_id, note, its in known if _stated(note) != _stated(its)]
    if not other:
        return ()
    return (f"notes not stored: {len(other)}; another statement has the id already ({other[0]!r} first)",)


def _stated(note: Note) -> tuple[str, str, frozenset[Span]]:
    """What makes two notes one statement."""
    return note.text, note.about, frozenset(note.sources)


def _resolved(given: Given, turns: Mapping[str, Turn]) -> Note:
    said = [turns[turn_id] for turn_id in given.turn_ids]
    times = [turn.timestamp for turn in said if turn.timestamp is not None]
    note = Note(
        note_id="",
        version=1,
        kind=given.kind,
        about=said[0].speaker if given.about is None else given.about,
        text=given.text,
        valid=given.valid or Interval(min(times, default=None), None),
        sources=tuple(dict.fromkeys(_span(source, turns[source.turn_id]) for source in given.sources)),
        metadata=given.metadata,
        given_id=given.given_id,
    )
    return note if note.given_id is not None else replace(note, given_id=statement_id(note))


def _span(source: Source, turn: Turn) -> Span:
    start, end = source.slice or (0, len(turn.text))
    if end > len(turn.text):
        raise InvalidInput(f"a source ends at {end}, but turn {clip(turn.turn_id)} has {len(turn.text)} characters")
    return Span(turn.turn_id, start, end)


def _listed(notes: object) -> Iterable[object]:
    if isinstance(notes, Mapping):
        return (cast(object, notes),)
    if isinstance(notes, Iterable) and not isinstance(notes, (str, bytes, bytearray, memoryview)):
        return cast(Iterable[object], notes)
    raise InvalidInput(f"notes must be a mapping or a list of mappings, not {type(cast(object, notes)).__name__}")


def _given(note: object, timezone: str) -> Given:
    """One note. Raises InvalidInput, whose message does not say which note."""
    if not isinstance(note, Mapping):
        raise InvalidInput(f"must be a mapping with text and sources, not {type(note).__name__}")
    given = {key: value for key, value in cast(Mapping[object, object], note).items() if value is not None}
    unknown = [key for key in given if key not in _FIELDS]
    if unknown:
        raise InvalidInput(f"has no field {clip(unknown[0])}; there are: {', '.join(_FIELDS)}")
    return Given(
        given_id=None if "id" not in given else _id(given["id"], "id"),
        text=_text(given.get("text")),
        sources=_sources(given.get("sources")),
        about=None if "about" not in given else _id(given["about"], "about"),
        kind=_kind(given.get("kind", "fact")),
        valid=_valid(given.get("valid"), timezone),
        metadata=as_object(given.get("metadata", {}), "metadata"),
    )


def _id(value: object, what: str) -> str:
    """An id or a name; as in messages, an id may be a number."""
    name = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    fault = id_fault(name)
    if fault is not None:
        raise InvalidInput(f"{what} {fault}")
    return str(name)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise InvalidInput("has no text" if value is None else f"text must be a string, not {type(value).__name__}")
    if not value.strip():
        raise InvalidInput("text is blank")
    return str(value)


def _sources(value: object) -> tuple[Source, ...]:
    if value is None or (isinstance(value, Sequence) and not value):
        raise InvalidInput("has no sources; name the turns it rests on, or add what it says as a message")
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
        raise InvalidInput(f"sources must be a list of turn ids, not {type(cast(object, value)).__name__}")
    return tuple(_source(one, f"sources[{index}]") for index, one in enumerate(cast(Sequence[object], value)))


def _source(value: object, what: str) -> Source:
    """A turn id, a Span, or the three fields of one."""
    if isinstance(value, Span):
        value = (value.turn_id, value.start, value.end)
    if not isinstance(value, (list, tuple)):
        return Source(_id(value, what), None)
    fields = cast(Sequence[object], value)
    if len(fields) != 3:
        raise InvalidInput(f"{what} is a turn id, or a turn id with the start and end of a slice")
    turn_id, start, end = fields
    if not isinstance(start, int) or not isinstance(end, int) or not 0 <= start < end:
        raise InvalidInput(f"{what} must start at 0 or later and end behind that, not {clip(start)} and {clip(end)}")
    return Source(_id(turn_id, what), (int(start), int(end)))


def _kind(value: object) -> NoteKind:
    for kind in _KINDS:
        if value == kind:
            return kind
    raise InvalidInput(f"kind is one of {', '.join(_KINDS)}, not {clip(value)}")


def _valid(value: object, timezone: str) -> Interval | None:
    if value is None:
        return None
    if isinstance(value, Interval):
        value = (value.start, value.end)
    if not isinstance(value, (list, tuple)) or len(cast(Sequence[object], value)) != 2:
        raise InvalidInput("valid must be a pair of times, from and to, each of them None where it is open")
    ends = zip(("from", "to"), cast(Sequence[object], value), strict=True)
    start, end = (_time(name, moment, timezone) for name, moment in ends)
    if start is not None and end is not None and start >= end:
        raise InvalidInput(f"valid ends at {end.isoformat()}, which is not after {start.isoformat()}")
    return Interval(start, end)


def _time(name: str, value: object, timezone: str) -> datetime | None:
    try:
        return parse_time(value, timezone)
    except InvalidInput as error:
        raise InvalidInput(f"valid {name}: {error}") from error
