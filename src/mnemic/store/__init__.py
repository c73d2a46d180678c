"""Rows: everything that mnemic keeps, in SQL. The only place with SQL in it."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import make_url

from mnemic.errors import StoreError
from mnemic.store import schema
from mnemic.store.schema import Migrated
from mnemic.store.sql import SqlStore
from mnemic.store.sqlite import SqliteFile

__all__ = ["Migrated", "SqlStore", "migrate", "open_store"]


def open_store(database: str | Path, *, busy_timeout_s: float = 30.0, migrate: bool = True) -> SqlStore:
    """Open a database, making it, or bringing it to the current schema, where needed.

    Args:
        database: A path, or ``sqlite:///path``.
        busy_timeout_s: How long a call waits while another process writes, in seconds.
        migrate: False refuses a database of an older schema instead.

    Raises:
        StoreError: And its kinds: it cannot be opened, is not ours, or is newer than this mnemic.
        MigrationFailed: The old schema is still in place; the backup copy beside the file stays.
    """
    file = SqliteFile(_path(database), busy_timeout_s=busy_timeout_s)
    schema.prepare(file, may_migrate=migrate)
    file.scrub()
    return SqlStore(file)


def migrate(database: str | Path, *, busy_timeout_s: float = 30.0) -> Migrated:
    """Bring a database to the current schema, as opening does, and say what was done."""
    file = SqliteFile(_path(database), busy_timeout_s=busy_timeout_s)
    try:
        return schema.prepare(file, may_migrate=True)
    finally:
        file.close()


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
    if scheme.startswith("postgres"):
        raise StoreError("PostgreSQL comes with a later version; this one keeps its rows in SQLite: give a path")
    if scheme != "sqlite":
        raise StoreError(f"mnemic does not know {scheme}:// databases; give a path or sqlite:///path")
    return make_url(url).database or ""
