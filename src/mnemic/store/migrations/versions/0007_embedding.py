"""Who is making the vectors that were left for later, and which exports are being restored."""

from __future__ import annotations

import sqlalchemy as sa

from mnemic.store.migrations.partitions import create_table

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables, empty."""
    create_table(
        "embedding",
        sa.Column("user_id", sa.LargeBinary(), nullable=False),
        sa.Column("lease", sa.String(32), nullable=True),
        sa.Column("attempts", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("due_at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("reason", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("user_id", name="pk_embedding"),
        sa.ForeignKeyConstraint(["user_id"], ["users.user_id"], name="fk_embedding_users", ondelete="CASCADE"),
        slim=True,
    )
    create_table(
        "restoring",
        sa.Column("user_id", sa.LargeBinary(), nullable=False),
        sa.Column("export", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", name="pk_restoring"),
        sa.ForeignKeyConstraint(["user_id"], ["users.user_id"], name="fk_restoring_users", ondelete="CASCADE"),
        slim=True,
    )
