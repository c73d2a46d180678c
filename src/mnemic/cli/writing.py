"""Commands that put words into a memory and take them out: add, delete, erase."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Annotated, Literal

import typer

from mnemic.cli import options, output
from mnemic.types import Erasure, Json

Role = Literal["user", "assistant", "system", "tool"]
_KINDS = {
    "turns": "messages",
    "units": "sentences",
    "notes": "versions of notes",
    "operations": "log entries",
    "requests": "idempotency keys",
}


def add(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The words; - reads them from standard input.")],
    db: options.Database = None,
    user: options.User = None,
    session: Annotated[str | None, typer.Option("--session", metavar="NAME", help="Its session. [default]")] = None,
    speaker: Annotated[str | None, typer.Option("--speaker", metavar="NAME", help="Who said it.")] = None,
    role: Annotated[Role, typer.Option("--role", help="In what role.")] = "user",
    timestamp: Annotated[
        str | None, typer.Option("--timestamp", metavar="TIME", help="When: 2024-03-01T10:22+01:00. [unknown]")
    ] = None,
    id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="Its id: the same id is never added twice.")
    ] = None,
    agent: Annotated[str | None, typer.Option("--agent", metavar="NAME", help="The agent it was said to.")] = None,
    timezone: options.Timezone = "UTC",
    embedder: options.EmbedderName = "local",
    json: options.AsJson = False,
) -> None:
    """Remember one message, word for word."""
    user_id = options.user(user)
    given = {"id": id, "speaker": speaker, "timestamp": timestamp}
    message: dict[str, Json] = {"role": role, "content": _words(text)}
    message |= {key: value for key, value in given.items() if value is not None}
    with options.memory(options.database(db), embedder, options.readers()) as memory:
        added = memory.add([message], user_id=user_id, session_id=session, agent_id=agent, timezone=timezone)
    output.warn(added.warnings)
    if json:
        output.result(output.as_json(asdict(added)))
    else:
        done = "Remembered as" if added.new else "Known already:"
        output.result(f"{done} {output.shown(added.turn_ids[0])}")
        for note_id in added.notes:
            output.result(f"Noted {note_id}")


def delete(
    db: options.Database = None,
    user: options.User = None,
    turn: Annotated[str | None, typer.Option("--turn", metavar="ID", help="Erase one message.")] = None,
    session: Annotated[str | None, typer.Option("--session", metavar="NAME", help="Erase one session.")] = None,
    all: Annotated[bool, typer.Option("--all", help="Erase everything of this user.")] = False,
    yes: options.Yes = False,
    embedder: options.EmbedderName = "local",
    json: options.AsJson = False,
) -> None:
    """Erase a message, a session, or a user.

    Everything derived from it goes with it. There is no way back.
    """
    user_id = options.user(user)
    if (turn is not None) + (session is not None) + all != 1:
        raise typer.BadParameter("erase what? Give one of --turn ID, --session NAME, --all")
    what = f"message {turn}" if turn is not None else f"session {session}" if session is not None else "everything"
    database = options.existing(db)
    _confirm(what, user_id, yes=yes)
    with options.memory(database, embedder) as memory:
        if all:
            count = memory.delete_all(user_id=user_id)
        else:
            count = memory.delete(user_id=user_id, turn_id=turn, session_id=session)
    output.result(output.as_json({"erased": count}) if json else f"Erased {output.counted(count, 'message')}")


def erase(
    db: options.Database = None,
    user: options.User = None,
    turn: Annotated[str | None, typer.Option("--turn", metavar="ID", help="Erase one message.")] = None,
    session: Annotated[str | None, typer.Option("--session", metavar="NAME", help="Erase one session.")] = None,
    speaker: Annotated[
        str | None, typer.Option("--speaker", metavar="NAME", help="Erase all that somebody of exactly this name said.")
    ] = None,
    all: Annotated[bool, typer.Option("--all", help="Erase everything of this user.")] = False,
    yes: options.Yes = False,
    embedder: options.EmbedderName = "local",
    json: options.AsJson = False,
) -> None:
    """Erase a message, a session, a speaker or a user, and give a receipt.

    It counts what went, and names what is out of reach: backups, exports. There is no way back.
    """
    user_id = options.user(user)
    named = {"message": turn, "session": session, "all that was said by": speaker, "everything": "" if all else None}
    chosen = [f"{what} {name}".strip() for what, name in named.items() if name is not None]
    if len(chosen) != 1:
        raise typer.BadParameter("erase what? Give one of --turn ID, --session NAME, --speaker NAME, --all")
    database = options.existing(db)
    _confirm(chosen[0], user_id, yes=yes)
    with options.memory(database, embedder) as memory:
        receipt = memory.erase(user_id=user_id, turn_id=turn, session_id=session, speaker=speaker, everything=all)
    output.result(output.as_json(asdict(receipt)) if json else _receipt(receipt))


def _receipt(receipt: Erasure) -> str:
    counts = (f"  {_KINDS.get(kind, kind)}: {count:,}" for kind, count in asdict(receipt.erased).items() if count)
    lines = ["Erased:", *counts]
    if receipt.lingers:
        lines += ["Bytes of it stand for a while yet in:", *(f"  {where}" for where in receipt.lingers)]
    else:
        lines.append("No byte of it is left in the database.")
    return "\n".join((*lines, "Out of reach from here:", *(f"  {output.shown(where)}" for where in receipt.unreached)))


def _confirm(what: str, user_id: str, *, yes: bool) -> None:
    """Have somebody say so, unless they have."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise typer.BadParameter("nobody is there to ask; give --yes to erase without asking")
    typer.confirm(f"Erase {output.shown(what)} of {output.shown(user_id)} for ever?", abort=True, err=True)


def _words(text: str) -> str:
    if text != "-":
        return text
    return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
