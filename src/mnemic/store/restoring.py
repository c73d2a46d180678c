"""Writing an export back, under the numbers that everything had."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import Column, Connection, PrimaryKeyConstraint, Table, delete, insert, select

from mnemic.errors import StoreConflict
from mnemic.protocols import Batch, Numbers, Recovered
from mnemic.store import users, work
from mnemic.store.add import add_cues, find_old_turns
from mnemic.store.adding import Adding
from mnemic.store.columns import owner, slim, user
from mnemic.store.encodings import ExactText, interval_columns, micros
from mnemic.store.ids import number_of, numbers_of, public_id
from mnemic.store.note_versions import confirm
from mnemic.store.read import rows_with
from mnemic.store.tables import (
    episode_turns,
    episodes,
    given_notes,
    note_confirmations,
    note_cues,
    note_sources,
    notes,
    operation_details,
    operations,
    proposals,
    tasks,
    trace_spans,
    traces,
    turns,
)
from mnemic.store.tables import work as work_table
from mnemic.types import Note

if TYPE_CHECKING:
    from mnemic.types import WorkKind, WorkState

restoring = slim(
    "restoring", user(), Column("export", ExactText, nullable=False), PrimaryKeyConstraint("user_id"), owner("users")
)


def under_way(connection: Connection, user_id: str) -> str | None:
    """The export that is being restored."""
    query = select(restoring.c.export).where(restoring.c.user_id == user_id)
    return connection.execute(query).scalar_one_or_none()


def begin(connection: Connection, user_id: str, export: str) -> None:
    """Remember it. Raises StoreConflict where the user has other words."""
    known = under_way(connection, user_id)
    if known == export:
        return
    has_words = connection.execute(select(turns.c.seq).where(turns.c.user_id == user_id).limit(1)).first()
    if known is not None or has_words is not None:
        raise StoreConflict(f"user {user_id!r} has a memory already")
    users.save(connection, user_id, users.begin(connection, user_id))
    connection.execute(insert(restoring), {"user_id": user_id, "export": export})


def finish(connection: Connection, user_id: str, numbers: Numbers) -> None:
    """It is done."""
    connection.execute(delete(restoring).where(restoring.c.user_id == user_id))
    counters = users.begin(connection, user_id)
    counters.next_trace = max(counters.next_trace, numbers.trace)
    counters.next_note = max(counters.next_note, numbers.note)
    counters.next_operation = max(counters.next_operation, numbers.operation)
    users.save(connection, user_id, counters)


def numbers(connection: Connection, user_id: str) -> Numbers:
    """Where the counters stand."""
    found = users.counters(connection, user_id) or users.Counters()
    return Numbers(found.next_trace, found.next_note, found.next_operation)


def confirmations(connection: Connection, user_id: str) -> dict[tuple[str, int], tuple[str, ...]]:
    """The turns that say again what versions of notes say."""
    query = (
        select(note_confirmations.c.note, note_confirmations.c.version, turns.c.turn_id)
        .join(turns, (turns.c.user_id == note_confirmations.c.user_id) & (turns.c.seq == note_confirmations.c.seq))
        .where(note_confirmations.c.user_id == user_id)
        .order_by(note_confirmations.c.note, note_confirmations.c.version, note_confirmations.c.seq)
    )
    found: dict[tuple[str, int], tuple[str, ...]] = defaultdict(tuple)
    for note, version, turn_id in connection.execute(query):
        found[public_id("N", note), version] += (turn_id,)
    return dict(found)


def work_on(connection: Connection, user_id: str, trace_ids: Sequence[str]) -> dict[str, dict[WorkKind, WorkState]]:
    """How far models are with some traces."""
    query = select(work_table.c.trace, work_table.c.kind, work_table.c.state).where(work_table.c.user_id == user_id)
    found: dict[str, dict[WorkKind, WorkState]] = {}
    for trace, kind, state in rows_with(connection, query, work_table.c.trace, numbers_of("T", trace_ids)):
        found.setdefault(public_id("T", trace), {})[kind] = state
    return found


def put_back(connection: Connection, user_id: str, piece: Recovered, *, now: datetime) -> None:
    """Write what is not there yet."""
    counters = users.begin(connection, user_id)
    adding = Adding(connection, user_id, counters, micros(now))
    named = Batch(traces=piece.traces, notes=piece.notes, episodes=piece.episodes, surfaces=piece.surfaces)
    find_old_turns(adding, Batch(traces=piece.traces, notes=piece.notes, episodes=piece.episodes))
    add_cues(adding, named)
    _traces(adding, piece)
    _notes(adding, piece)
    confirmed = {turn_id for turn_ids in piece.confirmations.values() for turn_id in turn_ids}
    find_confirming = Batch(request_turns=tuple(confirmed - adding.seqs.keys()))
    known = dict(adding.seqs)
    find_old_turns(adding, find_confirming)
    adding.seqs |= known
    confirm(adding, piece.confirmations)
    _operations(adding, piece)
    _episodes(adding, piece)
    users.save(connection, user_id, counters)


def _new(adding: Adding, table: Table, column: str, wanted: Sequence[int]) -> set[int]:
    """Which of these numbers are not there yet."""
    query = select(table.c[column]).where(table.c.user_id == adding.user_id)
    known = {row[0] for row in rows_with(adding.connection, query, table.c[column], wanted)}
    return set(wanted) - known


def _traces(adding: Adding, piece: Recovered) -> None:
    numbered = {number_of("T", trace.trace_id) or 0: trace for trace in piece.traces}
    new = _new(adding, traces, "trace", list(numbered))
    counters = adding.counters
    rows: list[dict[str, Any]] = []
    spans: list[dict[str, int]] = []
    for number in sorted(new):
        trace = numbered[number]
        counters.next_trace = max(counters.next_trace, number + 1)
        counters.next_ordinal = max(counters.next_ordinal, trace.ordinal + 1)
        row = {"trace": number, "ordinal": trace.ordinal, "session_id": trace.session_id, "tokens": trace.tokens}
        rows.append({**row, "revision": counters.revision})
        spans += [{"trace": number, **adding.span(no, span)} for no, span in enumerate(trace.spans)]
    adding.put(traces, rows)
    adding.put(trace_spans, spans)
    _owe(adding, [numbered[number].trace_id for number in sorted(new)])
    for number in sorted(new):
        for kind, state in piece.work.get(numbered[number].trace_id, {}).items():
            state = state if state in ("done", "failed") else "pending"
            work.put(adding.connection, adding.user_id, [number], [kind], due=adding.now, state=state)


def _notes(adding: Adding, piece: Recovered) -> None:
    numbered = {(number_of("N", note.note_id) or 0, note.version): note for note in piece.notes}
    query = select(notes.c.note, notes.c.version).where(notes.c.user_id == adding.user_id)
    wanted = [number for number, _ in numbered]
    known = {tuple(row) for row in rows_with(adding.connection, query, notes.c.note, wanted)}
    new = {place: note for place, note in sorted(numbered.items()) if place not in known}
    if not new:
        return
    adding.counters.next_note = max(adding.counters.next_note, max(number for number, _ in new) + 1)
    keys = [{"note": number, "version": version} for number, version in new]
    placed = list(zip(keys, new.values(), strict=True))
    adding.put(notes, ({**key, **_note_columns(adding, note)} for key, note in placed))
    _owe(adding, [note.note_id for note in new.values()])
    spans = ({**key, **adding.span(no, span)} for key, note in placed for no, span in enumerate(note.sources))
    adding.put(note_sources, spans)
    mentions = ((key, note.cues.items()) for key, note in placed)
    adding.put(
        note_cues, ({**key, "cue": adding.cues[cue], "mentions": count} for key, its in mentions for cue, count in its)
    )
    adding.put(given_notes, ({**key, "given_id": note.given_id} for key, note in placed if note.given_id is not None))
    held = ((key, piece.held.get((note.note_id, note.version))) for key, note in placed)
    adding.put(
        proposals,
        (
            {
                **key,
                "relation": one.relation,
                "target": None if one.target_id is None else number_of("N", one.target_id),
            }
            for key, one in held
            if one is not None
        ),
    )


def _owe(adding: Adding, target_ids: Sequence[str]) -> None:
    """Leave their vectors to a task each, unless something of the same name has one."""
    query = select(tasks.c.target_id).where(tasks.c.user_id == adding.user_id, tasks.c.kind == "embed")
    known = {row.target_id for row in rows_with(adding.connection, query, tasks.c.target_id, target_ids)}
    owed = (target_id for target_id in dict.fromkeys(target_ids) if target_id not in known)
    adding.put(tasks, ({"kind": "embed", "target_id": target_id} for target_id in owed))


def _note_columns(adding: Adding, note: Note) -> dict[str, Any]:
    return {
        "kind": note.kind,
        "about": note.about,
        "text": note.text,
        **interval_columns(note.valid),
        "status": note.status,
        "metadata": dict(note.metadata) or None,
        "recorded_at": adding.now if note.recorded_at is None else micros(note.recorded_at),
        "revision": adding.counters.revision,
    }


def _operations(adding: Adding, piece: Recovered) -> None:
    numbered = {number_of("O", one.operation_id) or 0: one for one in piece.operations}
    new = sorted(_new(adding, operations, "operation", list(numbered)))
    if not new:
        return
    adding.counters.next_operation = max(adding.counters.next_operation, new[-1] + 1)
    columns = ("action", "target_id", "version", "trigger", "before", "after")
    rows: list[dict[str, Any]] = []
    for number in new:
        one = numbered[number]
        fields = {name: cast("object", getattr(one, name)) for name in columns}
        rows.append({"operation": number, "at": micros(one.at), **fields})
    adding.put(operations, rows)
    details = ((number, numbered[number].detail) for number in new)
    adding.put(operation_details, ({"operation": number, "detail": dict(its)} for number, its in details if its))


def _episodes(adding: Adding, piece: Recovered) -> None:
    numbered = {number_of("E", one.episode_id) or 0: one for one in piece.episodes}
    new = sorted(_new(adding, episodes, "episode", list(numbered)))
    if not new:
        return
    adding.counters.next_trace = max(adding.counters.next_trace, new[-1] + 1)
    rows: list[dict[str, Any]] = []
    covered: list[dict[str, int]] = []
    for number in new:
        one = numbered[number]
        rows.append(
            {
                "episode": number,
                "session_id": one.session_id,
                "topic": one.topic,
                "summary": one.summary,
                "made_by": one.made_by,
                "recorded_at": adding.now if one.recorded_at is None else micros(one.recorded_at),
                "revision": adding.counters.revision,
            }
        )
        seqs = enumerate(adding.seq(turn_id) for turn_id in one.turn_ids)
        covered += [{"episode": number, "no": no, "seq": seq} for no, seq in seqs]
    adding.put(episodes, rows)
    adding.put(episode_turns, covered)
