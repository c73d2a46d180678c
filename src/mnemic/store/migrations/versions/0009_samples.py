"""On PostgreSQL, no samples of words, users and vectors for the planner: not of whole tables either.

``create_table`` had asked that of the parts alone. ANALYZE of a whole table, which the server does not do by itself but
people do, sampled the columns of all its parts, where an erasure does not reach.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from mnemic.store.migrations.partitions import unsample

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Ask for none, of every table that is split."""
    connection = op.get_bind()
    if connection.dialect.name != "postgresql":
        return
    query = sa.text(
        "SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
        " WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'p'"
        " AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid = 'bytea'::regtype ORDER BY 1, 2"
    )
    for table, column in connection.execute(query).all():
        unsample(table, [column])
