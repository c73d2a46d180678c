"""Erased words on PostgreSQL: where they may still stand, and how they go for good.

A deleted row stays in its page, and its index entry in the index, until a vacuum; and a vacuum only gives the space
free, where the words stay until something is written over them. So the partitions that had words erased from them are
written anew (``VACUUM FULL``), which needs a moment without readers. Very large ones are only given free, for others
would wait too long: see docs/postgres.md.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Sequence

from sqlalchemy import Connection, delete, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import DBAPIError

from mnemic.store.columns import tables
from mnemic.store.migrations import PARTITIONS, partition
from mnemic.store.postgres_failures import kind_of
from mnemic.store.shared_tables import MARKS, settings

_MARK = f"{MARKS}erased words in partition "
_LARGEST = 256 << 20
"""Bytes of a partition of one table up to which it is written anew: a few seconds."""
_PATIENCE_S = 5.0
_LOCK_MS = 250
"""While we wait for readers, others wait behind us: not long at a time."""

_SIZES = (
    "SELECT relname, pg_table_size(oid) FROM pg_class WHERE relnamespace = current_schema()::regnamespace"
    " AND relname = ANY(:names) AND pg_relation_size(oid) > 0 ORDER BY relname"
)

UNREACHED = (
    "the server's write-ahead log until its segments are written over, and archived segments",
    "replicas that lag, base backups, dumps (pg_dump), and copies (mnemic copy) that were made before",
    "the server's own log, where it is set to log statements with their parameters",
    "what the file system or the disk keeps of blocks that were written over or given free",
)
"""What may hold erased words besides the tables."""

_log = logging.getLogger("mnemic")


def mark(connection: Connection, user_id: str | None) -> None:
    """Record the partition of a user, or all."""
    numbers: Sequence[int] = range(PARTITIONS)
    if user_id is not None:
        query = text(
            "SELECT number FROM generate_series(0, :last) AS number"
            " WHERE satisfies_hash_partition('turns'::regclass, :count, number, CAST(:user AS bytea))"
        )
        user = user_id.encode("utf-8", "surrogatepass")
        given = {"last": PARTITIONS - 1, "count": PARTITIONS, "user": user}
        numbers = connection.execute(query, given).scalars().all()
    rows = [{"name": f"{_MARK}{number}", "value": secrets.token_hex(8)} for number in numbers]
    query = insert(settings)
    connection.execute(query.on_conflict_do_update(index_elements=["name"], set_={"value": query.excluded.value}), rows)


def is_due(connection: Connection) -> bool:
    """Whether words were erased whose partition was not written anew since."""
    return bool(_marks(connection))


def scrub(connection: Connection, name: str) -> tuple[str, ...]:
    """Write the marked partitions anew; what fails stays marked, and is returned in words."""
    lingers: list[str] = []
    connection.execute(text(f"SET lock_timeout = {_LOCK_MS}"))
    deadline = time.monotonic() + _PATIENCE_S
    for number, token in _marks(connection).items():
        left = [
            table
            for table, size in connection.execute(text(_SIZES), {"names": _parts(number)}).all()
            if not _rewritten(connection, table, size, deadline)
        ]
        if left:
            _log.warning("erased words stay in free space of %s until it is written over: %s", name, ", ".join(left))
            lingers.append(f"free space of {len(left)} tables' partitions: until it is written over, or a VACUUM FULL")
            continue
        # Whoever erased meanwhile has set another token.
        mine = (settings.c.name == f"{_MARK}{number}", settings.c.value == token)
        connection.execute(delete(settings).where(*mine))
    return tuple(lingers)


def _marks(connection: Connection) -> dict[int, str]:
    names = [f"{_MARK}{number}" for number in range(PARTITIONS)]
    query = select(settings.c.name, settings.c.value).where(settings.c.name.in_(names))
    return {int(row.name.removeprefix(_MARK)): row.value for row in connection.execute(query)}


def _parts(number: int) -> list[str]:
    """This partition of every table of users' rows."""
    return [partition(name, number) for name, table in tables.tables.items() if "user_id" in table.c]


def _rewritten(connection: Connection, table: str, size: int, deadline: float) -> bool:
    """Write a partition of one table anew, as soon as nobody reads it; whether that was done."""
    if size > _LARGEST:
        connection.execute(text(f'VACUUM "{table}"'))
        return False
    while True:
        try:
            connection.execute(text(f'VACUUM (FULL) "{table}"'))
        except DBAPIError as failure:
            if kind_of(failure) not in ("locked", "collided"):
                raise
            if time.monotonic() >= deadline:
                return False
            time.sleep(_LOCK_MS / 1000)
        else:
            return True
