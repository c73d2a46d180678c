"""What the timeline shows: sessions, and of one of them the episodes, traces and turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mnemic.errors import InvalidInput, NotFound
from mnemic.service.inspector.words import address, counted, moment, named, short, stretch
from mnemic.types import Episode, Part, Session, Trace, Turn

if TYPE_CHECKING:
    from mnemic.service.tenant_memory import TenantMemory

TURNS: Final = 100
"""Turns on one page."""
SESSIONS: Final = 60
"""Sessions in the list at once."""
HUES: Final = 6
"""Colours of episodes, in turn."""


@dataclass(frozen=True, slots=True)
class Band:
    """An episode in the strip of a session: its colour, and its part of the whole, in percent."""

    hue: int
    percent: float
    topic: str
    href: str


@dataclass(frozen=True, slots=True)
class SessionItem:
    """A session in the list."""

    session_id: str
    name: str
    about: str
    href: str
    current: bool
    bands: tuple[Band, ...]


@dataclass(frozen=True, slots=True)
class Said:
    """A turn.

    Attributes:
        anchor: Of its element.
        traces: Those that begin with it: id and size.
        attachments: What it refers to besides its words, in words; never an address to follow.
        jumped: Whether the address of the page leads to it.
    """

    turn_id: str
    anchor: str
    href: str
    speaker: str
    role: str
    at: str
    text: str
    traces: tuple[tuple[str, str], ...]
    attachments: tuple[str, ...]
    jumped: bool


@dataclass(frozen=True, slots=True)
class EpisodeBlock:
    """A run of turns of one episode."""

    anchor: str
    hue: int
    topic: str
    summary: str
    about: str
    turns: tuple[Said, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """The page.

    Attributes:
        sessions: In the list, a page of them.
        older, newer: Addresses of the other pages of the list, where there are any.
        session: The one shown; None where there are none.
        strip: Its episodes.
        blocks: A page of its turns.
        before, after: Addresses of its other pages.
        missing: What was asked for and is not there.
    """

    total: int
    sessions: tuple[SessionItem, ...]
    older: str | None
    newer: str | None
    session: SessionItem | None
    strip: tuple[Band, ...]
    blocks: tuple[EpisodeBlock, ...]
    before: str | None
    after: str | None
    missing: str | None


def read(memory: TenantMemory, user_id: str, given: Mapping[str, str]) -> Timeline:
    """The timeline of a user.

    Args:
        memory: Of the tenant.
        user_id: Whose.
        given: ``session``, ``turn``, ``from`` (first turn of the page) and ``page`` (of the list), each if wanted.
    """
    sessions = memory.sessions(user_id=user_id)
    session_id, missing = _chosen(memory, user_id, sessions, given)
    page = _number(given.get("page"))
    if page is None:
        places = [place for place, one in enumerate(sessions) if one.session_id == session_id]
        page = (len(sessions) - 1 - places[0]) // SESSIONS if places else 0
    listed = sessions[::-1][page * SESSIONS : (page + 1) * SESSIONS]
    episodes: dict[str, list[Episode]] = {}
    for episode in memory.episodes(user_id=user_id):
        episodes.setdefault(episode.session_id, []).append(episode)
    items = tuple(_item(user_id, one, episodes.get(one.session_id, ()), session_id) for one in listed)
    base = {"user": user_id, "session": session_id}
    of_session = next((one for one in sessions if one.session_id == session_id), None)
    if of_session is None or session_id is None:
        return Timeline(len(sessions), items, None, None, None, (), (), None, None, missing)
    shown = _item(user_id, of_session, episodes.get(session_id, ()), session_id)
    turns = memory.get_all(user_id=user_id, session_id=session_id)
    first = _first(turns, given)
    window = turns[first : first + TURNS]
    traces = _begin(memory.traces(user_id=user_id, session_id=session_id))
    blocks = _blocks(user_id, window, episodes.get(session_id, ()), traces, given.get("turn"))
    has_older = (page + 1) * SESSIONS < len(sessions)
    return Timeline(
        total=len(sessions),
        sessions=items,
        older=address("timeline", {**base, "page": str(page + 1)}) if has_older else None,
        newer=address("timeline", {**base, "page": str(page - 1)}) if page else None,
        session=shown,
        strip=shown.bands,
        blocks=blocks,
        before=address("timeline", {**base, "from": str(max(first - TURNS, 0))}) if first else None,
        after=address("timeline", {**base, "from": str(first + TURNS)}) if first + TURNS < len(turns) else None,
        missing=missing,
    )


def anchor(turn_id: str) -> str:
    """The id of a turn's element: letters and digits alone, whatever the turn's id holds."""
    return "t" + turn_id.encode("utf-8", "surrogatepass").hex()


def to_turn(user_id: str, turn_id: str, session_id: str | None = None) -> str:
    """The address of a turn in the timeline."""
    given = {"user": user_id, "session": session_id, "turn": turn_id}
    return address("timeline", given, at=anchor(turn_id))


def _chosen(
    memory: TenantMemory, user_id: str, sessions: Sequence[Session], given: Mapping[str, str]
) -> tuple[str | None, str | None]:
    """The session to show, and what was asked for and is not there."""
    turn_id, wanted = given.get("turn"), given.get("session")
    missing = None
    if turn_id:
        found = find_turn(memory, user_id, turn_id)
        if found is not None:
            return found.session_id, None
        missing = f"There is no message {named(turn_id)} any more."
    known = {one.session_id for one in sessions}
    if wanted in known:
        return wanted, missing
    if wanted:
        missing = missing or f"There is no session {named(wanted)}."
    return (sessions[-1].session_id if sessions else None), missing


def find_turn(memory: TenantMemory, user_id: str, turn_id: str) -> Turn | None:
    """A turn; None where it is not there, or not any more, or no turn can be called so."""
    try:
        found = memory.get(turn_id, user_id=user_id)
    except (NotFound, InvalidInput):  # an address may hold anything
        return None
    return found if isinstance(found, Turn) else None


def _item(user_id: str, one: Session, episodes: Sequence[Episode], current: str | None) -> SessionItem:
    return SessionItem(
        session_id=one.session_id,
        name=named(one.session_id),
        about=f"{stretch(one.time)} · {counted(one.turns, 'message')}",
        href=address("timeline", {"user": user_id, "session": one.session_id}),
        current=one.session_id == current,
        bands=tuple(
            Band(
                hue=place % HUES,
                percent=round(100 * len(episode.turn_ids) / max(one.turns, 1), 3),
                topic=_topic(episode),
                href=to_turn(user_id, episode.turn_ids[0], one.session_id),
            )
            for place, episode in enumerate(episodes)
        ),
    )


def _topic(episode: Episode) -> str:
    return short(episode.topic, 120) or "no topic"


def _first(turns: Sequence[Turn], given: Mapping[str, str]) -> int:
    """Place of the first turn of the page."""
    if turn_id := given.get("turn"):
        place = next((place for place, turn in enumerate(turns) if turn.turn_id == turn_id), 0)
        return place // TURNS * TURNS
    return min(_number(given.get("from")) or 0, max(len(turns) - 1, 0))


def _begin(traces: Sequence[Trace]) -> dict[str, list[tuple[str, str]]]:
    """turn_id -> the traces that begin with it."""
    found: dict[str, list[tuple[str, str]]] = {}
    for trace in traces:
        found.setdefault(trace.spans[0].turn_id, []).append((trace.trace_id, counted(trace.tokens, "token")))
    return found


def _blocks(
    user_id: str,
    turns: Sequence[Turn],
    episodes: Sequence[Episode],
    traces: Mapping[str, Sequence[tuple[str, str]]],
    jumped: str | None,
) -> tuple[EpisodeBlock, ...]:
    place_of = {turn_id: place for place, episode in enumerate(episodes) for turn_id in episode.turn_ids}
    runs: list[tuple[int | None, list[Turn]]] = []
    for turn in turns:
        place = place_of.get(turn.turn_id)
        if runs and runs[-1][0] == place:
            runs[-1][1].append(turn)
        else:
            runs.append((place, [turn]))
    return tuple(
        _block(user_id, None if place is None else episodes[place], place or 0, run, traces, jumped)
        for place, run in runs
    )


def _block(
    user_id: str,
    episode: Episode | None,
    place: int,
    turns: Sequence[Turn],
    traces: Mapping[str, Sequence[tuple[str, str]]],
    jumped: str | None,
) -> EpisodeBlock:
    made_by = "" if episode is None else "cut by local rules" if episode.made_by == "rules" else f"by {episode.made_by}"
    about = " · ".join(part for part in (counted(len(turns), "message"), named(made_by)) if part)
    return EpisodeBlock(
        anchor=f"e{anchor(turns[0].turn_id)}",
        hue=place % HUES,
        topic="no episode" if episode is None else _topic(episode),
        summary="" if episode is None else episode.summary,
        about=about,
        turns=tuple(_said(user_id, turn, traces.get(turn.turn_id, ()), turn.turn_id == jumped) for turn in turns),
    )


def _said(user_id: str, turn: Turn, traces: Sequence[tuple[str, str]], jumped: bool) -> Said:
    return Said(
        turn_id=turn.turn_id,
        anchor=anchor(turn.turn_id),
        href=to_turn(user_id, turn.turn_id, turn.session_id),
        speaker=named(turn.speaker),
        role=turn.role,
        at=moment(turn.timestamp),
        text=turn.text,
        traces=tuple(traces),
        attachments=tuple(_attachment(part) for part in turn.parts if part.kind != "text"),
        jumped=jumped,
    )


def _attachment(part: Part) -> str:
    return f"{part.kind.replace('_', ' ')}: {named(part.ref)}" if part.ref else part.kind.replace("_", " ")


def _number(text: str | None) -> int | None:
    """A whole number of at least 0, of at most six digits; anything else is none."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) <= 6 else None
