"""What the notes page shows: notes by person and kind, and of one of them its versions, sources and reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, get_args

from mnemic.errors import NotFound
from mnemic.service.inspector.differ import Piece, pieces
from mnemic.service.inspector.operations_view import Entry, clock, entry
from mnemic.service.inspector.timeline_view import find_turn, to_turn
from mnemic.service.inspector.words import address, day, moment, named, validity
from mnemic.types import STATUSES, Note, NoteKind, NoteStatus, Quarantined, Span, Turn

if TYPE_CHECKING:
    from mnemic.service.tenant_memory import TenantMemory

KINDS: Final[tuple[NoteKind, ...]] = get_args(NoteKind)
PAGE: Final = 40
Deed = Literal["approve", "reject", "confirm", "retract", "restore", "release", "discard"]
DEEDS: Final[dict[NoteStatus, tuple[Deed, ...]]] = {
    "current": ("confirm", "retract"),
    "unsupported": ("confirm", "retract"),
    "archived": ("restore", "retract"),
    "proposed": ("approve", "reject"),
    "quarantined": ("release", "discard"),
    "superseded": (),
    "retracted": (),
}
"""What a person may do with a note of each status; whatever was done before can be undone in its history."""


@dataclass(frozen=True, slots=True)
class Card:
    """A note in the list: its last version.

    Attributes:
        about: Whom.
        facts: When it holds, when it was last confirmed, and why it does not count where it does not.
        open: Whether its page is asked for.
    """

    note_id: str
    kind: NoteKind
    about: str
    text: str
    status: NoteStatus
    facts: tuple[str, ...]
    versions: int
    deeds: tuple[Deed, ...]
    open: bool


@dataclass(frozen=True, slots=True)
class Suspect:
    """Something in quarantine.

    Attributes:
        pieces: Its words, cut where they speak to the model that reads them: those are marked.
        facts: Whom it is from, and why it is held.
    """

    id: str
    kind: str
    pieces: tuple[Piece, ...]
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Notes about one person."""

    about: str
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class Notes:
    """The page.

    Attributes:
        people: Everybody whom a note is about, with how many notes.
        statuses: Each with how many notes.
        missing: What was asked for and is not there.
        past: Whether it shows another time: then nothing can be done to what it shows.
    """

    groups: tuple[Group, ...]
    proposals: tuple[Card, ...]
    quarantine: tuple[Suspect, ...]
    people: tuple[tuple[str, int], ...]
    statuses: tuple[tuple[NoteStatus, int], ...]
    total: int
    passing: int
    previous: str | None
    next: str | None
    missing: str | None
    past: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """The words that a note rests on, within the turn that they were said in."""

    speaker: str
    at: str
    before: str
    words: str
    after: str
    href: str


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a note, and what it changed in the words of the one before it."""

    number: int
    status: NoteStatus
    change: tuple[Piece, ...]
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Detail:
    """One note in full."""

    note_id: str
    sources: tuple[Source, ...]
    versions: tuple[Version, ...]
    cues: tuple[tuple[str, str], ...]
    history: tuple[Entry, ...]


def read(memory: TenantMemory, user_id: str, given: Mapping[str, str]) -> Notes:
    """The notes of a user.

    Args:
        memory: Of the tenant.
        user_id: Whose.
        given: ``kind``, ``about``, ``status`` (``any`` for all), ``note`` (one to open), ``page``, ``as_of`` (what was
            true then), ``known_at`` (what was believed then), each if wanted.
    """
    as_of, known_at = given.get("as_of") or None, given.get("known_at") or None
    past = as_of is not None or known_at is not None
    every = memory.notes(user_id=user_id, statuses=STATUSES, known_at=known_at)
    if as_of is not None:
        every = memory.notes(user_id=user_id, as_of=as_of, known_at=known_at)
    versions: dict[str, list[Note]] = {}
    for note in every:
        versions.setdefault(note.note_id, []).append(note)
    lasting = {note_id: _lasting(its) for note_id, its in versions.items()}
    wanted = given.get("note")
    missing = None if not wanted or wanted in lasting else f"There is no note {named(wanted)} any more."
    # What held at another time may not be current.
    status = given.get("status") or ("any" if as_of is not None else "current")
    kind, about = given.get("kind"), given.get("about")
    passing = [
        note
        for note in lasting.values()
        if (wanted and note.note_id == wanted)
        or (
            not (wanted and wanted in lasting)
            and status in ("any", note.status)
            and kind in (None, "", note.kind)
            and about in (None, "", note.about)
        )
    ]
    passing.sort(key=lambda note: (note.about, KINDS.index(note.kind)))
    page = int(given["page"]) if given.get("page", "").isdecimal() and len(given["page"]) < 6 else 0
    first = page * PAGE
    groups: dict[str, list[Card]] = {}
    for note in passing[first : first + PAGE]:
        card = _card(note, len(versions[note.note_id]), note.note_id == wanted)
        groups.setdefault(note.about, []).append(replace(card, deeds=()) if past else card)
    people = sorted({note.about for note in lasting.values()})
    return Notes(
        groups=tuple(Group(named(about), tuple(cards)) for about, cards in groups.items()),
        # What waits, waits today: it is no part of another time.
        proposals=()
        if past
        else tuple(_card(note, len(versions[note.note_id]), False) for note in memory.proposals(user_id=user_id)),
        quarantine=() if past else tuple(_suspect(one) for one in memory.quarantine(user_id=user_id)),
        people=tuple((name, sum(note.about == name for note in lasting.values())) for name in people),
        statuses=tuple((name, sum(note.status == name for note in lasting.values())) for name in STATUSES),
        total=len(lasting),
        passing=len(passing),
        previous=address("notes", {**given, "page": str(page - 1)}) if page else None,
        next=address("notes", {**given, "page": str(page + 1)}) if first + PAGE < len(passing) else None,
        missing=missing,
        past=past,
    )


def detail(memory: TenantMemory, user_id: str, note_id: str) -> Detail:
    """One note with its versions, sources, cues and history.

    Raises:
        NotFound: It is not there any more.
    """
    every = memory.notes(user_id=user_id, statuses=STATUSES)
    versions = [note for note in every if note.note_id == note_id]
    if not versions:
        raise NotFound(f"there is no note {named(note_id)} any more")
    note = _lasting(versions)
    turns = {
        span.turn_id: turn for span in note.sources if (turn := find_turn(memory, user_id, span.turn_id)) is not None
    }
    return Detail(
        note_id=note_id,
        sources=tuple(_source(user_id, turns[span.turn_id], span) for span in note.sources if span.turn_id in turns),
        versions=tuple(_version(one, before) for one, before in zip(versions, (None, *versions), strict=False))[::-1],
        cues=tuple((named(cue), address("graph", {"user": user_id, "cue": cue})) for cue in note.cues),
        history=tuple(entry(user_id, one) for one in reversed(memory.history(note_id, user_id=user_id))),
    )


def _lasting(versions: Sequence[Note]) -> Note:
    """The version that counts, or the last one."""
    return next((one for one in versions if one.status == "current"), versions[-1])


def _card(note: Note, versions: int, is_open: bool) -> Card:
    confirmed = () if note.last_confirmed is None else (f"last confirmed {day(note.last_confirmed)}",)
    return Card(
        note_id=note.note_id,
        kind=note.kind,
        about=named(note.about),
        text=note.text,
        status=note.status,
        facts=(validity(note.valid), *confirmed, *_trust(note), *_grounds(note)),
        versions=versions,
        deeds=DEEDS[note.status],
        open=is_open,
    )


def _trust(note: Note) -> tuple[str, ...]:
    """Whom it is from, where that is not the person, and in how many sessions it was said, where these are several."""
    tier = () if note.tier == "user" else (f"from {note.tier}",)
    return (*tier, f"said in {note.corroboration} sessions") if note.corroboration > 1 else tier


def _suspect(one: Quarantined) -> Suspect:
    cut: list[Piece] = []
    done = 0
    for start, end in one.suspect:
        cut += [Piece("same", one.text[done:start]), Piece("gone", one.text[start:end])]
        done = end
    cut.append(Piece("same", one.text[done:]))
    facts = (named(f"{one.kind} of {one.by}"), f"from {one.tier}", named(one.reason))
    return Suspect(one.id, one.kind, tuple(piece for piece in cut if piece.text), facts)


def _grounds(note: Note) -> tuple[str, ...]:
    """What its sources do not bear out, where that is so."""
    found = note.metadata.get("unsupported")
    lacking = [str(one) for one in found] if isinstance(found, list) else []
    return tuple(named(f"not borne out: {one}") for one in lacking)


def _version(note: Note, before: Note | None) -> Version:
    recorded = () if note.recorded_at is None else (f"recorded {clock(note.recorded_at)}",)
    change = (Piece("same", note.text),) if before is None else pieces(before.text, note.text)
    return Version(note.version, note.status, change, (validity(note.valid), *recorded))


def _source(user_id: str, turn: Turn, span: Span) -> Source:
    return Source(
        speaker=named(turn.speaker),
        at=moment(turn.timestamp),
        before=turn.text[: span.start],
        words=turn.text[span.start : span.end],
        after=turn.text[span.end :],
        href=to_turn(user_id, turn.turn_id, turn.session_id),
    )
