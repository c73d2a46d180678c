"""A PostgreSQL database: its connections and transactions, and what is tried again when it goes away for a while."""

from __future__ import annotations

import hashlib
import logging
import random
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final

import psycopg
from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.exc import StatementError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from mnemic.errors import StoreError, StoreUnavailable
from mnemic.store import postgres_erasure as erasure
from mnemic.store.database import Busy, Value
from mnemic.store.gate import Gate
from mnemic.store.postgres_address import Address
from mnemic.store.postgres_failures import kind_of, translate
from mnemic.telemetry import Attributes, span

_FAILURES = (psycopg.Error, StatementError, PoolTimeout)
_TOLD: Final[Attributes] = {"db.system.name": "postgresql"}
_POOL = 4
_POOL_AT_MOST = 16
_COLLISIONS = 8
"""Times that a transaction which collided with another one is run again."""
_STATEMENT_S = 300
_SLEEP_S = (0.02, 1.0)
"""The first pause before trying again, and the longest."""
_RECYCLE_S = 1800

_log = logging.getLogger("mnemic")


class PostgresDatabase:
    """One schema of one database on a server, used by any number of threads, processes and machines.

    Who writes a user's rows holds a lock on that user, so that its writes happen one after the other and each sees
    all before it; those of different users do not wait for each other.

    Args:
        address: Where it is.
        busy_timeout_s: How long a call waits for others who write, and for a server that is away, in seconds.
    """

    def __init__(self, address: Address, *, busy_timeout_s: float) -> None:
        self.address = address
        self.busy_timeout_s = busy_timeout_s
        self._engine = _engine(address, busy_timeout_s)
        self._reading = self._engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        self._gate = Gate(address.name, self._engine.dispose, patience=busy_timeout_s)
        self._everyone = _key(f"{address.schema or ''}\0everyone")

    @property
    def name(self) -> str:
        """Its address, without a password."""
        return self.address.name

    def close(self) -> None:
        """End all connections."""
        self._gate.close()

    @contextmanager
    def read(self) -> Generator[Connection]:
        """One snapshot for the duration of the block."""
        with self._translated(), self._gate.entered(), self._reading.connect() as connection, connection.begin():
            yield connection

    def aside(self) -> AbstractContextManager[Connection]:
        """One snapshot, once."""
        return self.read()

    def look(self, do: Callable[[Connection], Value]) -> Value:
        """Read in one snapshot; where the connection breaks, in another one."""

        def attempt() -> Value:
            with self._gate.entered(), self._reading.connect() as connection, connection.begin():
                return do(connection)

        with span("mnemic.store.read", _TOLD):
            return self._patiently(attempt)

    def change(
        self,
        do: Callable[[Connection], Value],
        *,
        user_id: str | None = None,
        everyone: bool = False,
        wait: bool = True,
    ) -> Value:
        """Write in one transaction; run again after a collision, or where the connection broke before it counted."""
        user = None if user_id is None else _key(f"{self.address.schema or ''}\0user\0{user_id}")

        def attempt() -> Value:
            with self._gate.entered(), self._engine.connect() as connection, connection.begin() as transaction:
                number = _lock(connection, self._everyone, user, alone=everyone, wait=wait)
                value = do(connection)
                try:
                    transaction.commit()
                except _FAILURES as failure:
                    if kind_of(failure) != "lost" or not self._counts(number, user_id):
                        raise
                return value

        with span("mnemic.store.write", _TOLD):
            return self._patiently(attempt)

    @contextmanager
    def plainly(self) -> Generator[Connection]:
        """A connection of its own outside of transactions, without a limit on the time of a statement."""
        with (
            self._translated(),
            self._gate.entered(),
            self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection,
        ):
            connection.detach()  # what is set on it goes with it
            connection.execute(text("SET statement_timeout = 0"))
            yield connection

    def keep_copy(self, to: Path, verify: Callable[[Path], list[str]]) -> None:
        """No file can be copied here; the error says what does it."""
        raise StoreError(
            f"{self.name} lies in PostgreSQL, not in a file: mnemic copy makes a file of all of it, and pg_dump a dump"
        )

    def size_bytes(self) -> int:
        """All tables and indexes of the schema; the log is the server's, not ours."""
        query = text(
            "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class"
            " WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'm')"
        )
        return self.look(lambda connection: int(connection.execute(query).scalar_one()))

    def problems(self) -> list[str]:
        """Indexes that are not valid, and constraints that were never checked."""
        queries = (
            "SELECT 'the index ' || c.relname || ' is not valid; run: REINDEX INDEX ' || c.relname FROM pg_index i"
            " JOIN pg_class c ON c.oid = i.indexrelid"
            " WHERE c.relnamespace = current_schema()::regnamespace AND NOT i.indisvalid",
            "SELECT 'the constraint ' || conname || ' was never checked; run: ALTER TABLE ' || conrelid::regclass"
            " || ' VALIDATE CONSTRAINT ' || conname FROM pg_constraint"
            " WHERE connamespace = current_schema()::regnamespace AND NOT convalidated",
        )

        def look(connection: Connection) -> list[str]:
            return [str(row) for query in queries for row in connection.execute(text(query)).scalars()]

        return [f"{self.name}: {problem}" for problem in self.look(look)]

    # erasure -------------------------------------------------------------------------------------------

    def mark_erased(self, connection: Connection, user_id: str | None) -> None:
        """Record, in the erasing transaction, in which partitions erased words may still stand."""
        erasure.mark(connection, user_id)

    def scrub(self) -> tuple[str, ...]:
        """Rewrite the partitions that had words erased from them."""
        if not self.look(erasure.is_due):
            return ()
        try:
            with self.plainly() as connection:
                return erasure.scrub(connection, self.name)
        except StoreUnavailable as error:
            _log.warning("erased words stay in free space of %s until the next erasure: %s", self.name, error)
            return ("free space of the tables, for the server is away: until the next erasure or opening",)

    def unreached(self) -> tuple[str, ...]:
        """What the server and its keepers have besides the tables."""
        return erasure.UNREACHED

    # failures ------------------------------------------------------------------------------------------

    def _patiently(self, attempt: Callable[[], Value]) -> Value:
        """Try until it is done: a few times after collisions, and while the server is away as long as we may wait."""
        deadline = time.monotonic() + self.busy_timeout_s
        collisions = 0
        pause = _SLEEP_S[0]
        while True:
            try:
                return attempt()
            except _FAILURES as failure:
                kind = kind_of(failure)
                collisions += kind == "collided"
                may_go_on = kind == "lost" or (kind == "collided" and collisions <= _COLLISIONS)
                if not may_go_on or time.monotonic() + pause >= deadline:
                    # Not from it: it quotes its statement and the row.
                    raise translate(failure, self.name) from None
            time.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(pause * 2, _SLEEP_S[1])

    def _counts(self, number: int, user_id: str | None) -> bool:
        """Whether a transaction counts whose connection broke while it was committed.

        A server that crashed may have given its number to another one since, but not on the same user's row.

        Raises:
            StoreUnavailable: Nobody can tell.
        """

        def look(connection: Connection) -> tuple[str | None, bool]:
            state = connection.execute(text("SELECT pg_xact_status(:number ::text::xid8)"), {"number": str(number)})
            by_it = text("SELECT xmin::text::bigint = :number % 4294967296 FROM users WHERE user_id = :user")
            user = (user_id or "").encode("utf-8", "surrogatepass")
            wrote = connection.execute(by_it, {"number": number, "user": user}).scalar_one_or_none()
            return state.scalar_one_or_none(), bool(wrote)

        unknown = f"{self.name} went away while it stored this: it may be stored or not; look, then try again"
        deadline = time.monotonic() + self.busy_timeout_s
        while time.monotonic() < deadline:
            try:
                with self._reading.connect() as connection, connection.begin():
                    state, wrote = look(connection)
            except _FAILURES as failure:
                if kind_of(failure) != "lost":
                    raise translate(failure, self.name) from None
                state, wrote = "away", False
            if state == "aborted" or (state == "committed" and wrote):
                return state == "committed"
            if state == "committed":
                break
            time.sleep(_SLEEP_S[0] * 5)
        raise StoreUnavailable(unknown)

    @contextmanager
    def _translated(self) -> Generator[None]:
        try:
            yield
        except _FAILURES as failure:
            raise translate(failure, self.name) from None


def _engine(address: Address, busy_timeout_s: float) -> Engine:
    milliseconds = max(1, round(busy_timeout_s * 1000))
    settings = {
        "lock_timeout": milliseconds,
        "statement_timeout": _STATEMENT_S * 1000,
        "idle_in_transaction_session_timeout": _STATEMENT_S * 1000,
        # Our statements are short, and partitions make their plans look costly.
        "jit": "off",
    }
    if address.schema is not None:
        settings["search_path"] = f'"{address.schema}"'
    options = " ".join(f"-c {name}={value}" for name, value in settings.items())
    return create_engine(
        address.url,
        connect_args={
            "options": f"{options} {address.options}".strip(),
            "connect_timeout": max(2, min(10, round(busy_timeout_s))),
            "keepalives_idle": 30,
            "tcp_user_timeout": milliseconds,
            "application_name": "mnemic",
        },
        pool_size=_POOL,
        max_overflow=_POOL_AT_MOST - _POOL,
        pool_timeout=busy_timeout_s,
        pool_pre_ping=True,
        pool_recycle=_RECYCLE_S,
        # Parameters are words of dialogues.
        hide_parameters=True,
    )


def _lock(connection: Connection, everyone: int, user: int | None, *, alone: bool, wait: bool) -> int:
    """Take the locks of a write, for as long as its transaction lasts; the transaction's number. Raises Busy."""
    shared = "" if alone else "_shared"
    columns = ["pg_current_xact_id()::text::bigint", f"pg_advisory_xact_lock{shared}(:everyone)"]
    if user is not None:
        columns.append(f"pg_{'' if wait else 'try_'}advisory_xact_lock(:user)")
    row = connection.execute(text(f"SELECT {', '.join(columns)}"), {"everyone": everyone, "user": user}).one()
    if user is not None and row[-1] is False:
        raise Busy
    return int(row[0])


def _key(name: str) -> int:
    """A 64-bit number for an advisory lock; two users that share one by chance wait for each other needlessly."""
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
