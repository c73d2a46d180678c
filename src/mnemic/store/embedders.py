"""Whose vectors the database holds, and what still lacks them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update

from mnemic.errors import InvalidInput
from mnemic.protocols import EmbedderRecord, Unembedded
from mnemic.store.database import alone
from mnemic.store.ids import public_id
from mnemic.store.shared_tables import embedders
from mnemic.store.tables import (
    cue_vectors,
    cues,
    note_vectors,
    notes,
    trace_vectors,
    traces,
    turns,
    unit_vectors,
    units,
    users,
)
from mnemic.types import Thresholds

if TYPE_CHECKING:
    from mnemic.store.read import AnySelect

    Missing = tuple[AnySelect, ColumnElement[int]]

Reached = tuple[int, ...]
Value = TypeVar("Value")

VECTOR_TABLES = (unit_vectors, trace_vectors, cue_vectors, note_vectors)


class Look(Protocol):
    """``Database.look``."""

    def __call__(self, do: Callable[[Connection], Value], /) -> Value:
        """Read in one snapshot."""
        ...


@dataclass(frozen=True, slots=True)
class Active:
    """The embedder whose vectors ``load`` gives."""

    number: int
    fingerprint: str
    dim: int


def active(connection: Connection) -> Active | None:
    """The active embedder, if any."""
    columns = (embedders.c.embedder, embedders.c.fingerprint, embedders.c.dim)
    row = connection.execute(select(*columns).where(embedders.c.active)).one_or_none()
    return Active(*row) if row else None


def record(connection: Connection) -> EmbedderRecord | None:
    """What ``use`` was given."""
    row = connection.execute(select(embedders).where(embedders.c.active)).one_or_none()
    if row is None:
        return None
    thresholds = cast("dict[str, float]", row.thresholds)
    return EmbedderRecord(row.fingerprint, row.name, row.dim, Thresholds(**thresholds))


def number_of(connection: Connection, fingerprint: str, dim: int) -> int:
    """The embedder's number; an unknown one gets one, inactive until ``use``.

    Raises:
        InvalidInput: It is known with vectors of another length.
    """
    query = select(embedders.c.embedder, embedders.c.dim).where(embedders.c.fingerprint == fingerprint)
    known = connection.execute(query).one_or_none()
    if known is not None:
        if known.dim != dim:
            raise InvalidInput(f"the embedder {fingerprint} has vectors of length {known.dim}, not {dim}")
        return int(known.embedder)
    alone(connection, embedders)
    # Again: until now another user's first vectors may have made it known.
    known = connection.execute(query).one_or_none()
    if known is not None:
        return number_of(connection, fingerprint, dim)
    number = int(connection.execute(select(func.coalesce(func.max(embedders.c.embedder), 0))).scalar_one()) + 1
    row = {"embedder": number, "fingerprint": fingerprint, "dim": dim, "active": False}
    connection.execute(insert(embedders), row)
    return number


def use(connection: Connection, chosen: EmbedderRecord) -> bool:
    """Make an embedder the active one and erase the vectors of all others; whether anything was erased."""
    former = record(connection)
    number = number_of(connection, chosen.fingerprint, chosen.dim)
    values = {"name": chosen.name, "dim": chosen.dim, "thresholds": asdict(chosen.thresholds), "active": True}
    erased = sum(
        connection.execute(delete(table).where(table.c.embedder != number)).rowcount for table in VECTOR_TABLES
    )
    connection.execute(delete(embedders).where(embedders.c.embedder != number))
    connection.execute(update(embedders).where(embedders.c.embedder == number), values)
    if former is None or (former.fingerprint, former.thresholds) != (chosen.fingerprint, chosen.thresholds):
        connection.execute(update(users).values(revision=users.c.revision + 1, base=users.c.revision + 1))
    return erased > 0


def unembedded(
    look: Look,
    fingerprint: str,
    *,
    user_id: str | None,
    limit: int,
) -> Iterator[Unembedded]:
    """What lacks vectors of an embedder, in pieces of at most ``limit`` ids, each from a new snapshot.

    Nothing is given twice, so that a run ends even where its vectors were not stored.
    """
    user = user_id
    if user_id is None:
        user = look(lambda connection: _next_user(connection, None))
    while user is not None:
        yield from _of_user(look, fingerprint, user, max(1, limit))
        if user_id is not None:
            return
        user = _user_after(look, user)


def _of_user(look: Look, fingerprint: str, user_id: str, limit: int) -> Iterator[Unembedded]:
    reached = _START
    while True:
        start = reached
        piece, reached = look(
            lambda connection, start=start: _piece(connection, user_id, _number(connection, fingerprint), start, limit)
        )
        if piece is None:
            return
        yield piece


def _user_after(look: Look, user_id: str) -> str | None:
    return look(lambda connection: _next_user(connection, user_id))


def is_complete(connection: Connection, user_id: str, fingerprint: str) -> bool:
    """Whether nothing of a user lacks a vector of an embedder."""
    return _piece(connection, user_id, _number(connection, fingerprint), _START, 1)[0] is None


def _piece(
    connection: Connection, user_id: str, embedder: int | None, start: Reached, limit: int
) -> tuple[Unembedded | None, Reached]:
    """The next ids, and the last number of each kind."""
    ids: list[tuple[str, ...]] = []
    reached = list(start)
    for kind, missing in enumerate(_MISSING):
        query, number = missing(user_id, -1 if embedder is None else embedder)
        rows = connection.execute(query.where(number > reached[kind]).order_by(number).limit(limit)).all()
        limit -= len(rows)
        if rows:
            reached[kind] = rows[-1][0]
        ids.append(tuple(str(row[1]) for row in rows))
    if not any(ids):
        return None, start
    turn_ids, trace_numbers, cue_keys, note_numbers = ids
    piece = Unembedded(
        user_id=user_id,
        turn_ids=turn_ids,
        trace_ids=tuple(public_id("T", int(number)) for number in trace_numbers),
        cue_keys=cue_keys,
        note_ids=tuple(public_id("N", int(number)) for number in note_numbers),
    )
    return piece, tuple(reached)


def _missing_turns(user_id: str, embedder: int) -> Missing:
    """Turns with units but without their vectors, which come together."""
    mine = (unit_vectors.c.user_id == turns.c.user_id) & (unit_vectors.c.seq == turns.c.seq)
    has = select(unit_vectors.c.seq).where(mine, unit_vectors.c.no == 0, unit_vectors.c.embedder == embedder).exists()
    speaks = select(units.c.seq).where(units.c.user_id == turns.c.user_id, units.c.seq == turns.c.seq).exists()
    return select(turns.c.seq, turns.c.turn_id).where(turns.c.user_id == user_id, speaks, ~has), turns.c.seq


def _missing_traces(user_id: str, embedder: int) -> Missing:
    mine = (trace_vectors.c.user_id == traces.c.user_id) & (trace_vectors.c.trace == traces.c.trace)
    has = select(trace_vectors.c.trace).where(mine, trace_vectors.c.embedder == embedder).exists()
    return select(traces.c.trace, traces.c.trace).where(traces.c.user_id == user_id, ~has), traces.c.trace


def _missing_cues(user_id: str, embedder: int) -> Missing:
    mine = (cue_vectors.c.user_id == cues.c.user_id) & (cue_vectors.c.cue == cues.c.cue)
    has = select(cue_vectors.c.cue).where(mine, cue_vectors.c.embedder == embedder).exists()
    return select(cues.c.cue, cues.c.key).where(cues.c.user_id == user_id, ~has), cues.c.cue


def _missing_notes(user_id: str, embedder: int) -> Missing:
    """Notes whose last version has no vector."""
    later = notes.alias()
    is_last = ~(
        select(later.c.note)
        .where(later.c.user_id == notes.c.user_id, later.c.note == notes.c.note, later.c.version > notes.c.version)
        .exists()
    )
    mine = (
        (note_vectors.c.user_id == notes.c.user_id)
        & (note_vectors.c.note == notes.c.note)
        & (note_vectors.c.version == notes.c.version)
    )
    has = select(note_vectors.c.note).where(mine, note_vectors.c.embedder == embedder).exists()
    return select(notes.c.note, notes.c.note).where(notes.c.user_id == user_id, is_last, ~has), notes.c.note


_MISSING: Sequence[Callable[[str, int], Missing]] = (_missing_turns, _missing_traces, _missing_cues, _missing_notes)


_START: Reached = (-1,) * len(_MISSING)


def _number(connection: Connection, fingerprint: str) -> int | None:
    query = select(embedders.c.embedder).where(embedders.c.fingerprint == fingerprint)
    return connection.execute(query).scalar_one_or_none()


def _next_user(connection: Connection, after: str | None) -> str | None:
    query = select(users.c.user_id).order_by(users.c.user_id).limit(1)
    if after is not None:
        query = query.where(users.c.user_id > after)
    return connection.execute(query).scalar_one_or_none()
