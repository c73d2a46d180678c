"""The part of the store of rows that holds turns in quarantine."""

from __future__ import annotations

from datetime import datetime

from mnemic.store import read, write
from mnemic.store.ids import public_id
from mnemic.store.sql_restoring import SqlRestoring
from mnemic.types import Quarantine, Turn


class SqlQuarantine(SqlRestoring):
    """Rows in one database."""

    def set_quarantine(self, user_id: str, turn_id: str, state: Quarantine, *, now: datetime) -> str:
        """Let a turn stand otherwise in quarantine."""
        number = self._database.change(
            lambda connection: write.set_quarantine(connection, user_id, turn_id, state, now=now), user_id=user_id
        )
        return public_id("O", number)

    def in_quarantine(self, user_id: str) -> list[Turn]:
        """Turns that are held."""
        return self._database.look(lambda connection: read.in_quarantine(connection, user_id))
