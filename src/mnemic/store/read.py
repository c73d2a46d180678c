"""Reading turns, units and traces. Every function runs inside a transaction of the caller's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import ColumnElement, Connection, Row, Select, Table, bindparam, case, func, select

from mnemic.store.encodings import maybe_moment, moment
from mnemic.store.ids import numbers_of, pieces, public_id
from mnemic.store.shared_tables import embedders
from mnemic.store.tables import (
    cue_vectors,
    cues,
    episodes,
    notes,
    request_turns,
    requests,
    tasks,
    trace_spans,
    traces,
    turns,
    unit_cues,
    units,
)
from mnemic.types import Part, Span, Trace, Turn, Unit

if TYPE_CHECKING:
    AnyRow = Row[*tuple[Any, ...]]
    AnySelect = Select[*tuple[Any, ...]]

TURN_COLUMNS = tuple(turns.c[name] for name in turns.c.keys() if name not in ("user_id", "revision"))  # noqa: SIM118 - a column collection is no dict
TRACE_COLUMNS = (traces.c.trace, traces.c.ordinal, traces.c.session_id, traces.c.tokens)


def turn_of(row: AnyRow) -> Turn:
    """A turn from its ``TURN_COLUMNS``."""
    parts = cast("list[Any]", row.parts or [])
    return Turn(
        turn_id=row.turn_id,
        session_id=row.session_id,
        role=row.role,
        speaker=row.speaker,
        text=row.text,
        timestamp=maybe_moment(row.timestamp, row.utc_offset),
        parts=tuple(Part(*part) for part in parts),
        given=row.given,
        agent_id=row.agent_id,
        metadata=row.metadata or {},
        seq=row.seq,
        recorded_at=moment(row.recorded_at),
        tier=row.tier,
        quarantine=row.quarantine,
    )


def find_turns(
    connection: Connection,
    user_id: str,
    *,
    turn_ids: Sequence[str] | None,
    session_id: str | None,
    agent_id: str | None,
    speaker: str | None,
    after_seq: int,
    limit: int | None,
) -> list[Turn]:
    """Turns that meet all criteria, by ``seq``."""
    if turn_ids is not None:
        named = _named_turns(connection, user_id, turn_ids, session_id, agent_id, after_seq)
        return [turn for turn in named if speaker in (None, turn.speaker)][:limit]
    query = select(*TURN_COLUMNS).where(turns.c.user_id == user_id)
    if after_seq >= 0:
        query = query.where(turns.c.seq > after_seq)
    if session_id is not None:
        query = query.where(turns.c.session_id == session_id)
    if agent_id is not None:
        query = query.where(turns.c.agent_id == agent_id)
    if speaker is not None:
        query = query.where(turns.c.speaker == speaker)
    return [turn_of(row) for row in connection.execute(query.order_by(turns.c.seq).limit(limit))]


def in_quarantine(connection: Connection, user_id: str) -> list[Turn]:
    """Turns that are held."""
    query = select(*TURN_COLUMNS).where(turns.c.user_id == user_id, turns.c.quarantine == "held")
    return [turn_of(row) for row in connection.execute(query.order_by(turns.c.seq))]


def _named_turns(
    connection: Connection,
    user_id: str,
    turn_ids: Sequence[str],
    session_id: str | None,
    agent_id: str | None,
    after_seq: int,
) -> list[Turn]:
    """Those of these ids, by ``seq``. Every search reads its hits here: the statement is made once."""
    found = [
        turn_of(row)
        for piece in pieces(turn_ids)
        for row in connection.execute(_turns_by_name(), {"user": user_id, "names": piece})
        if row.seq > after_seq and session_id in (None, row.session_id) and agent_id in (None, row.agent_id)
    ]
    return sorted(found, key=lambda turn: turn.seq)


@cache
def _turns_by_name() -> AnySelect:
    wanted = (turns.c.user_id == bindparam("user"), turns.c.turn_id.in_(bindparam("names", expanding=True)))
    return by_name(select(*TURN_COLUMNS).where(*wanted), turns)


def rows_with(
    connection: Connection, query: AnySelect, column: ColumnElement[Any], values: Iterable[Any]
) -> list[AnyRow]:
    """The query's rows whose column is one of any number of values; ordered only within pieces."""
    return [row for piece in pieces(values) for row in connection.execute(query.where(column.in_(piece)))]


def by_name(query: AnySelect, table: Table) -> AnySelect:
    """The query, looking turns up by ``turn_id``, cues by ``key`` or notes by ``given_id``.

    SQLite, which keeps no statistics here, takes the rows of a user to be ten: for a longer list of names it would
    read all of them.
    """
    return query.with_hint(table, f"INDEXED BY sqlite_autoindex_{table.name}_2", "sqlite")


def numbers_of_turns(connection: Connection, user_id: str, turn_ids: Iterable[str]) -> dict[str, int]:
    """turn_id -> ``seq`` of those that exist."""
    query = by_name(select(turns.c.turn_id, turns.c.seq).where(turns.c.user_id == user_id), turns)
    return {row.turn_id: row.seq for row in rows_with(connection, query, turns.c.turn_id, turn_ids)}


def numbers_of_cues(connection: Connection, user_id: str, keys: Iterable[str]) -> dict[str, int]:
    """Cue key -> number of those that exist."""
    query = by_name(select(cues.c.key, cues.c.cue).where(cues.c.user_id == user_id), cues)
    return {row.key: row.cue for row in rows_with(connection, query, cues.c.key, keys)}


def cues_with_vectors(connection: Connection, user_id: str, keys: Iterable[str]) -> set[str]:
    """Which of these keys have a vector of the active embedder."""
    active = select(embedders.c.embedder).where(embedders.c.active).scalar_subquery()
    mine = (cue_vectors.c.user_id == cues.c.user_id, cue_vectors.c.cue == cues.c.cue)
    # Not a join, which SQLite begins with all of the user's vectors.
    has = select(cue_vectors.c.cue).where(*mine, cue_vectors.c.embedder == active).exists()
    query = by_name(select(cues.c.key).where(cues.c.user_id == user_id, has), cues)
    return {row.key for row in rows_with(connection, query, cues.c.key, keys)}


def speakers(connection: Connection, user_id: str) -> list[str]:
    """The speakers' names, each once, sorted by bytes."""
    return list(connection.execute(_SPEAKERS, {"user": user_id}).scalars())


def _speakers() -> AnySelect:
    """One look into the index for each name, not one for each turn: the smallest name, then the next larger one."""
    # Not min(), which PostgreSQL has none of for bytes.
    smallest = select(turns.c.speaker).where(turns.c.user_id == bindparam("user")).order_by(turns.c.speaker).limit(1)
    name = select(smallest.scalar_subquery().label("name")).cte("names", recursive=True)
    larger = smallest.where(turns.c.speaker > name.c.name).scalar_subquery()
    name = name.union_all(select(larger).where(name.c.name.is_not(None)))
    return select(name.c.name).where(name.c.name.is_not(None)).order_by(name.c.name)


_SPEAKERS = _speakers()


def tail(connection: Connection, user_id: str, session_id: str) -> Turn | None:
    """The last turn of a session."""
    of_session = (turns.c.user_id == user_id, turns.c.session_id == session_id)
    query = select(*TURN_COLUMNS).where(*of_session).order_by(turns.c.seq.desc()).limit(1)
    row = connection.execute(query).one_or_none()
    return turn_of(row) if row else None


def find_units(connection: Connection, user_id: str, turn_ids: Sequence[str]) -> list[Unit]:
    """The units of these turns, by turn and position."""
    names = {seq: turn_id for turn_id, seq in numbers_of_turns(connection, user_id, turn_ids).items()}
    places = select(units.c.seq, units.c.no, units.c.start, units.c.stop).where(units.c.user_id == user_id)
    mentions = (
        select(unit_cues.c.seq, unit_cues.c.no, cues.c.key, unit_cues.c.mentions)
        .join(cues, (cues.c.user_id == unit_cues.c.user_id) & (cues.c.cue == unit_cues.c.cue))
        .where(unit_cues.c.user_id == user_id)
        .order_by(unit_cues.c.cue)
    )
    seqs = sorted(names)
    found = units_of(
        names,
        sorted(tuple(row) for row in rows_with(connection, places, units.c.seq, seqs)),
        rows_with(connection, mentions, unit_cues.c.seq, seqs),
    )
    return [unit for seq in seqs for unit in found.get(seq, ())]


def units_of(
    names: Mapping[int, str], places: Iterable[Sequence[Any]], mentions: Iterable[Sequence[Any]]
) -> dict[int, tuple[Unit, ...]]:
    """``seq`` -> the units of that turn.

    Args:
        names: ``seq`` -> turn_id.
        places: (seq, no, start, stop), in order.
        mentions: (seq, no, cue key, count).
    """
    cues_of: dict[tuple[int, int], dict[str, int]] = defaultdict(dict)
    for seq, no, key, count in mentions:
        cues_of[seq, no][key] = count
    found: dict[int, list[Unit]] = defaultdict(list)
    for seq, no, start, stop in places:
        found[seq].append(Unit(names[seq], start, stop, cues_of.get((seq, no), {})))
    return {seq: tuple(its_units) for seq, its_units in found.items()}


def find_traces(
    connection: Connection, user_id: str, *, trace_ids: Sequence[str] | None, turn_ids: Sequence[str] | None
) -> list[Trace]:
    """Traces by id, or that hold any of the turns (with both: that meet both); all when neither is given."""
    query = select(*TRACE_COLUMNS).where(traces.c.user_id == user_id)
    numbers = None if trace_ids is None else set(numbers_of("T", trace_ids))
    if turn_ids is not None:
        seqs = numbers_of_turns(connection, user_id, turn_ids).values()
        holding = select(trace_spans.c.trace).where(trace_spans.c.user_id == user_id)
        held = {row.trace for row in rows_with(connection, holding, trace_spans.c.seq, seqs)}
        numbers = held if numbers is None else numbers & held
    if numbers is None:
        return whole_traces(connection, user_id, connection.execute(query))
    return whole_traces(connection, user_id, rows_with(connection, query, traces.c.trace, numbers))


def whole_traces(connection: Connection, user_id: str, rows: Iterable[AnyRow]) -> list[Trace]:
    """Traces with their spans, by ordinal, from their ``TRACE_COLUMNS``."""
    rows = sorted(rows, key=lambda row: (row.ordinal, row.trace))
    query = (
        select(trace_spans.c.trace, turns.c.turn_id, trace_spans.c.start, trace_spans.c.stop)
        .join(turns, (turns.c.user_id == trace_spans.c.user_id) & (turns.c.seq == trace_spans.c.seq))
        .where(trace_spans.c.user_id == user_id)
        .order_by(trace_spans.c.trace, trace_spans.c.no)
    )
    spans: dict[int, list[Span]] = defaultdict(list)
    for trace, turn_id, start, stop in rows_with(connection, query, trace_spans.c.trace, (row.trace for row in rows)):
        spans[trace].append(Span(turn_id, start, stop))
    return [
        Trace(public_id("T", row.trace), row.ordinal, row.session_id, tuple(spans[row.trace]), row.tokens)
        for row in rows
    ]


def request(connection: Connection, user_id: str, key: str) -> tuple[str, ...] | None:
    """The turn ids recorded under an idempotency key."""
    known = select(requests.c.request).where(requests.c.user_id == user_id, requests.c.key == key)
    number = connection.execute(known).scalar_one_or_none()
    if number is None:
        return None
    query = (
        select(turns.c.turn_id)
        .join(request_turns, (request_turns.c.user_id == turns.c.user_id) & (request_turns.c.seq == turns.c.seq))
        .where(request_turns.c.user_id == user_id, request_turns.c.request == number)
        .order_by(request_turns.c.no)
    )
    return tuple(connection.execute(query).scalars())


def pending(connection: Connection, user_id: str | None) -> int:
    """How many tasks wait, of a user or of all."""
    query = select(func.count()).select_from(tasks)
    if user_id is not None:
        query = query.where(tasks.c.user_id == user_id)
    return int(connection.execute(query).scalar_one())


def sizes(connection: Connection, user_id: str) -> dict[str, int]:
    """The fields of ``Counts``, but for the revision."""

    def count(table: Table, what: ColumnElement[int] | None = None) -> int:
        counted = func.count() if what is None else what
        query = select(counted).select_from(table).where(table.c.user_id == user_id)
        return int(connection.execute(query).scalar_one() or 0)

    return {
        "turns": count(turns),
        "sessions": count(turns, func.count(turns.c.session_id.distinct())),
        "traces": count(traces),
        "units": count(units),
        "cues": count(cues),
        "notes": count(notes, func.count(notes.c.note.distinct())),
        "unsupported": count(notes, func.sum(case((notes.c.status == "unsupported", 1), else_=0))),
        "episodes": count(episodes),
        "pending": pending(connection, user_id),
    }
