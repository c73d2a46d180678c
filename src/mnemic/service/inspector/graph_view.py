"""What the graph page shows: a cue, what mentions it, and the cues one step away."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mnemic.errors import NotFound
from mnemic.service.inspector.timeline_view import to_turn
from mnemic.service.inspector.words import address, counted, moment, named, short
from mnemic.types import Cue, Neighbour

if TYPE_CHECKING:
    from mnemic.service.tenant_memory import TenantMemory

LISTED: Final = 60
NEAR: Final = 14
_LABEL: Final = 24


@dataclass(frozen=True, slots=True)
class CueLink:
    """A cue to go to."""

    label: str
    about: str
    href: str


@dataclass(frozen=True, slots=True)
class Star:
    """A node of the drawing: where it stands, from -1 to 1 in both directions, and how large it is, from 0 to 1."""

    name: str
    label: str
    x: float
    y: float
    size: float
    href: str


@dataclass(frozen=True, slots=True)
class Mention:
    """A sentence with the cue in it."""

    speaker: str
    at: str
    text: str
    href: str


@dataclass(frozen=True, slots=True)
class Around:
    """A cue and its neighbourhood; the first star is the cue itself."""

    title: str
    about: str
    stars: tuple[Star, ...]
    near: tuple[CueLink, ...]
    mentions: tuple[Mention, ...]
    notes: tuple[CueLink, ...]


@dataclass(frozen=True, slots=True)
class Cues:
    """The page.

    Attributes:
        around: Of the cue that is asked for, or the most frequent one; None where there are none.
        missing: What was asked for and is not there.
    """

    listed: tuple[CueLink, ...]
    around: Around | None
    missing: str | None


def read(memory: TenantMemory, user_id: str, given: Mapping[str, str]) -> Cues:
    """Cues of a user.

    Args:
        memory: Of the tenant.
        user_id: Whose.
        given: ``like``, to list only cues that contain it, and ``cue``, to look around; each if wanted.
    """
    like = given.get("like", "").strip()
    found = memory.cues(user_id=user_id, like=like or None, limit=LISTED)
    key = given.get("cue") or (found[0].key if found else None)
    around = missing = None
    if key is not None:
        try:
            around = _around(memory, user_id, key, like)
        except NotFound:
            missing = f"Nothing mentions {named(key)} any more."
    return Cues(tuple(_link(user_id, cue, like) for cue in found), around, missing)


def _around(memory: TenantMemory, user_id: str, key: str, like: str) -> Around:
    found = memory.neighbours(key, user_id=user_id, limit=NEAR)
    return Around(
        title=named(found.cue.surface),
        about=_sizes(found.cue),
        stars=_stars(user_id, found.cue, found.neighbours, like),
        near=tuple(
            CueLink(named(one.cue.surface), f"{one.shared:,} shared", _href(user_id, one.cue.key, like))
            for one in found.neighbours
        ),
        mentions=tuple(
            Mention(
                named(one.turn.speaker),
                moment(one.turn.timestamp),
                one.text,
                to_turn(user_id, one.turn.turn_id, one.turn.session_id),
            )
            for one in found.units
        ),
        notes=tuple(
            CueLink(note.text, f"{note.kind} about {named(note.about)}", _note(user_id, note.note_id))
            for note in found.notes
        ),
    )


def _stars(user_id: str, cue: Cue, near: tuple[Neighbour, ...], like: str) -> tuple[Star, ...]:
    """The cue in the middle, its neighbours around it, on two rings where there are many."""
    most = max((one.shared for one in near), default=1)
    stars = [Star("0", short(named(cue.surface), _LABEL), 0.0, 0.0, 1.0, _href(user_id, cue.key, like))]
    for place, one in enumerate(near):
        angle = 2 * math.pi * place / len(near) - math.pi / 2
        radius = 0.98 if place % 2 == 0 or len(near) < 8 else 0.62
        stars.append(
            Star(
                name=str(place + 1),
                label=short(named(one.cue.surface), _LABEL),
                x=round(radius * math.cos(angle), 4),
                y=round(radius * math.sin(angle), 4),
                size=round(one.shared / most, 4),
                href=_href(user_id, one.cue.key, like),
            )
        )
    return tuple(stars)


def _link(user_id: str, cue: Cue, like: str) -> CueLink:
    return CueLink(named(cue.surface), f"{cue.units + cue.notes:,}", _href(user_id, cue.key, like))


def _sizes(cue: Cue) -> str:
    return " · ".join((counted(cue.units, "sentence"), counted(cue.notes, "note"), counted(cue.traces, "trace")))


def _href(user_id: str, key: str, like: str) -> str:
    return address("graph", {"user": user_id, "like": like, "cue": key})


def _note(user_id: str, note_id: str) -> str:
    return address("notes", {"user": user_id, "note": note_id})
