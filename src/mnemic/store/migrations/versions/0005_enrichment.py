"""What language models make: episodes, notes that wait for a person, the work to be done, and why a note changed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from mnemic.store.migrations.partitions import create_table

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def _user() -> sa.Column[bytes]:
    return sa.Column("user_id", sa.LargeBinary(), nullable=False)


def _number(name: str, *, null: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=null)


def _small(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), autoincrement=False, nullable=False)


def _text(name: str, *, null: bool = False) -> sa.Column[bytes]:
    return sa.Column(name, sa.LargeBinary(), nullable=null)


def _owner(table: str, owner: str, *columns: str) -> sa.ForeignKeyConstraint:
    mine = ["user_id", *columns]
    theirs = [f"{owner}.{column}" for column in mine]
    return sa.ForeignKeyConstraint(mine, theirs, name=f"fk_{table}_{owner}", ondelete="CASCADE")


def upgrade() -> None:
    """Make the tables, empty."""
    create_table(
        "operation_details",
        _user(),
        _number("operation"),
        _text("detail"),
        sa.PrimaryKeyConstraint("user_id", "operation", name="pk_operation_details"),
        _owner("operation_details", "operations", "operation"),
        slim=True,
    )
    create_table(
        "note_confirmations",
        _user(),
        _number("note"),
        _small("version"),
        _number("seq"),
        sa.PrimaryKeyConstraint("user_id", "note", "version", "seq", name="pk_note_confirmations"),
        _owner("note_confirmations", "notes", "note", "version"),
        _owner("note_confirmations", "turns", "seq"),
        slim=True,
    )
    op.create_index("ix_note_confirmations_user_id_seq", "note_confirmations", ["user_id", "seq"])
    create_table(
        "proposals",
        _user(),
        _number("note"),
        _small("version"),
        sa.Column("relation", sa.String(16), nullable=False),
        _number("target", null=True),
        sa.PrimaryKeyConstraint("user_id", "note", "version", name="pk_proposals"),
        _owner("proposals", "notes", "note", "version"),
        slim=True,
    )
    create_table(
        "episodes",
        _user(),
        _number("episode"),
        _text("session_id"),
        _text("topic"),
        _text("summary"),
        _text("made_by"),
        _number("recorded_at"),
        _number("revision"),
        sa.PrimaryKeyConstraint("user_id", "episode", name="pk_episodes"),
        _owner("episodes", "users"),
    )
    op.create_index("ix_episodes_user_id_revision", "episodes", ["user_id", "revision"])
    create_table(
        "episode_turns",
        _user(),
        _number("episode"),
        _small("no"),
        _number("seq"),
        sa.PrimaryKeyConstraint("user_id", "episode", "no", name="pk_episode_turns"),
        sa.UniqueConstraint("user_id", "seq", name="uq_episode_turns_user_id_seq"),
        _owner("episode_turns", "episodes", "episode"),
        _owner("episode_turns", "turns", "seq"),
        slim=True,
    )
    create_table(
        "work",
        _user(),
        _number("trace"),
        sa.Column("kind", sa.String(8), nullable=False),
        sa.Column("state", sa.String(8), nullable=False),
        _small("attempts"),
        _number("due_at"),
        sa.Column("lease", sa.String(32), nullable=True),
        _text("reason", null=True),
        sa.PrimaryKeyConstraint("user_id", "trace", "kind", name="pk_work"),
        _owner("work", "traces", "trace"),
        slim=True,
    )
    op.create_index("ix_work_state_due_at", "work", ["state", "due_at"])
