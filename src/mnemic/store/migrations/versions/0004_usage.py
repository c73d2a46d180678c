"""What language models took: for each user, and for all of them together."""

from __future__ import annotations

import sqlalchemy as sa

from mnemic.store.migrations.partitions import create_table

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def _amounts() -> list[sa.Column[int]]:
    names = ("calls", "tokens_in", "tokens_out", "cost", "unpriced")
    return [sa.Column(name, sa.BigInteger(), nullable=False, autoincrement=False) for name in names]


def upgrade() -> None:
    """Make the tables."""
    create_table(
        "usage",
        sa.Column("user_id", sa.LargeBinary(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("purpose", sa.String(16), nullable=False),
        *_amounts(),
        sa.PrimaryKeyConstraint("user_id", "day", "purpose", name="pk_usage"),
        sa.ForeignKeyConstraint(["user_id"], ["users.user_id"], name="fk_usage_users", ondelete="CASCADE"),
        slim=True,
    )
    create_table(
        "spending",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("purpose", sa.String(16), nullable=False),
        *_amounts(),
        sa.PrimaryKeyConstraint("day", "purpose", name="pk_spending"),
        slim=True,
    )
