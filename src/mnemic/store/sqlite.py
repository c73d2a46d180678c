"""The SQLite file: its creation, connections, transactions, backup, and the scrubbing of erased words."""

from __future__ import annotations

import glob
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, cast

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.dialects.sqlite.base import SQLiteCompiler
from sqlalchemy.exc import StatementError
from sqlalchemy.pool import QueuePool, StaticPool
from sqlalchemy.sql import FromClause

from mnemic.errors import StoreError
from mnemic.store.database import Value
from mnemic.store.failures import read_only, translate
from mnemic.store.gate import Gate
from mnemic.telemetry import Attributes, span

APPLICATION_ID = 0x6D6E656D
"""``mnem``, in the header of every database of ours."""

# Large enough for rows of vectors to pack well, small enough for little writes; measured at LoCoMo size.
_PAGE_BYTES = 8192
_LOG_BYTES_KEPT = 1 << 20
_READ = "BEGIN"
_TOLD: Final[Attributes] = {"db.system.name": "sqlite"}
_SCRUB_PATIENCE_S = 5.0
_LOOK_AGAIN_S = 0.002

_log = logging.getLogger("mnemic")
_creation = threading.Lock()


class SqliteFile:
    """One database file, used by any number of threads; other processes may use it too.

    Args:
        path: Absolute.
        busy_timeout_s: How long a transaction waits for a lock, in seconds.
    """

    def __init__(self, path: Path, *, busy_timeout_s: float) -> None:
        self.path = path
        self.busy_timeout_s = busy_timeout_s
        self._engine = self._make_engine()
        self._gate = Gate(str(path), self._engine.dispose, patience=busy_timeout_s)

    @property
    def name(self) -> str:
        """Its path."""
        return str(self.path)

    def close(self) -> None:
        """End all connections; SQLite then folds its log into the file."""
        self._gate.close()

    @contextmanager
    def read(self) -> Generator[Connection]:
        """One snapshot for the duration of the block."""
        with self._transaction(_READ) as connection:
            yield connection

    def look(self, do: Callable[[Connection], Value]) -> Value:
        """Read in one snapshot."""
        with span("mnemic.store.read", _TOLD), self.read() as connection:
            return do(connection)

    def change(
        self,
        do: Callable[[Connection], Value],
        *,
        user_id: str | None = None,
        everyone: bool = False,
        wait: bool = True,
    ) -> Value:
        """Write in one transaction, which holds the lock of the whole file from its first moment, whoever writes."""
        with span("mnemic.store.write", _TOLD), self._transaction("BEGIN IMMEDIATE") as connection:
            return do(connection)

    @contextmanager
    def raw(self, *, timeout_s: float | None = None) -> Generator[sqlite3.Connection]:
        """A connection of its own, in autocommit mode and with foreign keys off."""
        try:
            with self._gate.entered(), closing(self._connect(timeout_s)) as connection:
                yield connection
        except (sqlite3.Error, StatementError) as error:
            raise translate(error, self.path) from error

    @contextmanager
    def core(self, raw: sqlite3.Connection) -> Generator[Connection]:
        """SQLAlchemy's view of a connection; beginning a transaction there is left to whoever has it."""
        engine = create_engine("sqlite://", creator=lambda: raw, poolclass=StaticPool)
        with engine.connect() as connection:
            yield connection

    @contextmanager
    def aside(self) -> Generator[Connection]:
        """A connection that is not kept: of a file that vanishes afterwards, nothing is held open."""
        with self.raw() as raw, self.core(raw) as connection:
            yield connection

    def size_bytes(self) -> int:
        """The file and its write-ahead log."""
        with self._gate.entered():
            return _size(self.path) + _size(Path(f"{self.path}-wal"))

    def problems(self) -> list[str]:
        """What SQLite finds wrong with the file."""
        with self.raw() as connection:
            damage = [str(row[0]) for row in connection.execute("PRAGMA integrity_check")]
            orphans = connection.execute("PRAGMA foreign_key_check").fetchall()
        found = [] if damage == ["ok"] else [f"{self.path}: {problem}" for problem in damage]
        return found + [f"{self.path}: a row of {row[0]} has lost its row of {row[2]}" for row in orphans]

    def back_up(self, to: Path) -> None:
        """Copy the committed state to a file, 0600, whole or not at all; called inside ``raw``."""
        partial = Path(f"{to}.partial")
        partial.unlink(missing_ok=True)
        _create(partial)
        with closing(self._connect()) as source, closing(sqlite3.connect(partial)) as copy:
            source.backup(copy)
        partial.replace(to)

    def keep_copy(self, to: Path, verify: Callable[[Path], list[str]]) -> None:
        """Copy the committed state to a new file, 0600, while others read and write; it is there once it is verified.

        Args:
            to: Where nothing is yet.
            verify: Opens a copy, and says what is wrong with it.

        Raises:
            StoreError: Something is there already, the copy failed, or it is not sound; nothing is left of it.
        """
        if to.exists():
            raise StoreError(f"{to} exists already; name a new file for the backup")
        partial = Path(f"{to}.unverified")
        try:
            with self.raw():
                self.back_up(partial)
            if problems := verify(partial):
                raise StoreError(f"the copy of {self.path} is not sound, and was removed: {'; '.join(problems)}")
            os.link(partial, to)  # a rename would replace what somebody else put there meanwhile
        except FileExistsError as error:
            raise StoreError(f"{to} exists already; name a new file for the backup") from error
        except OSError as error:
            raise StoreError(f"no backup was written to {to}: {error.strerror or error}") from error
        finally:
            for left in (partial, *(Path(f"{partial}{end}") for end in ("-wal", "-shm", ".partial"))):
                left.unlink(missing_ok=True)

    # creation ------------------------------------------------------------------------------------------

    def create_if_missing(self) -> None:
        """Make an empty file of mode 0600. Raises StoreError when its folder does not exist."""
        # Never opened again by us: closing any descriptor of the file would drop SQLite's locks on it.
        with self._gate.entered(), _creation:
            try:
                if self.path.is_dir():
                    raise StoreError(f"{self.path} is a folder; name a file in it")
                if not self.path.parent.is_dir():
                    raise StoreError(f"the folder {self.path.parent} does not exist; create it first")
                if not self.path.exists():
                    _create(self.path)
            except FileExistsError:
                return  # another process was faster
            except OSError as error:
                raise read_only(self.path) from error

    def prepare_new(self) -> None:
        """Choose page size and write-ahead log for a file without tables."""
        with self.raw() as connection:
            connection.execute(f"PRAGMA page_size={_PAGE_BYTES}")
            # Changing the mode does not always wait for locks by itself.
            (mode,) = _patiently(connection, "PRAGMA journal_mode=WAL", self.busy_timeout_s)
            if mode != "wal":
                raise StoreError(f"{self.path} lies where write-ahead logging fails ({mode}); use a local disk")

    # erasure -------------------------------------------------------------------------------------------

    def mark_erased(self, connection: Connection, user_id: str | None) -> None:
        """Record, in the erasing transaction, that erased words may still stand somewhere in the file."""
        due = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
        connection.exec_driver_sql(f"PRAGMA user_version={due % 0x7FFFFFFF + 1}")

    def scrub(self) -> tuple[str, ...]:
        """Rewrite a file that had words erased from it, and empty its log, so that no byte of them is left.

        SQLite's ``secure_delete`` alone leaves copies: rows that moved between pages while they lived. Where a
        lock or a full disk prevents it, the mark stays, and the next erasure or opening tries again.
        """
        try:
            with self.raw(timeout_s=min(_SCRUB_PATIENCE_S, self.busy_timeout_s)) as connection:
                due = _user_version(connection)
                if due == 0:
                    return ()
                connection.execute("VACUUM")
                (is_busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                if is_busy:
                    _log.warning("%s is in use: erased words stay in its log until it is opened next", self.path)
                    return ("the file's log, which somebody reads: until the next erasure or opening",)
                connection.execute("BEGIN IMMEDIATE")
                if _user_version(connection) == due:
                    connection.execute("PRAGMA user_version=0")
                connection.execute("COMMIT")
        except StoreError as error:
            _log.warning("erased words stay in free space of %s until it is opened next: %s", self.path, error)
            return ("free space of the file, which is locked or cannot grow: until the next erasure or opening",)
        return ()

    def unreached(self) -> tuple[str, ...]:
        """Copies of the file, and what lies below it."""
        with self._gate.entered():
            before = sorted(copy.name for copy in self.path.parent.glob(f"{glob.escape(self.path.name)}.backup-*"))
        ends = ", ".join(f".{name.rpartition('.')[2]}" for name in before)
        migrated = f"copies from before a migration, beside the database: {ends}; erase them yourself"
        return (
            *((migrated,) if ends else ()),
            "backups and copies that were made of the database before (mnemic backup, mnemic copy, others' programs)",
            "what the file system or the disk keeps of blocks that were written over or given free",
        )

    # connections ---------------------------------------------------------------------------------------

    @contextmanager
    def _transaction(self, begin: str) -> Generator[Connection]:
        try:
            with (
                self._gate.entered(),
                self._engine.connect() as connection,
                connection.execution_options(mnemic_begin=begin).begin(),
            ):
                yield connection
        except (sqlite3.Error, StatementError) as error:
            raise translate(error, self.path) from error

    def _make_engine(self) -> Engine:
        engine = create_engine(
            "sqlite://",
            creator=self._connect_with_keys,
            poolclass=QueuePool,
            pool_size=4,
            max_overflow=-1,
        )
        engine.dialect.statement_compiler = _HintingCompiler
        event.listen(engine, "begin", self._begin)
        return engine

    def _begin(self, connection: Connection) -> None:
        raw = cast("sqlite3.Connection", connection.connection.driver_connection)
        begin = connection.get_execution_options()["mnemic_begin"]
        if begin == _READ:
            raw.execute(begin)  # takes no lock yet
            return
        # SQLite's own waiting sleeps so long between its looks that a busy writer starves all others.
        raw.execute("PRAGMA busy_timeout=0")
        try:
            _patiently(raw, begin, self.busy_timeout_s)
        finally:
            raw.execute(f"PRAGMA busy_timeout={round(self.busy_timeout_s * 1000)}")

    def _connect_with_keys(self) -> sqlite3.Connection:
        connection = self._connect()
        connection.execute("PRAGMA foreign_keys=ON")
        return connection

    def _connect(self, timeout_s: float | None = None) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self.path.as_uri()}?mode=rw",
            uri=True,
            timeout=self.busy_timeout_s if timeout_s is None else timeout_s,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA secure_delete=ON")
            connection.execute(f"PRAGMA journal_size_limit={_LOG_BYTES_KEPT}")
        except sqlite3.Error:
            connection.close()
            raise
        return connection


class _HintingCompiler(SQLiteCompiler):
    """Writes ``with_hint`` behind the table's name, where SQLite has its INDEXED BY; SQLAlchemy's own leaves it out."""

    def get_from_hint_text(self, table: FromClause, text: str | None) -> str | None:
        return text


def _create(path: Path) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    path.chmod(0o600)  # where the umask took more away


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _patiently(connection: sqlite3.Connection, statement: str, patience_s: float) -> tuple[Any, ...]:
    """Execute a statement as soon as no lock is in the way; its row, if it has one."""
    deadline = time.monotonic() + patience_s
    while True:
        try:
            return connection.execute(statement).fetchone() or ()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= deadline:
                raise
        time.sleep(_LOOK_AGAIN_S)


def _user_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
