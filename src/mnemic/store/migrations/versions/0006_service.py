"""What a server keeps: API keys, and the replies to requests that may come again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from mnemic.store.migrations.partitions import create_table

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables, empty."""
    create_table(
        "api_keys",
        sa.Column("key_id", sa.LargeBinary(), nullable=False),
        sa.Column("name", sa.LargeBinary(), nullable=False),
        sa.Column("tenant", sa.LargeBinary(), nullable=False),
        sa.Column("scopes", sa.LargeBinary(), nullable=False),
        sa.Column("salt", sa.LargeBinary(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("expires_at", sa.BigInteger(), autoincrement=False, nullable=True),
        sa.Column("revoked_at", sa.BigInteger(), autoincrement=False, nullable=True),
        sa.PrimaryKeyConstraint("key_id", name="pk_api_keys"),
        slim=True,
    )
    create_table(
        "replies",
        sa.Column("user_id", sa.LargeBinary(), nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("request", sa.LargeBinary(), nullable=False),
        sa.Column("status", sa.Integer(), autoincrement=False, nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("user_id", "key", name="pk_replies"),
        slim=True,
    )
    op.create_index("ix_replies_at", "replies", ["at"])
