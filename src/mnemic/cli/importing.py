"""The command that reads conversations from files: import."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mnemic import importers
from mnemic.cli import options, output
from mnemic.errors import InvalidInput
from mnemic.importers.files import DateOrder

if TYPE_CHECKING:
    from mnemic.memory import Memory

ImportFormat = Literal[
    "auto", "messages", "jsonl", "text", "csv", "chatgpt", "claude", "slack", "whatsapp", "mem0", "langgraph", "mnemic",
    "locomo", "personamem", "longmemeval",
]  # fmt: skip

_Source = importers.Source | importers.Folder
_REASONS = 20


def import_(
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH",
            help="A file of conversations in UTF-8, may be gzip or an export's zip; or a folder of them.",
        ),
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
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column", metavar="FIELD=NAME", help="Of CSV: which column holds content, name, role, timestamp, …"
        ),
    ] = None,
    date_order: Annotated[
        DateOrder | None, typer.Option("--date-order", help="Of 3/4/2024 where the file leaves it open. [dmy]")
    ] = None,
    timezone: options.Timezone = "UTC",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Read all of it and report; store nothing.")] = False,
    embed: Annotated[
        Literal["now", "later"],
        typer.Option("--embed", help="later: leave the vectors to mnemic worker; words are found at once."),
    ] = "now",
    embedder: options.EmbedderName = "local",
    json: options.AsJson = False,
) -> None:
    """Import conversations from a file, or from every file of a folder.

    Exports of ChatGPT, Claude, Slack and WhatsApp, chat messages in JSON, JSON lines or CSV, transcripts, dumps of
    other memories, and mnemic's own export. All words are stored first, and found; then they are embedded.

    Again, it adds only what is new, also after it was interrupted or killed. What cannot be read is left out, counted
    and told with its place. Hidden files are passed over.

    The benchmarks (locomo, personamem, longmemeval) make one user per conversation, named by its id; every other
    format needs --user.
    """
    source = _source(path, None if format == "auto" else format, session, _columns(column), date_order)
    user_id = user if source.names_users or dry_run else options.user(user)
    output.note(f"Reading {output.shown(path)}{_formats(source)}")
    report = importers.survey(source)
    unembedded = 0
    # Nothing in the file: no database need be made for it.
    if report.messages and not dry_run:
        aim = _Aim(options.database(db), user_id, timezone, embedder, embed)
        report, unembedded = _remember(source, report.messages, aim)
    output.warn(report.warnings)
    if json:
        output.result(output.as_json(report.told(source.formats, unembedded=unembedded, dry_run=dry_run)))
    else:
        _tell(report, unembedded, dry_run=dry_run)
    if not report.messages:
        output.note("error: nothing could be imported")
        raise typer.Exit(1)


@dataclass(frozen=True, slots=True)
class _Aim:
    """Where an import goes, and how."""

    database: str
    user_id: str | None
    timezone: str
    embedder: str
    embed: Literal["now", "later"]


def _source(
    path: str,
    format: importers.Format | None,
    session: str | None,
    columns: dict[str, str],
    date_order: DateOrder | None,
) -> _Source:
    place = output.path(path)
    if session is not None and place.is_dir():
        raise typer.BadParameter("--session is for a single file; in a folder every file names its own sessions")
    return importers.open_source(place, format, session=session, columns=columns, date_order=date_order)


def _columns(given: Sequence[str] | None) -> dict[str, str]:
    """Field -> column. Raises BadParameter."""
    try:
        return importers.columns(given or ())
    except InvalidInput as error:
        raise typer.BadParameter(f"--{error}") from error


def _remember(source: _Source, total: int, aim: _Aim) -> tuple[importers.Report, int]:
    """Store the words, then embed them unless that is for later; and how much waits for its vectors then."""
    try:
        with output.progress("Remembering", total) as advance, options.memory(aim.database, aim.embedder) as memory:
            report = importers.load(
                source, memory, user_id=aim.user_id, timezone=aim.timezone, advance=advance, embed="later"
            )
        if aim.embedder == "none":
            return report, 0
        with options.memory(aim.database, aim.embedder) as memory:
            if aim.embed == "now":
                _embed(memory, report.users)
            left = sum(memory.status(user_id=user).enrichment.unembedded for user in report.users)
    except KeyboardInterrupt:
        output.note("Interrupted. What was imported is kept; the same command goes on from there.")
        raise typer.Exit(130) from None
    return report, left


def _embed(memory: Memory, users: Sequence[str]) -> None:
    sizes = [memory.status(user_id=user).counts for user in users]
    total = sum(c.turns + c.traces + c.cues + c.notes for c in sizes if c is not None and c.pending)
    with output.progress("Embedding", total) as advance:
        for user in users:
            memory.wait(user_id=user, progress=advance)


def _formats(source: _Source) -> str:
    """`` as text``; of a folder, ``: 2 files as text, 1 file as jsonl``."""
    if isinstance(source, importers.Source):
        return f" as {source.format}"
    counts = Counter(source.formats.values()).most_common()
    return ": " + (", ".join(f"{output.counted(n, 'file')} as {name}" for name, n in counts) or "no conversations")


def _tell(report: importers.Report, unembedded: int, *, dry_run: bool) -> None:
    where = output.counted(report.sessions, "session")
    if report.messages and dry_run:
        output.result(f"{output.counted(report.messages, 'message')} in {where} could be imported; nothing was stored")
    elif report.messages:
        whose = f"{where} of {_people(report.users)}"
        output.result(f"{output.counted(report.messages, 'message')} in {whose}; {report.new:,} new")
    if report.given:
        output.result(f"{output.counted(report.given, 'given note')} kept")
    if report.restored:
        output.result(f"{report.restored:,} notes, episodes and log entries written back as they were")
    if report.notes:
        output.result(f"{output.counted(report.notes, 'note')} passed over: notes are made again from the messages")
    for notice in report.notices:
        output.result(f"  {output.shown(notice)}")
    reasons = sorted(report.skipped.items(), key=lambda item: -item[1][0])
    for reason, (count, first) in reasons[:_REASONS]:
        output.result(f"  left out {count:,}: {output.shown(reason)} (first: {output.shown(first)})")
    if len(reasons) > _REASONS:
        more = output.counted(len(reasons) - _REASONS, "more reason")
        output.result(f"  and {more}; --json lists them all")
    if unembedded:
        output.result(f"{unembedded:,} wait for their vectors, and are found by their words: mnemic worker makes them")


def _people(users: Sequence[str]) -> str:
    return output.shown(users[0]) if len(users) == 1 else output.counted(len(users), "user")
