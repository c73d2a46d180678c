"""On PostgreSQL, a table of users' rows lies in parts, by a hash of the user: docs/decisions/0011-postgres.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

from mnemic.store.migrations import PARTITIONS, partition


def create_table(name: str, *items: sa.schema.SchemaItem, slim: bool = False) -> None:
    """Make a table, with its parts.

    Args:
        name: Of the table.
        items: Columns and constraints.
        slim: Its rows are small: on SQLite they lie in the primary key's own tree.
    """
    columns: list[sa.Column[Any]] = [item for item in items if isinstance(item, sa.Column)]
    is_split = any(column.name == "user_id" for column in columns)
    by = "HASH (user_id)" if is_split else None
    op.create_table(name, *items, sqlite_with_rowid=not slim, postgresql_partition_by=by)
    if op.get_context().dialect.name != "postgresql":
        return
    words = [column.name for column in columns if isinstance(column.type, sa.LargeBinary)]
    for part in (name, *_parts(name)) if is_split else (name,):
        unsample(part, words)


def unsample(table: str, columns: Sequence[str]) -> None:
    """Have PostgreSQL take no samples of columns for its planner: they would keep erased words and users.

    It is asked of a whole table and of each of its parts, for what is set on one does not hold for the other.
    """
    changes = ", ".join(f'ALTER COLUMN "{column}" SET STATISTICS 0' for column in columns)
    if changes:
        op.execute(f'ALTER TABLE ONLY "{table}" {changes}')


def _parts(name: str) -> Iterator[str]:
    """Make them."""
    for number in range(PARTITIONS):
        part = partition(name, number)
        values = f"FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {number})"
        op.execute(f'CREATE TABLE "{part}" PARTITION OF "{name}" {values}')
        yield part
