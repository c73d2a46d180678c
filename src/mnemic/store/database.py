"""What the rows need of a database, whichever it is: transactions, and words that do not linger."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol, TypeVar

from sqlalchemy import Connection, Table, text

Value = TypeVar("Value")


class Busy(Exception):
    """Somebody else writes the user's rows just now."""


class Database(Protocol):
    """One database, used by any number of threads; other processes may use it too.

    What ``look`` and ``change`` are given may run more than once, for a database that comes back after a moment is
    no reason to bother the caller: all that it does, it does to its connection.
    """

    @property
    def name(self) -> str:
        """For messages: never with a password in it."""
        ...

    def close(self) -> None:
        """End all connections; twice is allowed."""
        ...

    def read(self) -> AbstractContextManager[Connection]:
        """One snapshot for the duration of the block, which is not repeated."""
        ...

    def aside(self) -> AbstractContextManager[Connection]:
        """A connection for a moment, beside those that are kept."""
        ...

    def look(self, do: Callable[[Connection], Value]) -> Value:
        """Read in one snapshot."""
        ...

    def change(
        self,
        do: Callable[[Connection], Value],
        *,
        user_id: str | None = None,
        everyone: bool = False,
        wait: bool = True,
    ) -> Value:
        """Write in one transaction; an exception undoes it.

        Args:
            do: The writing.
            user_id: Whose rows are written: nobody else writes them meanwhile.
            everyone: Rows of any number of users are: nobody else writes at all meanwhile.
            wait: Whether to wait for others who write; else they are in the way at once, where there is a choice.

        Raises:
            StoreLocked: Others were in the way too long.
            Busy: Others are in the way, and ``wait`` is false.
        """
        ...

    def mark_erased(self, connection: Connection, user_id: str | None) -> None:
        """Record, in the erasing transaction, that erased words of a user, or anybody, may still stand somewhere."""
        ...

    def scrub(self) -> tuple[str, ...]:
        """Rewrite what had words erased from it, so that no byte of them is left; failing that, the mark stays.

        Returns:
            Where bytes of them still stand, and until when; nothing where none is left.
        """
        ...

    def unreached(self) -> tuple[str, ...]:
        """What may hold words that were erased here, and is out of reach from here."""
        ...

    def keep_copy(self, to: Path, verify: Callable[[Path], list[str]]) -> None:
        """Copy everything to a new file while others read and write; it is there once it is verified.

        Raises:
            StoreError: It failed, or this is no database that lies in a file.
        """
        ...

    def size_bytes(self) -> int:
        """Bytes on disk."""
        ...

    def problems(self) -> list[str]:
        """What the database finds wrong with itself, in words."""
        ...


def alone(connection: Connection, table: Table) -> None:
    """Let nobody else write a table until this transaction ends; on SQLite nobody does anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(text(f'LOCK TABLE "{table.name}" IN SHARE ROW EXCLUSIVE MODE'))
