"""The part of the store of rows that says who makes missing vectors: see ``protocols.EmbeddingQueue``."""

from __future__ import annotations

from datetime import datetime

from mnemic.protocols import EmbeddingLease
from mnemic.store import embedding, read
from mnemic.store.sqlite import SqliteFile


class SqlEmbedding:
    """Rows in one database file."""

    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    def claim_embedding(
        self, *, token: str, now: datetime, until: datetime, user_id: str | None = None, hurry: bool = False
    ) -> EmbeddingLease | None:
        """Lease work; who finds none has written nothing."""
        with self._file.read() as connection:
            if embedding.first(connection, now=now, user_id=user_id, hurry=hurry) is None:
                return None
        with self._file.write() as connection:
            return embedding.claim(connection, token=token, now=now, until=until, user_id=user_id, hurry=hurry)

    def extend_embedding(self, lease: EmbeddingLease, *, until: datetime) -> bool:
        """Let a lease run longer."""
        with self._file.write() as connection:
            return embedding.extend(connection, lease, until=until)

    def finish_embedding(self, lease: EmbeddingLease, fingerprint: str) -> bool:
        """End a lease whose work is done."""
        with self._file.write() as connection:
            return embedding.finish(connection, lease, fingerprint)

    def release_embedding(self, lease: EmbeddingLease, *, due: datetime, reason: str = "", counts: bool = True) -> None:
        """Give work back undone."""
        with self._file.write() as connection:
            embedding.release(connection, lease, due=due, reason=reason, counts=counts)

    def pending(self, user_id: str | None) -> int:
        """How many tasks wait."""
        with self._file.read() as connection:
            return read.pending(connection, user_id)

    def put_off(self, user_id: str | None) -> tuple[str, ...]:
        """Why they wait."""
        with self._file.read() as connection:
            return embedding.put_off(connection, user_id)
