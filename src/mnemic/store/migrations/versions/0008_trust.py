"""Whose words turns are, where their role does not say it, and which are held in quarantine."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns, empty: what was stored before was not looked through."""
    op.add_column("turns", sa.Column("tier", sa.String(12), nullable=True))
    op.add_column("turns", sa.Column("quarantine", sa.String(12), nullable=True))
