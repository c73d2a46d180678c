"""The part of the store of rows that says what language models are to do, and took: see ``protocols.WorkQueue``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime

from mnemic.config import Budgets
from mnemic.protocols import Amount, Lease, Usage
from mnemic.store import spending, work
from mnemic.store.claiming import claim
from mnemic.store.database import Database
from mnemic.types import Enrichment, Purpose, WorkKind


class SqlWork:
    """Rows in one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def enqueue(self, user_id: str, kinds: Collection[WorkKind], *, due: datetime) -> int:
        """Have work done on traces that have none."""
        return self._database.change(
            lambda connection: work.enqueue(connection, user_id, kinds, due=due), user_id=user_id
        )

    def withheld(self, user_id: str, session_id: str, kind: WorkKind) -> set[str]:
        """What was not to be read."""
        return self._database.look(lambda connection: work.withheld(connection, user_id, session_id, kind))

    def claim(
        self,
        kinds: Collection[WorkKind],
        *,
        token: str,
        now: datetime,
        until: datetime,
        user_id: str | None = None,
        hurry: bool = False,
        limit: int = 64,
        silent: Collection[str] = (),
    ) -> Lease | None:
        """Lease work; who finds none has written nothing."""
        wanted = work.Wanted(tuple(kinds), user_id, hurry, silent)
        return claim(
            self._database,
            lambda connection, busy: work.first_user(connection, wanted, now=now, busy=busy),
            lambda connection, user: work.claim(
                connection, replace(wanted, user_id=user), token=token, now=now, until=until, limit=limit
            ),
        )

    def extend(self, lease: Lease, *, until: datetime) -> None:
        """Let a lease run longer."""
        self._database.change(lambda connection: work.extend(connection, lease, until=until), user_id=lease.user_id)

    def leases(self) -> Mapping[str, datetime]:
        """When each lease runs out."""
        return self._database.look(work.leases)

    def leased(self, lease: Lease) -> tuple[str, ...]:
        """What a lease still holds."""
        return self._database.look(lambda connection: work.leased(connection, lease))

    def release(
        self, lease: Lease, *, due: datetime | None, reason: str, counts: bool = True, trace_ids: Sequence[str] = ()
    ) -> None:
        """Give work back undone."""
        self._database.change(
            lambda connection: work.release(
                connection, lease, due=due, reason=reason, counts=counts, trace_ids=trace_ids
            ),
            user_id=lease.user_id,
        )

    def retry(self, user_id: str | None, *, now: datetime) -> int:
        """Let failed work be done again."""
        return self._database.change(
            lambda connection: work.retry(connection, user_id, now=now), user_id=user_id, everyone=user_id is None
        )

    def enrichment(self, user_id: str | None, *, kinds: Collection[WorkKind] | None = None) -> Enrichment:
        """How far the work is."""
        return self._database.look(lambda connection: work.enrichment(connection, user_id, kinds))

    def spend(self, user_id: str, purpose: Purpose, amount: Amount, *, day: date, within: Budgets) -> None:
        """Add an amount, within budgets."""
        self._database.change(
            lambda connection: spending.spend(connection, user_id, purpose, amount, day=day, within=within),
            user_id=user_id,
        )

    def usage(self, user_id: str | None, *, since: date | None = None) -> list[Usage]:
        """What was spent for a user, or in total."""
        return self._database.look(lambda connection: spending.usage(connection, user_id, since=since))
