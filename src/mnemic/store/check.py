"""What can be wrong among rows although every row by itself is sound."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, Table, func, select

from mnemic.store.shared_tables import embedders
from mnemic.store.tables import (
    cue_vectors,
    cues,
    note_cues,
    note_vectors,
    trace_spans,
    trace_vectors,
    traces,
    unit_cues,
    unit_vectors,
)

_BYTES = 2  # of a float16


def inconsistencies(connection: Connection) -> list[str]:
    """Problems in words; empty when sound."""
    found: list[str] = []
    if lonely := _count(connection, cues, ~_mentioned(unit_cues), ~_mentioned(note_cues)):
        found.append(f"{lonely} cues are mentioned nowhere")
    has_span = select(trace_spans.c.trace).where(
        trace_spans.c.user_id == traces.c.user_id, trace_spans.c.trace == traces.c.trace
    )
    if empty := _count(connection, traces, ~has_span.exists()):
        found.append(f"{empty} traces hold no words")
    for table in (unit_vectors, trace_vectors, cue_vectors, note_vectors):
        if odd := _count(connection, table, func.length(table.c.data) != _expected_bytes(table)):
            found.append(f"{odd} rows of {table.name} have the wrong size; run: mnemic reembed")
    return found


def _count(connection: Connection, table: Table, *conditions: ColumnElement[bool]) -> int:
    return int(connection.execute(select(func.count()).select_from(table).where(*conditions)).scalar_one())


def _mentioned(by: Table) -> ColumnElement[bool]:
    return select(by.c.cue).where(by.c.user_id == cues.c.user_id, by.c.cue == cues.c.cue).exists()


def _expected_bytes(table: Table) -> ColumnElement[int]:
    dim = select(embedders.c.dim).where(embedders.c.embedder == table.c.embedder).scalar_subquery()
    return dim * _BYTES
