"""The additions of one batch, under way: whose, at which revision, and the numbers of what they mention."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Table, insert

from mnemic.errors import StoreConflict
from mnemic.store.users import Counters
from mnemic.types import Span


@dataclass(slots=True)
class Adding:
    """What the steps of adding a batch share.

    Attributes:
        now: Microseconds.
        seqs: turn_id -> ``seq`` of the turns that the batch mentions.
        cues: Cue key -> number of the cues that the batch mentions.
    """

    connection: Connection
    user_id: str
    counters: Counters
    now: int
    seqs: dict[str, int] = field(default_factory=dict[str, int])
    cues: dict[str, int] = field(default_factory=dict[str, int])

    def put(self, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
        """Insert rows of this user."""
        whole = [{"user_id": self.user_id, **row} for row in rows]
        if whole:
            self.connection.execute(insert(table), whole)

    def span(self, no: int, span: Span) -> dict[str, int]:
        """The columns of a span, its owner's ``no``-th. Raises StoreConflict when its turn is gone."""
        return {"no": no, "seq": self.seq(span.turn_id), "start": span.start, "stop": span.end}

    def seq(self, turn_id: str) -> int:
        """The number of a turn. Raises StoreConflict when it is gone."""
        try:
            return self.seqs[turn_id]
        except KeyError:
            raise StoreConflict(f"turn {turn_id!r} of user {self.user_id!r} is gone; plan the write again") from None
