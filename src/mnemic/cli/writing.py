"""Commands that put words into a memory and take them out: add, import, delete."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Literal

import typer

from mnemic import importers
from mnemic.cli import options, output
from mnemic.types import Json

ImportFormat = Literal["auto", "messages", "jsonl", "text", "locomo", "personamem", "longmemeval"]
Role = Literal["user", "assistant", "system", "tool"]

_Source = importers.Source | importers.Folder
_REASONS = 20


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


def import_(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="A file of conversations, in UTF-8, may be gzip; or a folder of them.")
    ],
    format: Annotated[
        ImportFormat, typer.Option("--format", help="What each file is; auto looks at its content.")
    ] = "auto",
    db: options.Database = None,
    user: options.User = None,
    session: Annotated[
        str | None,
        typer.Option(
            "--session", metavar="NAME", help="Name of sessions that a single file does not name. [the file's]"
        ),
    ] = None,
    timezone: options.Timezone = "UTC",
    embedder: options.EmbedderName = "local",
    json: options.AsJson = False,
) -> None:
    """Import conversations from a file, or from every file of a folder.

    Again, it adds only what is new, also after it was interrupted. Hidden files are passed over.

    The benchmarks (locomo, personamem, longmemeval) make one user per conversation, named by its id; every other
    format needs --user.
    """
    source = _source(path, None if format == "auto" else format, session)
    user_id = user if source.names_users else options.user(user)
    output.note(f"Reading {output.shown(path)}{_formats(source)}")
    report = importers.survey(source)
    # Nothing in the file: no database need be made for it.
    if report.messages:
        report = _remember(source, report.messages, options.database(db), user_id, timezone, embedder)
    output.warn(report.warnings)
    if json:
        skipped = [{"reason": r, "count": n, "first": first} for r, (n, first) in report.skipped.items()]
        output.result(output.as_json({"files": source.formats, **asdict(report), "skipped": skipped}))
    else:
        _tell(report)
    if not report.messages:
        output.note("error: nothing could be imported")
        raise typer.Exit(1)


def _source(path: str, format: importers.Format | None, session: str | None) -> _Source:
    place = output.path(path)
    if not place.is_dir():
        return importers.read(place, format, session=session)
    if session is not None:
        raise typer.BadParameter("--session is for a single file; in a folder every file names its own sessions")
    return importers.read_folder(place, format)


def _remember(
    source: _Source,
    total: int,
    database: str,
    user_id: str | None,
    timezone: str,
    embedder: str,
) -> importers.Report:
    try:
        with output.progress("Remembering", total) as advance, options.memory(database, embedder) as memory:
            return importers.load(source, memory, user_id=user_id, timezone=timezone, advance=advance)
    except KeyboardInterrupt:
        output.note("Interrupted. What was imported is kept; the same command goes on from there.")
        raise typer.Exit(130) from None


def _formats(source: _Source) -> str:
    """`` as text``; of a folder, ``: 2 files as text, 1 file as jsonl``."""
    if isinstance(source, importers.Source):
        return f" as {source.format}"
    counts = Counter(source.formats.values()).most_common()
    return ": " + (", ".join(f"{output.counted(n, 'file')} as {name}" for name, n in counts) or "no conversations")


def _tell(report: importers.Report) -> None:
    where = f"{output.counted(report.sessions, 'session')} of {_people(report.users)}"
    if report.messages:
        output.result(f"{output.counted(report.messages, 'message')} in {where}; {report.new:,} new")
    if report.given:
        output.result(f"{output.counted(report.given, 'given note')} kept")
    if report.notes:
        output.result(f"{output.counted(report.notes, 'note')} passed over: notes are made again from the messages")
    reasons = sorted(report.skipped.items(), key=lambda item: -item[1][0])
    for reason, (count, first) in reasons[:_REASONS]:
        output.result(f"  left out {count:,}: {output.shown(reason)} (first: {output.shown(first)})")
    if len(reasons) > _REASONS:
        more = output.counted(len(reasons) - _REASONS, "more reason")
        output.result(f"  and {more}; --json lists them all")


def _people(users: Sequence[str]) -> str:
    return output.shown(users[0]) if len(users) == 1 else output.counted(len(users), "user")


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
    if not yes:
        if not sys.stdin.isatty():
            raise typer.BadParameter("nobody is there to ask; give --yes to erase without asking")
        typer.confirm(f"Erase {output.shown(what)} of {output.shown(user_id)} for ever?", abort=True, err=True)
    with options.memory(database, embedder) as memory:
        if all:
            count = memory.delete_all(user_id=user_id)
        else:
            count = memory.delete(user_id=user_id, turn_id=turn, session_id=session)
    output.result(output.as_json({"erased": count}) if json else f"Erased {output.counted(count, 'message')}")


def _words(text: str) -> str:
    if text != "-":
        return text
    return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
