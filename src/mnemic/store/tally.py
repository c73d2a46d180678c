"""Counting what an erasure takes away: all rows of a user before, less those after, by kind."""

from __future__ import annotations

from dataclasses import fields

from sqlalchemy import Connection, Table, func, select

from mnemic.store.tables import (
    cue_vectors,
    cues,
    episodes,
    note_vectors,
    notes,
    operations,
    requests,
    tasks,
    trace_vectors,
    traces,
    turns,
    unit_vectors,
    units,
    work,
)
from mnemic.types import Erased

_KINDS: dict[str, tuple[Table, ...]] = {
    "turns": (turns,),
    "units": (units,),
    "traces": (traces,),
    "cues": (cues,),
    "notes": (notes,),
    "episodes": (episodes,),
    "operations": (operations,),
    "vectors": (unit_vectors, trace_vectors, cue_vectors, note_vectors),
    "tasks": (tasks, work),
    "requests": (requests,),
}


class Tally:
    """What a user has at a moment of a transaction in which rows are only taken away until ``gone`` is asked."""

    def __init__(self, connection: Connection, user_id: str) -> None:
        self._connection = connection
        self._user_id = user_id
        self._before = self._counted()

    def gone(self) -> Erased:
        """What is there no more."""
        now = self._counted()
        return Erased(**{kind: count - now[kind] for kind, count in self._before.items()})

    def _counted(self) -> dict[str, int]:
        counts = {
            table.name: select(func.count()).select_from(table).where(table.c.user_id == self._user_id)
            for tables in _KINDS.values()
            for table in tables
        }
        row = self._connection.execute(select(*(count.scalar_subquery() for count in counts.values()))).one()
        found = dict(zip(counts, row, strict=True))
        return {kind: sum(found[table.name] for table in tables) for kind, tables in _KINDS.items()}


def together(one: Erased, other: Erased) -> Erased:
    """The sum of two."""
    return Erased(**{field.name: getattr(one, field.name) + getattr(other, field.name) for field in fields(Erased)})
