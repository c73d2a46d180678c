"""Commands that look around in a memory: sessions, traces, cues, neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mnemic.cli import hits, kept, options, output
from mnemic.cli.reading import knows
from mnemic.types import Cue

if TYPE_CHECKING:
    from mnemic.memory import Memory


def sessions(db: options.Database = None, user: options.User = None, json: options.AsJson = False) -> None:
    """List conversations, in the order in which they began."""
    user_id = options.user(user)
    with options.memory(options.existing(db), "none") as memory:
        found = memory.sessions(user_id=user_id)
        stranger = _stranger(memory, user_id, found)
    if _told("sessions", found, stranger, json=json):
        return
    for one in found:
        name = f"{one.session_id}: {output.counted(one.turns, 'message')}, {kept.stretch(one.time)}"
        output.styled(output.shown(name))
    output.note(output.counted(len(found), "session"))


def traces(
    db: options.Database = None,
    user: options.User = None,
    session: options.Session = None,
    json: options.AsJson = False,
) -> None:
    """List the runs of messages that a search can find, in the order of the dialogue."""
    user_id = options.user(user)
    with options.memory(options.existing(db), "none") as memory:
        found = memory.traces(user_id=user_id, session_id=session)
        stranger = _stranger(memory, user_id, found)
    if _told("traces", found, stranger, json=json):
        return
    for one in found:
        ends = " to ".join(dict.fromkeys((one.spans[0].turn_id, one.spans[-1].turn_id)))
        tokens = output.counted(one.tokens, "token")
        output.styled(output.shown(f"{one.trace_id}  session {one.session_id}: {ends}, {tokens}"))
    output.note(output.counted(len(found), "trace"))


def cues(
    db: options.Database = None,
    user: options.User = None,
    like: Annotated[str | None, typer.Option("--like", metavar="TEXT", help="Only cues that contain this.")] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="At most this many.")] = 50,
    json: options.AsJson = False,
) -> None:
    """List what sentences and notes mention, what most of them mention first."""
    user_id = options.user(user)
    with options.memory(options.existing(db), "none") as memory:
        found = memory.cues(user_id=user_id, like=like, limit=limit)
        stranger = _stranger(memory, user_id, found)
    if _told("cues", found, stranger, json=json):
        return
    for one in found:
        output.styled(output.shown(_sizes(one)))
    output.note(output.counted(len(found), "cue"))


def neighbours(
    key: Annotated[str, typer.Argument(metavar="CUE", help="As cues lists it.")],
    db: options.Database = None,
    user: options.User = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="Of each kind at most.")] = 20,
    json: options.AsJson = False,
) -> None:
    """Show what one step leads to from a cue: sentences, notes, and the cues beside it."""
    user_id = options.user(user)
    with options.memory(options.existing(db), "none") as memory:
        found = memory.neighbours(key, user_id=user_id, limit=limit)
    if json:
        output.result(output.as_json(asdict(found)))
        return
    output.styled(output.shown(_sizes(found.cue)), "bold")
    for sentence in found.units:
        output.styled(output.shown(f"{sentence.turn.turn_id}  {sentence.turn.speaker}: {sentence.text}"), indent=3)
    for note in found.notes:
        output.styled(output.shown(f"{note.note_id}  {note.about}, {note.kind}: {note.text}"), indent=3)
    for near in found.neighbours:
        output.styled(output.shown(f"beside {near.cue.key}: {near.shared:,} shared"), "dim", indent=3)


def _sizes(cue: Cue) -> str:
    sizes = {"sentence": cue.units, "note": cue.notes, "trace": cue.traces}
    return f"{cue.key}: {', '.join(output.counted(size, kind) for kind, size in sizes.items())}"


def _stranger(memory: Memory, user_id: str, found: Sequence[object]) -> str | None:
    """The user, where nothing is in memory."""
    return None if found or knows(memory, user_id) else user_id


def _told(name: str, found: Sequence[Any], stranger: str | None, *, json: bool) -> bool:  # any dataclass
    """Whether nothing is left to say: JSON was asked for, or nobody is there."""
    if stranger is not None:
        output.note(hits.nobody(stranger))
    if json:
        listed: Mapping[str, Any] = {name: [asdict(one) for one in found]}
        output.result(output.as_json(listed))
    return json or stranger is not None
