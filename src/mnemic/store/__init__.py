"""Rows: everything that mnemic keeps, in SQL. The only place with SQL in it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import make_url

from mnemic.errors import MissingExtra, StoreConflict, StoreError
from mnemic.store import copying, schema
from mnemic.store.copying import Copied
from mnemic.store.postgres_address import parse, shown
from mnemic.store.schema import Migrated
from mnemic.store.sql import SqlStore
from mnemic.store.sqlite import SqliteFile

if TYPE_CHECKING:
    from mnemic.store.database import Database

__all__ = ["Copied", "Migrated", "SqlStore", "copy", "index_folder", "migrate", "open_store", "shown_name"]

_PATIENCE_S = 30.0


def open_store(database: str | Path, *, busy_timeout_s: float = 30.0, migrate: bool = True) -> SqlStore:
    """Open a database, making it, or bringing it to the current schema, where needed.

    Args:
        database: A path, ``sqlite:///path``, or ``postgresql://user:password@host:port/database?schema=name``.
        busy_timeout_s: How long a call waits while others write, and for a server that is away, in seconds.
        migrate: False refuses a database of an older schema instead.

    Raises:
        StoreError: And its kinds: it cannot be opened, is not ours, or is newer than this mnemic.
        MigrationFailed: The old schema is still in place; of a file, the backup copy beside it stays.
        MissingExtra: PostgreSQL needs the extra ``postgres``.
    """
    opened, _ = _prepared(database, busy_timeout_s, may_migrate=migrate)
    try:
        _refuse_half(opened)
        opened.scrub()
    except BaseException:  # Ctrl-C too: no connection is left open
        opened.close()
        raise
    return SqlStore(opened)


def migrate(database: str | Path, *, busy_timeout_s: float = 30.0) -> Migrated:
    """Bring a database to the current schema, as opening does, and say from which to which.

    Raises:
        StoreError: As ``Memory.open`` does.
        MigrationFailed: The old schema is still in place.
    """
    opened, done = _prepared(database, busy_timeout_s, may_migrate=True)
    opened.close()
    return done


def copy(
    source: str | Path, destination: str | Path, *, progress: Callable[[int], None] = lambda users: None
) -> Copied:
    """Copy a whole database into an empty one: every row with its id, from a file to PostgreSQL or back.

    Run again after an interruption, it goes on where it stopped; nobody can open the destination until it is whole.
    What was written is read back and compared, by number and checksum.

    Args:
        source: Read in one snapshot; others may go on writing, and what they write is not copied.
        destination: Empty, or half a copy of the same source.
        progress: Called with the number of users done, one after the other.

    Raises:
        StoreConflict: The destination holds something else; nothing was changed.
        StoreCorrupt: What was read back is not what was written.
        StoreError: And its other kinds: one of them cannot be opened, or is of an older schema (``migrate``).
    """
    if isinstance(source, Path) or "://" not in source:
        place = _path(source)
        if not place.exists():
            raise StoreError(f"there is no database at {place}")
    here, _ = _prepared(source, _PATIENCE_S, may_migrate=False)
    with closing(here):
        there, _ = _prepared(destination, _PATIENCE_S, may_migrate=True)
        with closing(there):
            if here.name == there.name:
                raise StoreConflict(f"{here.name} cannot be copied onto itself")
            _refuse_half(here)
            return copying.copy(here, there, progress=progress)


def index_folder(database: str | Path, cache: Path | None = None) -> Path | None:
    """Where snapshots of a database's indexes lie: beside a file, or in a cache directory; None for neither.

    Args:
        database: As for ``open_store``.
        cache: May serve any number of databases.
    """
    name = shown_name(database)
    if not (name.startswith("postgres") and "://" in name):
        place = _path(database)
        name = str(place)
        if cache is None:
            return place.with_name(f"{place.name}-index")
    return None if cache is None else cache / hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def shown_name(database: str | Path) -> str:
    """The name of a database as it may be shown: an address without its password."""
    name = str(database)
    return shown(name) if name.startswith("postgres") and "://" in name else name


def _prepared(database: str | Path, busy_timeout_s: float, *, may_migrate: bool) -> tuple[Database, Migrated]:
    if isinstance(database, str) and database.startswith("postgres") and "://" in database:
        if find_spec("psycopg") is None:
            raise MissingExtra("PostgreSQL", "postgres")
        # Imported here: a file does without the driver.
        from mnemic.store import postgres, postgres_schema

        server = postgres.PostgresDatabase(parse(database), busy_timeout_s=busy_timeout_s)
        try:
            return server, postgres_schema.prepare(server, may_migrate=may_migrate)
        except BaseException:  # Ctrl-C too: no connection is left open
            server.close()
            raise
    file = SqliteFile(_path(database), busy_timeout_s=busy_timeout_s)
    try:
        return file, schema.prepare(file, may_migrate=may_migrate)
    except BaseException:  # Ctrl-C too: no connection is left open
        file.close()
        raise


def _refuse_half(opened: Database) -> None:
    with opened.aside() as connection:
        half = copying.half_of(connection)
    if half is not None:
        raise StoreError(f"{opened.name} is half a copy of {half}; finish that with: mnemic copy")


def _path(database: str | Path) -> Path:
    if not isinstance(database, str | Path):  # pyright: ignore[reportUnnecessaryIsInstance] - callers without types
        raise StoreError(f"a database is named by its path, not by {database!r}")
    name = str(database)
    if "://" in name:
        name = _path_in_url(name)
    if not name or name == ":memory:" or "\0" in name:
        raise StoreError(f"{str(database)!r} names no file; give the path of one")
    return Path(name).absolute()


def _path_in_url(url: str) -> str:
    scheme = url.partition("://")[0]
    if scheme != "sqlite":
        raise StoreError(
            f"mnemic does not know {scheme}:// databases; give a path, sqlite:///path or postgresql://host/database"
        )
    return make_url(url).database or ""
