"""What schema a PostgreSQL database has, and how it gets the current one: by the same migrations as a file."""

from __future__ import annotations

import shlex

from sqlalchemy import Connection, text
from sqlalchemy.exc import SQLAlchemyError

from mnemic.errors import MigrationFailed, StoreCorrupt, StoreError, StoreNewer
from mnemic.store import schema
from mnemic.store.postgres import PostgresDatabase
from mnemic.store.postgres_failures import cause_of, kind_of
from mnemic.store.schema import HISTORY, Migrated

_OURS = "mnemic"
"""The comment on the table that says which schema it is: nobody else's Alembic writes it."""


def prepare(database: PostgresDatabase, *, may_migrate: bool) -> Migrated:
    """Bring a database to the current schema, making its tables if it is empty.

    Raises:
        StoreError: The schema is old and ``may_migrate`` is false; or there is no such schema, and none can be made.
        StoreNewer: A newer mnemic wrote it.
        StoreCorrupt: It holds tables of another program; they were not touched.
        MigrationFailed: Nothing was changed.
    """
    # Once: where nobody answers, whoever opens it should hear so now.
    with database.read() as connection:
        revision = _revision(connection, database.name)
    if revision == HISTORY.head:
        return Migrated(revision, HISTORY.head, None)
    if revision is not None and not may_migrate:
        raise StoreError(
            f"{database.name} has the schema of an older mnemic; run: mnemic migrate --db {shlex.quote(database.name)}"
        )
    # Whoever writes waits until it is done, and whoever comes second finds it done.
    return database.change(lambda connection: _migrate(connection, database), everyone=True)


def _migrate(connection: Connection, database: PostgresDatabase) -> Migrated:
    connection.execute(text("SET LOCAL statement_timeout = 0"))
    if database.address.schema is not None:
        connection.execute(text(f'CREATE SCHEMA IF NOT EXISTS "{database.address.schema}"'))
    before = _revision(connection, database.name)
    if before == HISTORY.head:
        return Migrated(before, HISTORY.head, None)
    try:
        schema.upgrade(connection)
        connection.execute(text(f"COMMENT ON TABLE alembic_version IS '{_OURS}'"))
    except Exception as error:  # a migration is code that may raise anything; the server undoes it
        if kind_of(error) != "other" or before is None:
            raise
        message = f"{database.name} is still at schema {before} and usable: migrating to {HISTORY.head} failed"
        raise MigrationFailed(f"{message}: {_said(error)}") from None
    return Migrated(before, HISTORY.head, None)


def _said(error: Exception) -> str:
    cause = cause_of(error)
    if cause is not None and cause.diag.message_primary:
        return cause.diag.message_primary
    return type(error).__name__ if isinstance(error, SQLAlchemyError) else str(error)


def _revision(connection: Connection, name: str) -> str | None:
    """The schema of a database; None when it is empty."""
    names = set(connection.execute(text(_TABLES)).scalars())
    if not names:
        return None
    if "alembic_version" not in names or connection.execute(text(_COMMENT)).scalar_one() != _OURS:
        where = "choose another database, or a schema of its own: ?schema=mnemic"
        raise StoreCorrupt(f"{name} holds the tables of another program; {where}")
    rows = connection.execute(text("SELECT version_num FROM alembic_version")).scalars().all()
    if len(rows) != 1:
        raise StoreCorrupt(f"{name} does not say which schema it has; restore a backup of it")
    revision = str(rows[0])
    if revision not in HISTORY.revisions:
        raise StoreNewer(f"{name} was written by a newer mnemic (schema {revision}); update this one")
    return revision


_TABLES = (
    "SELECT relname FROM pg_class"
    " WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm')"
)
_COMMENT = "SELECT coalesce(obj_description('alembic_version'::regclass, 'pg_class'), '')"
