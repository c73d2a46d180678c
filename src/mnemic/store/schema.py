"""What schema a database has, and how an SQLite file gets the current one."""

from __future__ import annotations

import logging
import shlex
import sqlite3
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sqlalchemy import Connection, Index
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from mnemic.errors import MigrationFailed, StoreCorrupt, StoreError, StoreNewer
from mnemic.store.columns import tables
from mnemic.store.migrations import REVISIONS
from mnemic.store.sqlite import APPLICATION_ID, SqliteFile


@dataclass(frozen=True, slots=True)
class History:
    """All schemas there ever were, oldest first, and the folder of Alembic's scripts that lead through them."""

    revisions: tuple[str, ...]
    scripts: Path

    @property
    def head(self) -> str:
        """The current schema."""
        return self.revisions[-1]


_alembic = threading.Lock()  # it keeps what it works on in module variables
HISTORY = History(REVISIONS, Path(__file__).parent / "migrations")

# As Alembic makes it; the next migration begins at what stands here.
_STAMP = (
    "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL,"
    " CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))",
    f"INSERT INTO alembic_version (version_num) VALUES ('{REVISIONS[-1]}')",  # noqa: S608 - our own number  # nosec B608
    f"PRAGMA application_id={APPLICATION_ID}",
)


@dataclass(frozen=True, slots=True)
class Migrated:
    """What a migration did: nothing, when ``before`` equals ``after``; ``before`` is None for a new file."""

    before: str | None
    after: str
    backup: Path | None


def prepare(file: SqliteFile, *, may_migrate: bool) -> Migrated:
    """Bring a file to the current schema, making it if it does not exist.

    Raises:
        StoreError: The schema is old and ``may_migrate`` is false.
        StoreNewer: A newer mnemic wrote it.
        StoreCorrupt: It is not one of ours; it was not touched.
        MigrationFailed: The old schema is still in place.
    """
    file.create_if_missing()
    with file.raw() as connection:
        revision = _revision(connection, file.path)
    if revision == HISTORY.head:
        return Migrated(revision, HISTORY.head, None)
    if revision is None:
        file.prepare_new()
    elif not may_migrate:
        raise StoreError(
            f"{file.path} has the schema of an older mnemic; run: mnemic migrate --db {shlex.quote(str(file.path))}"
        )
    return _migrate(file)


def _revision(connection: sqlite3.Connection, path: Path) -> str | None:
    """The schema of a file; None when it is empty."""
    size = path.stat().st_size
    if size and connection.execute("PRAGMA page_count").fetchone()[0] == 0:
        # Too short for SQLite, which would write over it.
        raise StoreCorrupt(f"{path} is not a database; choose another file")
    owner = connection.execute("PRAGMA application_id").fetchone()[0]
    names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    if not names and owner in (0, APPLICATION_ID):
        return None
    if owner != APPLICATION_ID:
        raise StoreCorrupt(f"{path} is the database of another program; choose another file")
    rows = (
        connection.execute("SELECT version_num FROM alembic_version").fetchall() if "alembic_version" in names else []
    )
    if len(rows) != 1:
        raise StoreCorrupt(f"{path} does not say which schema it has; restore a backup copy of it")
    revision = str(rows[0][0])
    if revision not in HISTORY.revisions:
        raise StoreNewer(f"{path} was written by a newer mnemic (schema {revision}); update this one")
    return revision


def _migrate(file: SqliteFile) -> Migrated:
    """Back up and migrate in one transaction, the version's stamp included; whoever comes second finds it done."""
    with file.raw() as raw, file.core(raw) as connection, connection.begin():
        raw.execute("BEGIN IMMEDIATE")
        before = _revision(raw, file.path)
        if before == HISTORY.head:
            return Migrated(before, HISTORY.head, None)
        if before is None:
            for statement in creation():
                raw.execute(statement)
            return Migrated(None, REVISIONS[-1], None)
        backup = Path(f"{file.path}.backup-{before}")
        try:
            file.back_up(backup)
            _upgrade_file(connection)
        except Exception as error:  # a migration may raise anything
            message = f"{file.path} is still at schema {before} and usable: migrating to {HISTORY.head} failed: {error}"
            raise MigrationFailed(message) from error
        return Migrated(before, HISTORY.head, backup)


@cache
def creation() -> tuple[str, ...]:
    """What makes the tables of an empty file, and says which schema they are.

    In one step: the migrations lead to the same, as a test sees, in ten times the time.
    """
    dialect = sqlite.dialect()
    made = [CreateTable(table) for table in tables.sorted_tables]
    indexes = [CreateIndex(index) for table in tables.sorted_tables for index in sorted(table.indexes, key=_name)]
    return (*(str(element.compile(dialect=dialect)) for element in (*made, *indexes)), *_STAMP)


def _name(index: Index) -> str:
    return str(index.name)


def upgrade(connection: Connection) -> None:
    """Run Alembic's scripts up to the current schema, in the transaction that the connection is in."""
    with _alembic, _silent("alembic"):
        # Imported here: opening a database that is current does without it.
        from alembic import command
        from alembic.config import Config

        config = Config()
        config.set_main_option("script_location", str(HISTORY.scripts).replace("%", "%%"))
        config.attributes["connection"] = connection
        command.upgrade(config, HISTORY.head)


def _upgrade_file(connection: Connection) -> None:
    upgrade(connection)
    connection.exec_driver_sql(f"PRAGMA application_id={APPLICATION_ID}")
    if broken := connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall():
        raise StoreCorrupt(f"{len(broken)} rows would lose the row that they belong to")


@contextmanager
def _silent(logger_name: str) -> Generator[None]:
    logger = logging.getLogger(logger_name)
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)
