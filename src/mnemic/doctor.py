"""What could be wrong with an installation or a database, checked without changing either.

Each check takes what it looks at and returns its findings; nothing is printed here.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sqlite3
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mnemic.errors import MnemicError

if TYPE_CHECKING:
    from mnemic.protocols import EmbedderRecord, Store

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
    """Whether the database's files are there, private and writable, and have room to grow."""
    if not database.exists():
        yield Finding("database", "warning", f"there is none at {database} yet", "the first add or import makes it")
    else:
        yield from _permissions(database)
    size = database.stat().st_size if database.exists() else 0
    folder = next(parent for parent in database.absolute().parents if parent.exists())
    free = shutil.disk_usage(folder).free
    if free >= size + LEAST_FREE:
        yield Finding("disk", "ok", f"{_mebibytes(free)} free")
    else:
        yield Finding("disk", "warning", f"only {_mebibytes(free)} free", f"make room in {folder}")


def files(database: Path) -> list[Path]:
    """A database's file, and what SQLite keeps beside it while it is used."""
    return [path for end in ("", "-wal", "-shm") if (path := Path(f"{database}{end}")).exists()]


def _permissions(database: Path) -> Iterator[Finding]:
    if sys.platform != "win32":
        modes = {path: stat.S_IMODE(path.stat().st_mode) for path in files(database)}
        open_ones = {path: mode for path, mode in modes.items() if mode & 0o077}
        if open_ones:
            names = " ".join(shlex.quote(str(path)) for path in open_ones)
            found = ", ".join(f"{mode:04o}" for mode in open_ones.values())
            yield Finding("file mode", "warning", f"{found}: others can read it", f"chmod 600 {names}")
        else:
            yield Finding("file mode", "ok", f"{modes[database]:04o}")
    if locked := [path for path in (*files(database), database.absolute().parent) if not os.access(path, os.W_OK)]:
        names = ", ".join(map(str, locked))
        yield Finding(
            "permissions", "wrong", f"you may not write {names}", "run as their owner, or have them given to you"
        )
    else:
        yield Finding("permissions", "ok", "file and folder can be written")


def database(
    open_store: Callable[[], Store],
    fits: Callable[[str], Verdict],
    reembed: Callable[[str | None], str],
    against_rows: Callable[[Store], Sequence[str]],
) -> Iterator[Finding]:
    """Whether a database opens, is sound, and fits the embedder.

    Args:
        open_store: Opens it without migrating it.
        fits: How well vectors of an embedder's fingerprint fit; a warning where they serve and there are better ones.
        reembed: From an embedder's name, or None for the one that will be used, to what makes its vectors.
        against_rows: Builds every user's index, and says in words where it is not what the rows say.
    """
    try:
        store = open_store()
    except MnemicError as error:
        yield Finding("database", "wrong", "it cannot be opened", str(error))
        return
    try:
        yield Finding("schema", "ok", "current")
        yield from _contents(store, fits, reembed)
        yield _indexes(against_rows(store))
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
    waiting = {user: store.counts(user).pending for user in users}
    pending = sum(waiting.values())
    if record is not None and (
        forgotten := [user for user in users if not waiting[user] and _lacks(store, record, user)]
    ):
        found = f"users of whom something lacks its vector, and nothing says that it waits: {len(forgotten):,}"
        yield Finding("lost vectors", "wrong", found, reembed(record.name))
    if pending:
        way_out = reembed(record.name if record else None)
        yield Finding("tasks", "warning", f"turns and notes that wait for their vectors: {pending:,}", way_out)
    else:
        yield Finding("tasks", "ok", "none are waiting")
    yield _queue(store)


def _lacks(store: Store, record: EmbedderRecord, user_id: str) -> bool:
    return next(store.unembedded(record.fingerprint, user_id=user_id, limit=1), None) is not None


def _indexes(differences: Sequence[str]) -> Finding:
    """Whether what searches look into says what the rows say."""
    if differences:
        way_out = "keep a copy of the database, and restore a backup"
        return Finding("index", "wrong", f"it is not what the rows say: {'; '.join(differences)}", way_out)
    return Finding("index", "ok", "what is built from the rows has all of them")


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
