"""Commands that look after a database: reembed, migrate, copy, backup, doctor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from mnemic import doctor as checks
from mnemic.cli import options, output
from mnemic.models.optional import from_extra

_REPORT = "do not serve several tenants with this version; tell its authors"
_MARKS = {"ok": ("ok", ""), "warning": ("? ", "yellow"), "wrong": ("NO", "red")}


def reembed(
    db: options.Database = None,
    embedder: Annotated[str, typer.Option("--embedder", metavar="NAME", help="Whose vectors to make.")] = "local",
    json: options.AsJson = False,
) -> None:
    """Make all vectors anew with another embedder.

    The old ones serve until the last is done. An interrupted run goes on where it stopped.
    """
    database = options.existing(db)
    with options.memory(database, "none") as memory:
        counts = (memory.status(user_id=user).counts for user in memory.users())
        total = sum(c.turns + c.traces + c.cues + c.notes for c in counts if c is not None)
    try:
        with output.progress("Embedding", total) as advance, options.memory(database, "none") as memory:
            done = memory.reembed(embedder, progress=advance)
            name = memory.status().embedder
    except KeyboardInterrupt:
        output.note("Interrupted. The old vectors still serve; the same command goes on from there.")
        raise typer.Exit(130) from None
    output.result(output.as_json({"embedded": done, "embedder": name}) if json else f"{done:,} embedded with {name}")


def migrate(db: options.Database = None, json: options.AsJson = False) -> None:
    """Bring a database to the current schema.

    A backup copy of a file is made first; of PostgreSQL, make one with pg_dump. Opening a database does the same.
    """
    from mnemic import store

    done = store.migrate(options.located(options.existing(db)))
    backup = None if done.backup is None else str(done.backup)
    if json:
        output.result(output.as_json({"before": done.before, "after": done.after, "backup": backup}))
    elif done.before == done.after:
        output.result(f"Nothing to do: the schema is the current one, {done.after}")
    else:
        output.result(f"Migrated from {done.before} to {done.after}" + (f"; before it: {backup}" if backup else ""))


def copy(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A file, or postgresql://host/name.")],
    destination: Annotated[str, typer.Argument(metavar="DESTINATION", help="One without anything in it.")],
    json: options.AsJson = False,
) -> None:
    """Copy a whole database: every row with its id, from a file to PostgreSQL or back.

    An interrupted copy goes on where it stopped, by the same command; until then nobody can open the destination.
    At the end everything is read back and compared.
    """
    from mnemic import store

    done = 0

    def advance(users: int) -> None:
        nonlocal done
        done += users

    places = options.located(options.existing(source)), options.located(destination)
    try:
        copied = store.copy(*places, progress=advance)
    except KeyboardInterrupt:
        output.note(f"Interrupted after {output.counted(done, 'user')}. The same command goes on from there.")
        raise typer.Exit(130) from None
    if json:
        output.result(output.as_json(asdict(copied)))
    else:
        output.result(
            f"Copied {output.counted(copied.users, 'user')}, {output.counted(copied.rows, 'row')}, read back and found"
            f" equal (checksum {copied.checksum})"
        )


def backup(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A new file.")],
    db: options.Database = None,
    json: options.AsJson = False,
) -> None:
    """Copy the whole database to a new file while it is used, and check the copy.

    To restore it, name it with --db, or put it in the place of the lost one.
    """
    with options.memory(options.existing(db), "none") as memory:
        size = memory.backup(path)
    if json:
        output.result(output.as_json({"backup": str(path), "bytes": size}))
    else:
        output.result(f"Backed up to {output.shown(str(path))}: {size:,} bytes, opened and found sound")


def doctor(
    db: options.Database = None,
    embedder: options.EmbedderName = "local",
    leak_test: Annotated[
        bool, typer.Option("--leak-test", help="Try whether one tenant of a server gets words of another.")
    ] = False,
    repair: Annotated[
        bool, typer.Option("--repair", help="Mend what can be mended, asking before each repair, and look again.")
    ] = False,
    json: options.AsJson = False,
) -> None:
    """Look for what could be wrong, and say what to do.

    Looks at the installation and the database; changes neither, unless a repair is asked for and agreed to. The leak
    test has a database of its own, and takes a minute.
    """
    findings = list(_leaks() if leak_test else _findings(options.database(db), embedder))
    if repair and not leak_test and _repaired(findings, db, embedder):
        findings = list(_findings(options.database(db), embedder))
    if json:
        output.result(output.as_json({"findings": [asdict(finding) for finding in findings]}))
    else:
        for finding in findings:
            mark, style = _MARKS[finding.verdict]
            output.styled(output.shown(f"{mark}  {finding.what}: {finding.found}"), style)
            if finding.way_out:
                output.styled(output.shown(finding.way_out), indent=4)
    if any(finding.verdict == "wrong" for finding in findings):
        raise typer.Exit(1)


def _repaired(findings: Sequence[checks.Finding], db: str | None, embedder: str) -> bool:
    """Mend what can be mended, each after a yes on the terminal; whether anything was."""
    from mnemic.models import registry

    database = options.existing(db)
    troubled = {finding.what for finding in findings if finding.verdict != "ok"}

    def close_to_others() -> None:
        for path in checks.files(Path(options.located(database))):
            path.chmod(0o600)

    def embed() -> None:
        with options.memory(database, embedder) as memory:
            memory.wait()

    def embed_forgotten() -> None:
        with options.memory(database, "none") as memory:
            spec = registry.spec(memory.status().embedder or "")
            if spec is None:
                output.note("Only a program can: this database's embedder has no name among the commands.")
            else:
                memory.reembed(spec)

    def read_again() -> None:
        with options.memory(database, "none") as memory:
            memory.retry()

    repairs = {
        "file mode": ("Close the file to others (chmod 600)?", close_to_others),
        "tasks": ("Make the vectors that are waited for?", embed),
        "lost vectors": ("Make the vectors that are lacking?", embed_forgotten),
        "models": ("Have models read again what they failed at, when there are any?", read_again),
    }
    agreed = [
        work for what, (question, work) in repairs.items() if what in troubled and typer.confirm(question, err=True)
    ]
    for work in agreed:
        work()
    return bool(agreed)


def _findings(name: str, embedder: str) -> Iterator[checks.Finding]:
    from mnemic.memory.agreement import way_out
    from mnemic.memory.verifying import against_rows
    from mnemic.models import registry
    from mnemic.models.mnemic_minilm import MnemicMiniLM
    from mnemic.store import open_store

    yield from checks.runtime()
    if embedder == "local":
        model = MnemicMiniLM()
        yield checks.embedder(model.load)
    else:
        model = registry.embedder(None if embedder == "none" else embedder)

    def fits(fingerprint: str) -> checks.Verdict:
        if model is None or model.fingerprint == fingerprint:
            return "ok"
        serves = registry.for_database(embedder, fingerprint)
        return "wrong" if serves == embedder or not registry.is_there(serves) else "warning"

    place = options.located(name)
    if isinstance(place, Path):
        yield from checks.place(place)
        if not place.exists():
            return
    asked = MnemicMiniLM.name if model is None else model.name
    yield from checks.database(
        lambda: open_store(place, migrate=False),
        fits,
        lambda named: way_out(options.shown(name), named or asked),
        against_rows,
    )


def _leaks() -> Iterator[checks.Finding]:
    from_extra("fastapi", needed_by="the leak test", extra="server")
    from mnemic.service import leaks

    tried = leaks.run()
    for surface, reads in tried.reads.items():
        crossed = [leak for leak in tried.leaks if leak.surface == surface]
        for leak in crossed:
            yield checks.Finding(f"leak test, {surface}", "wrong", f"{leak.path}: {leak.what}", _REPORT)
        if surface in tried.blind:
            yield checks.Finding(f"leak test, {surface}", "wrong", "it did not even find a tenant's own words", _REPORT)
        elif not crossed:
            yield checks.Finding(f"leak test, {surface}", "ok", f"{reads:,} calls, nothing crossed")
