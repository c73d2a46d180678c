"""Notes, as they are and as they stood."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Final

from sqlalchemy import ColumnElement, Connection, and_, or_, select

from mnemic.algo.replay import as_stood, replay
from mnemic.errors import InvalidInput
from mnemic.protocols import Held
from mnemic.store.encodings import interval, micros, moment
from mnemic.store.ids import number_of, numbers_of, public_id
from mnemic.store.log import log_of
from mnemic.store.read import by_name, rows_with
from mnemic.store.tables import (
    cues,
    given_notes,
    note_cues,
    note_sources,
    notes,
    proposals,
    turns,
)
from mnemic.store.testimony import testimony
from mnemic.types import Note, NoteStatus, Span

if TYPE_CHECKING:
    from mnemic.store.read import AnyRow, AnySelect

NOTE_COLUMNS = tuple(notes.c[name] for name in notes.c.keys() if name not in ("user_id", "revision"))  # noqa: SIM118 - a column collection is no dict
_VERSION: Final = re.compile(r"[0-9]{1,9}", re.ASCII)
_CHUNK: Final = 500
"""Notes that are looked at together where only their log tells which of them are meant."""


def find_notes(
    connection: Connection,
    user_id: str,
    *,
    note_ids: Sequence[str] | None,
    given_ids: Sequence[str] | None,
    about: str | None,
    statuses: Collection[NoteStatus],
    after: str | None,
    limit: int | None,
    known_at: datetime | None = None,
) -> list[Note]:
    """Versions of notes that meet all criteria, by number, then version; as they stood at ``known_at``, if given.

    Raises:
        InvalidInput: ``after`` is no id of a note or of a version.
    """
    query: AnySelect = select(*NOTE_COLUMNS).where(notes.c.user_id == user_id).order_by(notes.c.note, notes.c.version)
    if about is not None:
        query = query.where(notes.c.about == about)
    if after is not None:
        query = query.where(_behind(after))
    numbers = None if note_ids is None else set(numbers_of("N", note_ids))
    if given_ids is not None:
        given = set(numbers_of_given(connection, user_id, given_ids).values())
        numbers = given if numbers is None else numbers & given
    if known_at is not None:
        stood = _as_known(connection, user_id, query, numbers, known_at)
        return list(islice((note for note in stood if note.status in statuses), limit))
    query = query.where(notes.c.status.in_(list(statuses)))
    if numbers is None:
        rows: Iterable[AnyRow] = connection.execute(query.limit(limit))
    else:
        found = rows_with(connection, query, notes.c.note, numbers)
        rows = sorted(found, key=lambda row: (row.note, row.version))[:limit]
    return whole_notes(connection, user_id, rows)


def _behind(after: str) -> ColumnElement[bool]:
    """What comes behind a note (``N7``), or behind a version of it (``N7.2``). Raises InvalidInput."""
    note_id, dot, version = after.partition(".")
    number = number_of("N", note_id)
    if number is None or (dot and not _VERSION.fullmatch(version)):
        raise InvalidInput(f"{after!r} is not the id of a note, such as N7, or of a version of one, such as N7.2")
    if not dot:
        return notes.c.note > number
    return or_(notes.c.note > number, and_(notes.c.note == number, notes.c.version > int(version)))


def _as_known(
    connection: Connection, user_id: str, query: AnySelect, numbers: set[int] | None, known_at: datetime
) -> Iterator[Note]:
    """The notes of a query as they stood, by their log; some after the other, for the log of all may be long."""
    query = query.where(notes.c.recorded_at <= micros(known_at))
    if numbers is None:
        which = query.with_only_columns(notes.c.note).distinct().order_by(None).order_by(notes.c.note)
        wanted = list(connection.execute(which).scalars())
    else:
        wanted = sorted(numbers)
    for start in range(0, len(wanted), _CHUNK):
        some = wanted[start : start + _CHUNK]
        found = rows_with(connection, query, notes.c.note, some)
        rows = sorted(found, key=lambda row: (row.note, row.version))
        whole = whole_notes(connection, user_id, rows, known_at)
        log = log_of(connection, user_id, some)
        yield from as_stood(whole, replay(log, until=known_at, now=whole))


def numbers_of_given(connection: Connection, user_id: str, given_ids: Iterable[str]) -> dict[str, int]:
    """Given id -> number of the notes that exist."""
    query = select(given_notes.c.given_id, given_notes.c.note).where(given_notes.c.user_id == user_id)
    query = by_name(query, given_notes)
    return {row.given_id: row.note for row in rows_with(connection, query, given_notes.c.given_id, given_ids)}


def whole_notes(
    connection: Connection, user_id: str, rows: Iterable[AnyRow], known_at: datetime | None = None
) -> list[Note]:
    """Notes with their sources and cues, in the order of the rows, from their ``NOTE_COLUMNS``.

    What was learnt later than ``known_at`` confirms nothing.
    """
    rows = list(rows)
    numbers = [row.note for row in rows]
    source_query = (
        select(
            note_sources.c.note,
            note_sources.c.version,
            turns.c.turn_id,
            note_sources.c.start,
            note_sources.c.stop,
        )
        .join(turns, (turns.c.user_id == note_sources.c.user_id) & (turns.c.seq == note_sources.c.seq))
        .where(note_sources.c.user_id == user_id)
        .order_by(note_sources.c.note, note_sources.c.version, note_sources.c.no)
    )
    sources: dict[tuple[int, int], list[Span]] = defaultdict(list)
    for row in rows_with(connection, source_query, note_sources.c.note, numbers):
        sources[row.note, row.version].append(Span(row.turn_id, row.start, row.stop))
    borne_out = testimony(connection, user_id, numbers, known_at)
    cue_query = (
        select(note_cues.c.note, note_cues.c.version, cues.c.key, note_cues.c.mentions)
        .join(cues, (cues.c.user_id == note_cues.c.user_id) & (cues.c.cue == note_cues.c.cue))
        .where(note_cues.c.user_id == user_id)
        .order_by(note_cues.c.cue)
    )
    mentioned: dict[tuple[int, int], dict[str, int]] = defaultdict(dict)
    for note, version, key, count in rows_with(connection, cue_query, note_cues.c.note, numbers):
        mentioned[note, version][key] = count
    given_query = select(given_notes.c.note, given_notes.c.version, given_notes.c.given_id)
    given_rows = rows_with(connection, given_query.where(given_notes.c.user_id == user_id), given_notes.c.note, numbers)
    given = {(row.note, row.version): row.given_id for row in given_rows}
    return [
        Note(
            note_id=public_id("N", row.note),
            version=row.version,
            kind=row.kind,
            about=row.about,
            text=row.text,
            valid=interval(row.from_at, row.from_offset, row.until_at, row.until_offset),
            sources=tuple(sources.get((row.note, row.version), ())),
            status=row.status,
            cues=mentioned.get((row.note, row.version), {}),
            recorded_at=moment(row.recorded_at),
            metadata=row.metadata or {},
            given_id=given.get((row.note, row.version)),
            last_confirmed=borne_out[row.note, row.version].last_confirmed,
            tier=borne_out[row.note, row.version].tier,
            corroboration=borne_out[row.note, row.version].corroboration,
        )
        for row in rows
    ]


def held(connection: Connection, user_id: str) -> dict[tuple[str, int], Held]:
    """(note_id, version) -> what a note that waits for a person asks for."""
    query = select(proposals).where(proposals.c.user_id == user_id)
    return {
        (public_id("N", row.note), row.version): Held(
            row.relation, None if row.target is None else public_id("N", row.target)
        )
        for row in connection.execute(query)
    }
