"""The ids of notes that somebody else wrote, by which they are known when they come again."""

from __future__ import annotations

import sqlalchemy as sa

from mnemic.store.migrations.partitions import create_table

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table, empty: all notes so far are quotations."""
    create_table(
        "given_notes",
        sa.Column("user_id", sa.LargeBinary(), nullable=False),
        sa.Column("note", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("given_id", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "note", "version", name="pk_given_notes"),
        sa.UniqueConstraint("user_id", "given_id", "version", name="uq_given_notes_user_id_given_id_version"),
        sa.ForeignKeyConstraint(
            ["user_id", "note", "version"],
            ["notes.user_id", "notes.note", "notes.version"],
            name="fk_given_notes_notes",
            ondelete="CASCADE",
        ),
        slim=True,
    )
