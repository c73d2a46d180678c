"""Copying a whole database into an empty one, of either kind: every row as it is, with the ids it has.

User by user, each in one transaction, so that a copy that was cut goes on where it stopped. What was written is read
back and compared with what was read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

from sqlalchemy import Connection, LargeBinary, MetaData, Select, Table, delete, insert, select

from mnemic.errors import StoreConflict, StoreCorrupt
from mnemic.store.bulk import insert_rows
from mnemic.store.columns import tables
from mnemic.store.database import Database
from mnemic.store.encodings import ExactJson, ExactText
from mnemic.store.shared_tables import MARKS, settings

_MARK = f"{MARKS}copying from"
_PIECE = 2_000
"""Rows that are read, and written, at once."""


@dataclass(frozen=True, slots=True)
class Copied:
    """What a copy did.

    Attributes:
        users: In both databases now.
        written: Of these, by this run; the others were there from a run before.
        rows: In both databases now, of all tables.
        checksum: Of all rows, in hexadecimal, read back from the destination; the source has the same.
    """

    users: int
    written: int
    rows: int
    checksum: str


@dataclass(frozen=True, slots=True)
class _Sum:
    """How many rows, and a checksum that their order does not change."""

    rows: int = 0
    digest: int = 0

    def __add__(self, other: _Sum) -> _Sum:
        return _Sum(self.rows + other.rows, (self.digest + other.digest) % (1 << 128))


def copy(source: Database, destination: Database, *, progress: Callable[[int], None]) -> Copied:
    """Copy everything, from one snapshot of the source; ``progress`` is called after each user.

    Raises:
        StoreConflict: The destination holds something else.
        StoreCorrupt: What was read back is not what was written.
    """
    destination.change(lambda there: _begin(there, source.name, destination.name), everyone=True)
    written = 0
    total = _Sum()
    with source.read() as here:
        users = _users(here)
        known = set(destination.look(_users))
        for user_id in sorted(known.difference(users)):  # erased since the run before
            _remove(destination, user_id)
        for user_id in users:
            is_known = user_id in known
            given = _sum(here, user_id) if is_known else _Sum()
            if not is_known or _kept(destination, user_id) != given:
                given = _write(here, destination, user_id, anew=is_known)
                written += 1
                _check(destination, user_id, given)
            total += given
            progress(1)
        given = destination.change(lambda there: _write_shared(here, there), everyone=True)
        _check(destination, None, given)
        total += given
    destination.change(_finish)
    return Copied(len(users), written, total.rows, f"{total.digest:032x}")


def half_of(connection: Connection) -> str | None:
    """The database of which this one is half a copy; None for a whole one."""
    return connection.execute(select(settings.c.value).where(settings.c.name == _MARK)).scalar_one_or_none()


@cache
def _raw() -> tuple[Table, ...]:
    """The tables, owners first, with their bytes as they are: nothing is decoded on the way."""
    plain = MetaData()
    made = {table.name: table.to_metadata(plain) for table in tables.sorted_tables}
    for table in made.values():
        for column in table.c:
            if isinstance(column.type, ExactText | ExactJson):
                column.type = LargeBinary()
    return tuple(made[table.name] for table in tables.sorted_tables)


def _of_users() -> tuple[Table, ...]:
    return tuple(table for table in _raw() if "user_id" in table.c)


def _shared() -> tuple[Table, ...]:
    return tuple(table for table in _raw() if "user_id" not in table.c)


def _begin(connection: Connection, source: str, destination: str) -> None:
    half = half_of(connection)
    if half == source:
        return
    if half is not None:
        raise StoreConflict(f"{destination} is half a copy of {half}: finish that one, or choose an empty database")
    held = [table.name for table in _raw() if _holds_any(connection, table)]
    if held:
        raise StoreConflict(f"{destination} is not empty ({', '.join(held)}): choose a database without anything in it")
    connection.execute(insert(settings), {"name": _MARK, "value": source})


def _holds_any(connection: Connection, table: Table) -> bool:
    query = select(table.c[0])
    if table.name == "settings":
        return any(not name.startswith(MARKS.encode()) for name in connection.execute(query).scalars())
    return connection.execute(query.limit(1)).first() is not None


def _finish(connection: Connection) -> None:
    connection.execute(delete(settings).where(settings.c.name == _MARK))


def _users(connection: Connection) -> list[bytes]:
    """Whoever has rows; the tables that do not hang off a user's row are asked, too."""
    found: set[bytes] = set()
    for table in _of_users():
        if table.name == "users" or not table.foreign_keys:
            found.update(connection.execute(select(table.c.user_id).distinct()).scalars())
    return sorted(found)


def _select(table: Table, user_id: bytes | None) -> Select[Any]:
    return select(table) if user_id is None else select(table).where(table.c.user_id == user_id)


def _rows(connection: Connection, table: Table, user_id: bytes | None) -> Iterator[tuple[Any, ...]]:
    """The rows of a user in a table, or all of a shared one, but for marks of the store itself."""
    found = connection.execute(_select(table, user_id).execution_options(yield_per=_PIECE))
    for row in found:
        if table.name != "settings" or not row.name.startswith(MARKS.encode()):
            yield tuple(row)


def _summed(table: Table, rows: Iterable[tuple[Any, ...]]) -> _Sum:
    total = _Sum()
    for row in rows:
        digest = hashlib.blake2b(repr((table.name, row)).encode(), digest_size=16).digest()
        total += _Sum(1, int.from_bytes(digest, "big"))
    return total


def _sum(connection: Connection, user_id: bytes | None) -> _Sum:
    """Of all rows of a user, or of all shared tables."""
    total = _Sum()
    for table in _shared() if user_id is None else _of_users():
        total += _summed(table, _rows(connection, table, user_id))
    return total


def _kept(destination: Database, user_id: bytes | None) -> _Sum:
    return destination.look(lambda there: _sum(there, user_id))


def _check(destination: Database, user_id: bytes | None, given: _Sum) -> None:
    """Compare what is there now with what was given."""
    kept = _kept(destination, user_id)
    if given != kept:
        whose = "shared rows" if user_id is None else f"user {user_id.decode('utf-8', 'backslashreplace')!r}"
        raise StoreCorrupt(
            f"{destination.name}: {whose} read back as {kept.rows} rows unlike the {given.rows} of the source; "
            "is something else writing there? Copy into an empty database"
        )


def _write(here: Connection, destination: Database, user_id: bytes, *, anew: bool) -> _Sum:
    """Write a user, in place of what may be there; what was written."""

    def write(there: Connection) -> _Sum:
        if anew:
            _delete(there, user_id)
        total = _Sum()
        for table in _of_users():
            total += _fill(there, table, _rows(here, table, user_id))
        return total

    return destination.change(write, user_id=user_id.decode("utf-8", "surrogatepass"))


def _write_shared(here: Connection, there: Connection) -> _Sum:
    half = half_of(there)
    total = _Sum()
    for table in _shared():
        there.execute(delete(table))
        total += _fill(there, table, _rows(here, table, None))
    there.execute(insert(settings), {"name": _MARK, "value": half})
    return total


def _fill(there: Connection, table: Table, rows: Iterator[tuple[Any, ...]]) -> _Sum:
    """Write rows into a table, piece by piece; what was given."""
    names = table.c.keys()
    total = _Sum()
    while piece := list(islice(rows, _PIECE)):
        total += _summed(table, piece)
        insert_rows(there, table, [dict(zip(names, row, strict=True)) for row in piece])
    return total


def _remove(destination: Database, user_id: bytes) -> None:
    destination.change(lambda there: _delete(there, user_id), user_id=user_id.decode("utf-8", "surrogatepass"))


def _delete(there: Connection, user_id: bytes) -> None:
    for table in reversed(_of_users()):
        there.execute(delete(table).where(table.c.user_id == user_id))
