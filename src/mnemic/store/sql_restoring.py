"""The part of the store of rows that writes exports back: see ``protocols.Restoring``."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from mnemic.protocols import Numbers, Recovered
from mnemic.store import check, restoring
from mnemic.store.sql_embedding import SqlEmbedding
from mnemic.store.sqlite import SqliteFile
from mnemic.types import WorkKind, WorkState

_PATIENCE_S: Final = 5.0


class SqlRestoring(SqlEmbedding):
    """Rows in one database."""

    def back_up(self, to: Path) -> int:
        """Copy the database to a new file while it is used; its bytes."""
        self._database.keep_copy(to, _problems)
        return to.stat().st_size

    def numbers(self, user_id: str) -> Numbers:
        """Where a user's numbers stand."""
        return self._database.look(lambda connection: restoring.numbers(connection, user_id))

    def confirmations(self, user_id: str) -> dict[tuple[str, int], tuple[str, ...]]:
        """Turns that say again what notes say."""
        return self._database.look(lambda connection: restoring.confirmations(connection, user_id))

    def work_on(self, user_id: str, trace_ids: Sequence[str]) -> dict[str, dict[WorkKind, WorkState]]:
        """How far models are with some traces."""
        return self._database.look(lambda connection: restoring.work_on(connection, user_id, trace_ids))

    def restoring(self, user_id: str) -> str | None:
        """The export that is being restored."""
        return self._database.look(lambda connection: restoring.under_way(connection, user_id))

    def begin_restoring(self, user_id: str, export: str) -> None:
        """Remember it."""
        self._database.change(lambda connection: restoring.begin(connection, user_id, export), user_id=user_id)

    def put_back(self, user_id: str, piece: Recovered, *, now: datetime) -> None:
        """Write some of it."""
        self._database.change(
            lambda connection: restoring.put_back(connection, user_id, piece, now=now), user_id=user_id
        )

    def finish_restoring(self, user_id: str, numbers: Numbers) -> None:
        """It is done."""
        self._database.change(lambda connection: restoring.finish(connection, user_id, numbers), user_id=user_id)


def _problems(path: Path) -> list[str]:
    """What is wrong with a copy, opened as any database is."""
    file = SqliteFile(path, busy_timeout_s=_PATIENCE_S)
    try:
        with file.read() as connection:
            return [*file.problems(), *check.inconsistencies(connection)]
    finally:
        file.close()
