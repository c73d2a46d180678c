"""What an index needs: everything of one user, or what changed since a revision, in a few queries."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import ColumnElement, Connection, Table, select, tuple_

from mnemic.protocols import Delta, TurnRow
from mnemic.store import users
from mnemic.store.embedders import Active, active
from mnemic.store.encodings import interval, unpack
from mnemic.store.episodes import whole as whole_episodes
from mnemic.store.ids import Kind, public_id
from mnemic.store.notes import NOTE_COLUMNS, whole_notes
from mnemic.store.read import TRACE_COLUMNS, TURN_COLUMNS, turn_of, units_of, whole_traces
from mnemic.store.tables import (
    cue_vectors,
    cues,
    episodes,
    note_vectors,
    notes,
    phrases,
    removals,
    trace_vectors,
    traces,
    turns,
    unit_cues,
    unit_vectors,
    units,
)
from mnemic.types import Episode, Note, TimePhrase, Trace, Unit

if TYPE_CHECKING:
    from mnemic.protocols import Floats
    from mnemic.store.read import AnySelect


def load(connection: Connection, user_id: str, since: int) -> Delta:
    """What changed since a revision, by one snapshot.

    A revision from before an erasure of the user or a change of the embedder gets everything anew, preceded by the
    removal of every number that was ever given. Removed cues are not named, for their keys are erased words: a cue
    is there exactly as long as a unit or note mentions it.
    """
    found = users.counters(connection, user_id) or users.Counters()
    is_stranger = since > 0 and not found.base <= since <= found.revision
    if is_stranger:
        removed = _Removed(
            turns=tuple(range(found.next_seq)),
            traces=tuple(public_id("T", number) for number in range(1, found.next_trace)),
            notes=tuple(public_id("N", number) for number in range(1, found.next_note)),
            episodes=tuple(public_id("E", number) for number in range(1, found.next_trace)),
        )
    else:
        removed = _removed(connection, user_id, since)
    changed = _Changed(connection, user_id, 0 if is_stranger else since, active(connection))
    return Delta(
        revision=found.revision,
        removed_turns=removed.turns,
        removed_traces=removed.traces,
        removed_notes=removed.notes,
        turns=changed.turns(),
        traces=changed.traces(),
        notes=changed.notes(),
        cues=changed.cues(),
        removed_episodes=removed.episodes,
        episodes=changed.episodes(),
    )


class _Removed(NamedTuple):
    turns: tuple[int, ...]
    traces: tuple[str, ...]
    notes: tuple[str, ...]
    episodes: tuple[str, ...]


def _removed(connection: Connection, user_id: str, since: int) -> _Removed:
    if since <= 0:
        return _Removed((), (), (), ())
    query = (
        select(removals.c.kind, removals.c.number)
        .distinct()
        .where(removals.c.user_id == user_id, removals.c.revision > since)
        .order_by(removals.c.kind, removals.c.number)
    )
    numbers: dict[str, list[int]] = defaultdict(list)
    for kind, number in connection.execute(query):
        numbers[kind].append(number)

    def ids(kind: Kind, name: str) -> tuple[str, ...]:
        return tuple(public_id(kind, number) for number in numbers[name])

    return _Removed(tuple(numbers["turn"]), ids("T", "trace"), ids("N", "note"), ids("E", "episode"))


class _Changed:
    """The rows of one user that are newer than a revision, with the active embedder's vectors."""

    def __init__(self, connection: Connection, user_id: str, since: int, embedder: Active | None) -> None:
        self._connection = connection
        self._user_id = user_id
        self._since = since
        self._embedder = embedder

    def turns(self) -> tuple[TurnRow, ...]:
        query = select(*TURN_COLUMNS).where(*self._newer(turns)).order_by(turns.c.seq)
        found = [turn_of(row) for row in self._connection.execute(query)]
        names = {turn.seq: turn.turn_id for turn in found}
        units_by_seq = self._units(names)
        phrases_by_seq = self._phrases(names)
        matrices = self._unit_vectors()
        return tuple(
            TurnRow(
                turn=turn,
                units=units_by_seq.get(turn.seq, ()),
                phrases=tuple(phrases_by_seq.get(turn.seq, ())),
                unit_vectors=matrices.get(turn.seq),
            )
            for turn in found
        )

    def traces(self) -> tuple[tuple[Trace, Floats | None], ...]:
        rows = self._connection.execute(select(*TRACE_COLUMNS).where(*self._newer(traces))).all()
        vectors = self._vectors(trace_vectors, traces, (trace_vectors.c.trace,))
        ordered = sorted(rows, key=lambda row: (row.ordinal, row.trace))
        whole = whole_traces(self._connection, self._user_id, rows)
        return tuple((trace, vectors.get((row.trace,))) for row, trace in zip(ordered, whole, strict=True))

    def notes(self) -> tuple[tuple[Note, Floats | None], ...]:
        query = select(*NOTE_COLUMNS).where(*self._newer(notes)).order_by(notes.c.note, notes.c.version)
        rows = self._connection.execute(query).all()
        vectors = self._vectors(note_vectors, notes, (note_vectors.c.note, note_vectors.c.version))
        whole = whole_notes(self._connection, self._user_id, rows)
        return tuple((note, vectors.get((row.note, row.version))) for row, note in zip(rows, whole, strict=True))

    def episodes(self) -> tuple[Episode, ...]:
        rows = self._connection.execute(select(episodes).where(*self._newer(episodes))).all()
        return tuple(whole_episodes(self._connection, self._user_id, rows)) if rows else ()

    def cues(self) -> tuple[tuple[str, str, Floats | None], ...]:
        # By revision first: that is the index to read a few new ones by.
        query = select(cues.c.cue, cues.c.key, cues.c.surface).where(*self._newer(cues))
        rows = self._connection.execute(query.order_by(cues.c.revision, cues.c.cue)).all()
        vectors = self._vectors(cue_vectors, cues, (cue_vectors.c.cue,))
        return tuple((row.key, row.surface, vectors.get((row.cue,))) for row in rows)

    def _units(self, names: dict[int, str]) -> dict[int, tuple[Unit, ...]]:
        places = self._of_newer(select(units.c.seq, units.c.no, units.c.start, units.c.stop), units, turns)
        mentions = self._of_newer(
            select(unit_cues.c.seq, unit_cues.c.no, unit_cues.c.cue, unit_cues.c.mentions), unit_cues, turns
        )
        rows = self._connection.execute(mentions.order_by(unit_cues.c.seq, unit_cues.c.no, unit_cues.c.cue)).all()
        # Each key once, and shared by all its mentions.
        known = select(cues.c.cue, cues.c.key).where(cues.c.user_id == self._user_id)
        if self._since > 0:
            known = known.where(cues.c.cue.in_(mentions.with_only_columns(unit_cues.c.cue)))
        keys = {number: key for number, key in self._connection.execute(known)}
        return units_of(
            names,
            self._connection.execute(places.order_by(units.c.seq, units.c.no)),
            ((seq, no, keys[cue], count) for seq, no, cue, count in rows),
        )

    def _phrases(self, names: dict[int, str]) -> dict[int, list[TimePhrase]]:
        query = self._of_newer(select(phrases), phrases, turns).order_by(phrases.c.seq, phrases.c.no)
        found: dict[int, list[TimePhrase]] = defaultdict(list)
        for row in self._connection.execute(query):
            when = interval(row.from_at, row.from_offset, row.until_at, row.until_offset)
            found[row.seq].append(TimePhrase(names[row.seq], row.start, row.stop, when))
        return found

    def _unit_vectors(self) -> dict[int, Floats]:
        """``seq`` -> the vectors of its units, (n, dim)."""
        keys, rows = self._matrix(unit_vectors, turns, (unit_vectors.c.seq, unit_vectors.c.no))
        sizes = Counter(seq for seq, _ in keys)
        # The rows come by seq and number within it.
        ends = {seq: place + 1 for place, (seq, _) in enumerate(keys)}
        return {seq: rows[ends[seq] - size : ends[seq]] for seq, size in sizes.items()}

    def _vectors(self, table: Table, owner: Table, key: Sequence[ColumnElement[int]]) -> dict[tuple[int, ...], Floats]:
        """Key columns -> vector, of the newer rows of the table's owner."""
        keys, rows = self._matrix(table, owner, key)
        return dict(zip(keys, rows, strict=True))

    def _matrix(
        self, table: Table, owner: Table, key: Sequence[ColumnElement[int]]
    ) -> tuple[list[tuple[int, ...]], Floats]:
        """Key columns, in their order, and as many rows of vectors."""
        if self._embedder is None:
            return [], unpack([], 0)
        query = self._of_newer(select(*key, table.c.data), table, owner).order_by(*key)
        rows = self._connection.execute(query.where(table.c.embedder == self._embedder.number)).all()
        return [tuple(row[:-1]) for row in rows], unpack([row[-1] for row in rows], self._embedder.dim)

    def _of_newer(self, query: AnySelect, table: Table, owner: Table) -> AnySelect:
        """The table's rows whose owner is newer."""
        query = query.where(table.c.user_id == self._user_id)
        if self._since <= 0:
            return query
        shared = [column.name for column in owner.primary_key if column.name != "user_id"]
        # Not a join, which SQLite begins with all of the user's rows.
        newer = select(*(owner.c[name] for name in shared)).where(*self._newer(owner))
        return query.where(tuple_(*(table.c[name] for name in shared)).in_(newer))

    def _newer(self, table: Table) -> tuple[ColumnElement[bool], ...]:
        mine = table.c.user_id == self._user_id
        return (mine, table.c.revision > self._since) if self._since > 0 else (mine,)
