"""Who bears notes out: whom they are from, in how many sessions they were said, and when last."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection, Table, and_, select

from mnemic.algo.trust import least, said_by
from mnemic.protocols import CONFIRMED
from mnemic.store.encodings import maybe_moment, micros
from mnemic.store.ids import number_of, public_id
from mnemic.store.read import rows_with
from mnemic.store.tables import note_confirmations, note_sources, operation_details, operations, turns
from mnemic.types import Tier

if TYPE_CHECKING:
    from mnemic.store.read import AnyRow

Stamp = tuple[int, int]
"""Microseconds, and the zone's offset in seconds."""


@dataclass(slots=True)
class Testimony:
    """Of one version of a note.

    Attributes:
        tiers: Of its sources.
        sessions: In which somebody said it: an assistant's retelling is nobody's word.
        said: When it was said by its sources, and when it was said again or confirmed.
        retold: When an assistant said it, in its sources.
    """

    tiers: set[Tier] = field(default_factory=set[Tier])
    sessions: set[str] = field(default_factory=set[str])
    said: list[Stamp] = field(default_factory=list[Stamp])
    retold: list[Stamp] = field(default_factory=list[Stamp])

    @property
    def tier(self) -> Tier:
        """Of the least trusted source."""
        return least(self.tiers)

    @property
    def corroboration(self) -> int:
        """How many sessions."""
        return len(self.sessions)

    @property
    def last_confirmed(self) -> datetime | None:
        """When it was said last; of what only an assistant said, when that did."""
        return maybe_moment(*max(self.said or self.retold, default=(None, None)))

    def add(self, row: AnyRow, *, is_source: bool) -> None:
        """A turn that says it."""
        tier = said_by(row.role, row.tier)
        stamps = [] if row.timestamp is None else [(row.timestamp, row.utc_offset)]
        if is_source:
            self.tiers.add(tier)
        if tier != "assistant":
            self.sessions.add(row.session_id)
            self.said += stamps
        elif is_source:
            self.retold += stamps


_SAID: Final = (
    *(turns.c.role, turns.c.tier, turns.c.session_id, turns.c.timestamp, turns.c.utc_offset),
    turns.c.recorded_at,
)


def testimony(
    connection: Connection, user_id: str, numbers: Sequence[int], known_at: datetime | None
) -> dict[tuple[int, int], Testimony]:
    """(note, version) -> who bears it out, as far as that was known at a time, if one is given."""
    found: dict[tuple[int, int], Testimony] = defaultdict(Testimony)
    latest = None if known_at is None else micros(known_at)
    for table in (note_sources, note_confirmations):
        for row in _turns_of(connection, user_id, table, numbers):
            if latest is None or row.recorded_at <= latest:
                found[row.note, row.version].add(row, is_source=table is note_sources)
    for key, at in _confirmed(connection, user_id, numbers, latest).items():
        found[key].said.append((at, 0))
    return found


def _turns_of(connection: Connection, user_id: str, table: Table, numbers: Sequence[int]) -> list[AnyRow]:
    query = (
        select(table.c.note, table.c.version, *_SAID)
        .join(turns, (turns.c.user_id == table.c.user_id) & (turns.c.seq == table.c.seq))
        .where(table.c.user_id == user_id)
    )
    return rows_with(connection, query, table.c.note, numbers)


def _confirmed(
    connection: Connection, user_id: str, numbers: Iterable[int], latest: int | None
) -> dict[tuple[int, int], int]:
    """(note, version) -> when a person last said that it is true, in microseconds, unless that was undone."""
    its_detail = (
        operation_details.c.user_id == operations.c.user_id,
        operation_details.c.operation == operations.c.operation,
    )
    query = (
        select(operations.c.operation, operations.c.target_id, operations.c.version, operations.c.at)
        .add_columns(operation_details.c.detail)
        .join(operation_details, and_(*its_detail))
        .where(operations.c.user_id == user_id, operations.c.trigger == "person")
    )
    log = (
        select(operations.c.operation, operations.c.trigger, operation_details.c.detail)
        .join(operation_details, and_(*its_detail), isouter=True)
        .where(operations.c.user_id == user_id)
    )
    if latest is not None:
        query, log = (one.where(operations.c.at <= latest) for one in (query, log))
    rows = rows_with(connection, query, operations.c.target_id, (public_id("N", number) for number in numbers))
    found = {row.operation: row for row in rows if row.detail.get("decision") == CONFIRMED}
    if not found:
        return {}
    targets = {row.target_id for row in found.values()}
    undone = _undone(rows_with(connection, log, operations.c.target_id, targets))
    return {
        (number, row.version): row.at
        for row in sorted(found.values(), key=lambda row: row.operation)
        if row.operation not in undone and (number := number_of("N", row.target_id)) is not None
    }


def _undone(log: Iterable[AnyRow]) -> set[int]:
    """The operations that are undone, by operations that are not."""
    undone: set[int] = set()
    for row in sorted(log, key=lambda row: row.operation, reverse=True):
        said: object = row.detail["undoes"] if row.detail and "undoes" in row.detail else None
        number = number_of("O", said if isinstance(said, str) else row.trigger.removeprefix("undo "))
        if number is not None and row.operation not in undone:
            undone.add(number)
    return undone
