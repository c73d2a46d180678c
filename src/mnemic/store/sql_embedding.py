"""The part of the store of rows that says who makes missing vectors: see ``protocols.EmbeddingQueue``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from mnemic.protocols import EmbeddingLease
from mnemic.store import embedding, read
from mnemic.store.claiming import claim
from mnemic.store.database import Database


class SqlEmbedding:
    """Rows in one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def claim_embedding(
        self,
        *,
        token: str,
        now: datetime,
        until: datetime,
        user_id: str | None = None,
        hurry: bool = False,
        silent: Collection[str] = (),
    ) -> EmbeddingLease | None:
        """Lease work; who finds none has written nothing."""
        wanted = embedding.Wanted(now, hurry, silent)
        return claim(
            self._database,
            lambda connection, busy: embedding.first(connection, wanted, user_id, busy=busy),
            lambda connection, user: embedding.claim(connection, wanted, user, token=token, until=until),
        )

    def embedding_leases(self) -> Mapping[str, datetime]:
        """When each lease runs out."""
        return self._database.look(embedding.leases)

    def extend_embedding(self, lease: EmbeddingLease, *, until: datetime) -> bool:
        """Let a lease run longer."""
        return self._database.change(
            lambda connection: embedding.extend(connection, lease, until=until), user_id=lease.user_id
        )

    def finish_embedding(self, lease: EmbeddingLease, fingerprint: str) -> bool:
        """End a lease whose work is done."""
        return self._database.change(
            lambda connection: embedding.finish(connection, lease, fingerprint), user_id=lease.user_id
        )

    def release_embedding(self, lease: EmbeddingLease, *, due: datetime, reason: str = "", counts: bool = True) -> None:
        """Give work back undone."""
        self._database.change(
            lambda connection: embedding.release(connection, lease, due=due, reason=reason, counts=counts),
            user_id=lease.user_id,
        )

    def pending(self, user_id: str | None) -> int:
        """How many tasks wait."""
        return self._database.look(lambda connection: read.pending(connection, user_id))

    def put_off(self, user_id: str | None) -> tuple[str, ...]:
        """Why they wait."""
        return self._database.look(lambda connection: embedding.put_off(connection, user_id))
