"""What could be wrong with an installation or a database, checked without changing either.

Each check takes what it looks at and returns its findings; nothing is printed here.
"""

from __future__ import annotations

import shlex
import shutil
import sqlite3
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mnemic.errors import MnemicError

if TYPE_CHECKING:
    from mnemic.protocols import Store

Verdict = Literal["ok", "warning", "wrong"]

OLDEST_PYTHON = (3, 11)
OLDEST_SQLITE = (3, 35, 0)
"""The first that returns what it inserted."""
LEAST_FREE = 256 << 20
"""Bytes that should be free beside a database, besides its own size (a migration copies it first)."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check.

    Attributes:
        what: What was looked at: ``SQLite``.
        verdict: ``wrong`` needs the way out; a ``warning`` is fine for now.
        found: What was found there.
        way_out: What to do about it; empty when ``ok``.
    """

    what: str
    verdict: Verdict
    found: str
    way_out: str = ""


def runtime(
    python: tuple[int, ...] = sys.version_info[:3], sqlite: tuple[int, ...] = sqlite3.sqlite_version_info
) -> Iterator[Finding]:
    """Whether Python and its SQLite are recent enough."""
    for what, version, oldest in (("Python", python, OLDEST_PYTHON), ("SQLite", sqlite, OLDEST_SQLITE)):
        if version >= oldest:
            yield Finding(what, "ok", _dotted(version))
        else:
            yield Finding(what, "wrong", _dotted(version), f"install a Python with {what} {_dotted(oldest)} or later")


def embedder(load: Callable[[], object]) -> Finding:
    """Whether the embedded embedder's files are there, and unaltered.

    Args:
        load: Reads them; raises a ``MnemicError`` that says what is wrong.
    """
    try:
        load()
    except MnemicError as error:
        return Finding("embedder", "wrong", "search is by words alone", str(error))
    return Finding("embedder", "ok", "its files are complete and unaltered")


def place(database: Path) -> Iterator[Finding]:
    """Whether the database's file is there, private, and has room to grow."""
    if not database.exists():
        yield Finding("database", "warning", f"there is none at {database} yet", "the first add or import makes it")
    elif sys.platform != "win32":
        mode = stat.S_IMODE(database.stat().st_mode)
        if mode & 0o077:
            yield Finding(
                "file mode", "warning", f"{mode:04o}: others can read it", f"chmod 600 {shlex.quote(str(database))}"
            )
        else:
            yield Finding("file mode", "ok", f"{mode:04o}")
    size = database.stat().st_size if database.exists() else 0
    folder = next(parent for parent in database.absolute().parents if parent.exists())
    free = shutil.disk_usage(folder).free
    if free >= size + LEAST_FREE:
        yield Finding("disk", "ok", f"{_mebibytes(free)} free")
    else:
        yield Finding("disk", "warning", f"only {_mebibytes(free)} free", f"make room in {folder}")


def database(
    open_store: Callable[[], Store], fits: Callable[[str], Verdict], reembed: Callable[[str | None], str]
) -> Iterator[Finding]:
    """Whether a database opens, is sound, and fits the embedder.

    Args:
        open_store: Opens it without migrating it.
        fits: How well vectors of an embedder's fingerprint fit; a warning where they serve and there are better ones.
        reembed: From an embedder's name, or None for the one that will be used, to what makes its vectors.
    """
    try:
        store = open_store()
    except MnemicError as error:
        yield Finding("database", "wrong", "it cannot be opened", str(error))
        return
    try:
        yield Finding("schema", "ok", "current")
        yield from _contents(store, fits, reembed)
    except MnemicError as error:
        yield Finding("database", "wrong", "it cannot be read", str(error))
    finally:
        store.close()


def _contents(store: Store, fits: Callable[[str], Verdict], reembed: Callable[[str | None], str]) -> Iterator[Finding]:
    problems = store.check()
    users = store.users()
    if problems:
        yield Finding("integrity", "wrong", "; ".join(problems), "keep a copy of the file, and restore a backup")
    else:
        yield Finding("integrity", "ok", f"sound; users: {len(users):,}")
    record = store.embedder()
    verdict: Verdict = "ok" if record is None else fits(record.fingerprint)
    found = f"of {record.name}" if record else "none yet"
    if verdict == "wrong":
        yield Finding("vectors", verdict, found, f"name it with --embedder, or change it with: {reembed(None)}")
    elif verdict == "warning":
        yield Finding("vectors", verdict, f"{found}, which serves; a better embedder is there", reembed(None))
    else:
        yield Finding("vectors", verdict, found)
    pending = sum(store.counts(user).pending for user in users)
    if pending:
        way_out = reembed(record.name if record else None)
        yield Finding("tasks", "warning", f"turns and notes that wait for their vectors: {pending:,}", way_out)
    else:
        yield Finding("tasks", "ok", "none are waiting")
    yield _queue(store)


def _queue(store: Store) -> Finding:
    """Whether what language models were to read was read."""
    work = store.enrichment(None)
    if work.failed:
        reasons = "; ".join(dict.fromkeys(one.reason for one in work.failures))
        return Finding("models", "warning", f"failed at {work.failed:,} pieces: {reasons}", "mnemic retry")
    if work.pending or work.running:
        way_out = "they do it while a process with MNEMIC_MODEL runs: mnemic worker"
        return Finding("models", "warning", f"pieces of text to read: {work.pending + work.running:,}", way_out)
    return Finding("models", "ok", "nothing is waiting to be read")


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _mebibytes(size: int) -> str:
    return f"{size / (1 << 20):,.0f} MiB"
