"""Storing vectors, with a batch or late."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Table, and_, bindparam, delete, func, select, update

from mnemic.errors import InvalidInput
from mnemic.store import embedders
from mnemic.store.bulk import insert_rows
from mnemic.store.encodings import pack
from mnemic.store.ids import number_of, numbers_of, pieces
from mnemic.store.read import numbers_of_cues, numbers_of_turns, rows_with
from mnemic.store.tables import (
    cue_vectors,
    cues,
    note_vectors,
    notes,
    tasks,
    trace_vectors,
    traces,
    turns,
    unit_vectors,
    units,
)

if TYPE_CHECKING:
    from mnemic.protocols import Floats


def _nothing() -> dict[Any, Floats]:
    return {}


@dataclass(frozen=True, slots=True)
class Numbered:
    """Vectors by the numbers of their owners: ``seq``, trace, cue, and (note, version)."""

    units: Mapping[int, Floats] = field(default_factory=_nothing)
    traces: Mapping[int, Floats] = field(default_factory=_nothing)
    cues: Mapping[int, Floats] = field(default_factory=_nothing)
    notes: Mapping[tuple[int, int], Floats] = field(default_factory=_nothing)


def save(connection: Connection, user_id: str, fingerprint: str, given: Numbered, *, old: Numbered) -> None:
    """Store vectors; those of ``old`` owners may take the place of older ones by the same embedder.

    Raises:
        InvalidInput: A vector has another length than the embedder's, or a turn another number of vectors than units.
    """
    dim = _common_dim(given)
    if dim is None:
        return
    embedder = embedders.number_of(connection, fingerprint, dim)
    _check_counts(connection, user_id, given.units)
    for (table, key, vectors), (_, _, older) in zip(_by_table(given), _by_table(old), strict=True):
        this = and_(
            table.c.user_id == user_id,
            table.c.embedder == embedder,
            *(table.c[name] == bindparam(f"the_{name}") for name in key),
        )
        if older:
            places = [{f"the_{name}": number for name, number in zip(key, its, strict=True)} for its in older]
            connection.execute(delete(table).where(this), places)
        if vectors:
            constant = {"user_id": user_id, "embedder": embedder}
            rows = [
                {**constant, "data": pack(vector), **dict(zip(key, its, strict=True))}
                for its, vector in vectors.items()
            ]
            insert_rows(connection, table, rows)


def _by_table(given: Numbered) -> list[tuple[Table, tuple[str, ...], dict[tuple[int, ...], Floats]]]:
    """For each table of vectors: its key columns, and vectors by their values."""
    of_units = {(seq, no): vector for seq, matrix in given.units.items() for no, vector in enumerate(matrix)}
    return [
        (unit_vectors, ("seq", "no"), of_units),
        (trace_vectors, ("trace",), {(trace,): vector for trace, vector in given.traces.items()}),
        (cue_vectors, ("cue",), {(cue,): vector for cue, vector in given.cues.items()}),
        (note_vectors, ("note", "version"), dict(given.notes.items())),
    ]


def numbered(
    connection: Connection,
    user_id: str,
    units: Mapping[str, Floats],
    traces: Mapping[str, Floats],
    cues: Mapping[str, Floats],
    notes: Mapping[str, Floats],
) -> Numbered:
    """Vectors by public ids (a note's belongs to its last version), without those whose owner is gone."""
    seqs = numbers_of_turns(connection, user_id, units)
    known_traces = _known_traces(connection, user_id, traces)
    known_cues = numbers_of_cues(connection, user_id, cues)
    versions = _last_versions(connection, user_id, notes)
    return Numbered(
        units={seqs[turn_id]: matrix for turn_id, matrix in units.items() if turn_id in seqs},
        traces={known_traces[trace_id]: vector for trace_id, vector in traces.items() if trace_id in known_traces},
        cues={known_cues[key]: vector for key, vector in cues.items() if key in known_cues},
        notes={versions[note_id]: vector for note_id, vector in notes.items() if note_id in versions},
    )


def touch(connection: Connection, user_id: str, revision: int, owners: Numbered) -> None:
    """Let the rows that got vectors come again in ``load``."""
    for table, column, numbers in (
        (turns, "seq", owners.units),
        (traces, "trace", owners.traces),
        (cues, "cue", owners.cues),
    ):
        bump(connection, user_id, revision, table, (column,), [(number,) for number in numbers])
    bump(connection, user_id, revision, notes, ("note", "version"), owners.notes)


def bump(
    connection: Connection,
    user_id: str,
    revision: int,
    table: Table,
    key: tuple[str, ...],
    numbers: Iterable[tuple[int, ...]],
) -> None:
    """Give rows a new revision."""
    rows = [{f"the_{name}": number for name, number in zip(key, its, strict=True)} for its in numbers]
    if rows:
        mine = and_(table.c.user_id == user_id, *(table.c[name] == bindparam(f"the_{name}") for name in key))
        connection.execute(update(table).where(mine).values(revision=revision), rows)


def finish(connection: Connection, user_id: str, target_ids: Iterable[str]) -> None:
    """Delete the tasks of these targets."""
    for piece in pieces(target_ids):
        connection.execute(delete(tasks).where(tasks.c.user_id == user_id, tasks.c.target_id.in_(piece)))


def _common_dim(given: Numbered) -> int | None:
    """Length of all the vectors; None where there are none."""
    sources = (given.units, given.traces, given.cues, given.notes)
    dims = {int(vector.shape[-1]) for vectors in sources for vector in vectors.values()}
    if len(dims) > 1:
        raise InvalidInput(f"vectors of different lengths came together: {sorted(dims)}")
    return next(iter(dims), None)


def _check_counts(connection: Connection, user_id: str, matrices: Mapping[int, Floats]) -> None:
    query = select(units.c.seq, func.count()).where(units.c.user_id == user_id).group_by(units.c.seq)
    counts = {seq: count for seq, count in rows_with(connection, query, units.c.seq, matrices)}
    for seq, matrix in matrices.items():
        if len(matrix) != counts.get(seq, 0):
            raise InvalidInput(f"turn {seq} has {counts.get(seq, 0)} units, but {len(matrix)} vectors came for it")


def _known_traces(connection: Connection, user_id: str, trace_ids: Iterable[str]) -> dict[str, int]:
    query = select(traces.c.trace).where(traces.c.user_id == user_id)
    known = {row.trace for row in rows_with(connection, query, traces.c.trace, numbers_of("T", trace_ids))}
    numbers = {trace_id: number_of("T", trace_id) for trace_id in trace_ids}
    return {trace_id: number for trace_id, number in numbers.items() if number is not None and number in known}


def _last_versions(connection: Connection, user_id: str, note_ids: Iterable[str]) -> dict[str, tuple[int, int]]:
    """note_id -> (note, version) of the last version."""
    last = select(notes.c.note, func.max(notes.c.version)).where(notes.c.user_id == user_id).group_by(notes.c.note)
    found = {note: version for note, version in rows_with(connection, last, notes.c.note, numbers_of("N", note_ids))}
    numbers = {note_id: number_of("N", note_id) for note_id in note_ids}
    return {note_id: (note, found[note]) for note_id, note in numbers.items() if note is not None and note in found}
