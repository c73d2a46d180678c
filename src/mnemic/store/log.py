"""The log of what changed notes and metadata."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, Connection, and_, select

from mnemic.errors import InvalidInput
from mnemic.protocols import LogFilter
from mnemic.store.encodings import micros, moment
from mnemic.store.ids import number_of, numbers_of, public_id
from mnemic.store.read import rows_with
from mnemic.store.tables import operation_details, operations
from mnemic.types import Operation

if TYPE_CHECKING:
    from mnemic.store.read import AnyRow, AnySelect

_ITS_DETAIL = (
    operation_details.c.user_id == operations.c.user_id,
    operation_details.c.operation == operations.c.operation,
)


def find_operations(
    connection: Connection,
    user_id: str,
    *,
    target_id: str | None,
    operation_ids: Sequence[str] | None,
    only: LogFilter,
    after: str | None,
    limit: int | None,
) -> list[Operation]:
    """The log as ``only`` says, behind an operation.

    Raises:
        InvalidInput: ``after`` is no operation_id.
    """
    query = _log(user_id).where(*_conditions(only))
    if target_id is not None:
        query = query.where(operations.c.target_id == target_id)
    if after is not None:
        last = number_of("O", after)
        if last is None:
            raise InvalidInput(f"{after!r} is not the id of an operation, such as O7")
        query = query.where(operations.c.operation < last if only.newest_first else operations.c.operation > last)
    query = query.order_by(operations.c.operation.desc() if only.newest_first else operations.c.operation)
    if operation_ids is None:
        return [_operation(row) for row in connection.execute(query.limit(limit))]
    found = rows_with(connection, query, operations.c.operation, numbers_of("O", operation_ids))
    rows = sorted(found, key=lambda row: row.operation, reverse=only.newest_first)
    return [_operation(row) for row in rows[:limit]]


def log_of(connection: Connection, user_id: str, numbers: Iterable[int]) -> list[Operation]:
    """The log of some notes by their numbers, oldest first."""
    note_ids = (public_id("N", number) for number in numbers)
    rows = rows_with(connection, _log(user_id), operations.c.target_id, note_ids)
    return [_operation(row) for row in sorted(rows, key=lambda row: row.operation)]


def _conditions(only: LogFilter) -> Iterator[ColumnElement[bool]]:
    if only.action is not None:
        yield operations.c.action == only.action
    if only.trigger is not None:
        # Undoings name what they undo: "undo O7" lies between "undo " and "undo!" by bytes.
        undone = and_(operations.c.trigger >= "undo ", operations.c.trigger < "undo!")
        yield undone if only.trigger == "undo" else operations.c.trigger == only.trigger
    if only.since is not None:
        yield operations.c.at >= micros(only.since)
    if only.until is not None:
        yield operations.c.at < micros(only.until)


def _log(user_id: str) -> AnySelect:
    return (
        select(operations, operation_details.c.detail)
        .join(operation_details, and_(*_ITS_DETAIL), isouter=True)
        .where(operations.c.user_id == user_id)
    )


def _operation(row: AnyRow) -> Operation:
    return Operation(
        operation_id=public_id("O", row.operation),
        at=moment(row.at),
        action=row.action,
        target_id=row.target_id,
        trigger=row.trigger,
        before=row.before,
        after=row.after,
        version=row.version,
        detail=row.detail or {},
    )
