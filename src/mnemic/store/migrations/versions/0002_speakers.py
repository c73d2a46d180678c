"""An index of the speakers: every ``add`` asks who takes part, and read all turns for it."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the index."""
    op.create_index("ix_turns_user_id_speaker", "turns", ["user_id", "speaker"])
