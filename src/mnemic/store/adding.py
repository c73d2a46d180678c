"""The additions of one batch, under way: whose, at which revision, and the numbers of what they mention."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Table

from mnemic.errors import StoreConflict
from mnemic.store.bulk import insert_rows
from mnemic.store.tables import operation_details, operations
from mnemic.store.users import Counters
from mnemic.types import Action, Json, Span


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One entry of the log of operations, before it has a number."""

    action: Action
    target_id: str
    version: int | None
    trigger: str
    before: str | None
    after: str | None
    detail: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(slots=True)
class Adding:
    """What the steps of adding a batch share.

    Attributes:
        now: Microseconds.
        seqs: turn_id -> ``seq`` of the turns that the batch mentions.
        cues: Cue key -> number of the cues that the batch mentions.
        begun: Place in the chain -> the work on the trace that the batch removes there, kind -> state.
        logged: Numbers of the log entries made so far.
    """

    connection: Connection
    user_id: str
    counters: Counters
    now: int
    seqs: dict[str, int] = field(default_factory=dict[str, int])
    cues: dict[str, int] = field(default_factory=dict[str, int])
    begun: Mapping[int, Mapping[str, str]] = field(default_factory=dict[int, Mapping[str, str]])
    logged: list[int] = field(default_factory=list[int])

    def put(self, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
        """Insert rows of this user."""
        whole = [{"user_id": self.user_id, **row} for row in rows]
        if whole:
            insert_rows(self.connection, table, whole)

    def log(self, entries: Sequence[LogEntry]) -> None:
        """Add entries to the log of operations."""
        first = self.counters.take("next_operation", len(entries))
        numbers = range(first, first + len(entries))
        self.logged += numbers
        columns = ("action", "target_id", "version", "trigger", "before", "after")
        numbered = list(zip(numbers, entries, strict=True))
        self.put(
            operations,
            (
                {"operation": number, "at": self.now, **{name: getattr(entry, name) for name in columns}}
                for number, entry in numbered
            ),
        )
        self.put(
            operation_details,
            ({"operation": number, "detail": dict(entry.detail)} for number, entry in numbered if entry.detail),
        )

    def span(self, no: int, span: Span) -> dict[str, int]:
        """The columns of a span, its owner's ``no``-th. Raises StoreConflict when its turn is gone."""
        return {"no": no, "seq": self.seq(span.turn_id), "start": span.start, "stop": span.end}

    def seq(self, turn_id: str) -> int:
        """The number of a turn. Raises StoreConflict when it is gone."""
        try:
            return self.seqs[turn_id]
        except KeyError:
            raise StoreConflict(f"turn {turn_id!r} of user {self.user_id!r} is gone; plan the write again") from None
