"""Adding notes: new ones, next versions of known ones, and the log entry of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select, update

from mnemic.algo.replay import made
from mnemic.errors import StoreConflict
from mnemic.protocols import Batch
from mnemic.store.adding import Adding, LogEntry
from mnemic.store.encodings import interval_columns
from mnemic.store.ids import number_of, numbers_of, public_id
from mnemic.store.notes import numbers_of_given
from mnemic.store.read import rows_with
from mnemic.store.tables import given_notes, note_confirmations, note_cues, note_sources, notes, proposals
from mnemic.store.vectors import bump
from mnemic.types import Note


def add_notes(adding: Adding, batch: Batch) -> list[tuple[int, int]]:
    """Add a batch's notes; the former current version of each becomes ``superseded``, where the new one is current.

    Returns:
        (note, version) of each.

    Raises:
        StoreConflict: A note is gone, or is not at the version before the given one; or a new one has the given id of
            another.
    """
    new = batch.notes
    _check_given_ids(adding, new)
    texts = _last_texts(adding, new)
    places: list[tuple[int, int]] = []
    rows: list[dict[str, Any]] = []
    entries: list[LogEntry] = []
    for place, note in enumerate(new):
        note_id = note.note_id or public_id("N", adding.counters.take("next_note"))
        version, before = texts.get(note_id, (0, None))
        if note.note_id and (version == 0 or note.version != version + 1):
            raise StoreConflict(f"note {note_id!r} of user {adding.user_id!r} has changed; plan the write again")
        texts[note_id] = (version + 1, note.text)
        number = numbers_of("N", [note_id])[0]
        places.append((number, version + 1))
        rows.append(_note_columns(adding, note, number, version + 1))
        entries.append(
            LogEntry(
                action="UPDATE" if version else "ADD",
                target_id=note_id,
                version=version + 1,
                trigger=batch.trigger,
                before=before,
                after=note.text,
                detail=made(note, batch.details.get(place, {})),
            )
        )
    adding.put(notes, rows)
    _supersede(adding, [place for note, place in zip(new, places, strict=True) if note.status == "current"])
    adding.put(note_sources, _source_rows(adding, new, places))
    adding.put(note_cues, _cue_rows(adding, new, places))
    adding.put(given_notes, _given_rows(new, places))
    adding.put(proposals, _held_rows(batch, places))
    adding.log(entries)
    return places


def confirm(adding: Adding, confirmations: Mapping[tuple[str, int], Sequence[str]]) -> None:
    """Note which turns say again what versions say; what is known, or gone, is left alone."""
    wanted = {
        (number, version, adding.seq(turn_id))
        for (note_id, version), turn_ids in confirmations.items()
        for number in numbers_of("N", [note_id])
        for turn_id in turn_ids
    }
    if not wanted:
        return
    numbers = [number for number, _, _ in wanted]
    mine = (note_confirmations.c.user_id == adding.user_id, notes.c.user_id == adding.user_id)
    confirmed = select(note_confirmations.c.note, note_confirmations.c.version, note_confirmations.c.seq)
    known = {
        tuple(row) for row in rows_with(adding.connection, confirmed.where(mine[0]), note_confirmations.c.note, numbers)
    }
    versions = select(notes.c.note, notes.c.version).where(mine[1])
    there = {tuple(row) for row in rows_with(adding.connection, versions, notes.c.note, numbers)}
    new = sorted(one for one in wanted - known if one[:2] in there)
    adding.put(note_confirmations, ({"note": note, "version": version, "seq": seq} for note, version, seq in new))
    bump(
        adding.connection,
        adding.user_id,
        adding.counters.revision,
        notes,
        ("note", "version"),
        sorted({one[:2] for one in new}),
    )


def _check_given_ids(adding: Adding, new: Sequence[Note]) -> None:
    given = Counter(note.given_id for note in new if note.given_id is not None and not note.note_id)
    twice = [given_id for given_id, count in given.items() if count > 1]
    taken = twice or sorted(numbers_of_given(adding.connection, adding.user_id, given))
    if taken:
        raise StoreConflict(f"note {taken[0]!r} of user {adding.user_id!r} exists already; plan the write again")


def _last_texts(adding: Adding, new: Sequence[Note]) -> dict[str, tuple[int, str | None]]:
    """note_id -> last version and its text, of the known notes among these."""
    query = (
        select(notes.c.note, notes.c.version, notes.c.text)
        .where(notes.c.user_id == adding.user_id)
        .order_by(notes.c.version)
    )
    numbers = numbers_of("N", (note.note_id for note in new))
    rows = rows_with(adding.connection, query, notes.c.note, numbers)
    return {public_id("N", row.note): (row.version, row.text) for row in rows}


def _note_columns(adding: Adding, note: Note, number: int, version: int) -> dict[str, Any]:
    return {
        "note": number,
        "version": version,
        "kind": note.kind,
        "about": note.about,
        "text": note.text,
        **interval_columns(note.valid),
        "status": note.status,
        "metadata": dict(note.metadata) or None,
        "recorded_at": adding.now,
        "revision": adding.counters.revision,
    }


def _supersede(adding: Adding, places: Sequence[tuple[int, int]]) -> None:
    for number, version in places:
        if version > 1:
            former = (notes.c.user_id == adding.user_id, notes.c.note == number, notes.c.version < version)
            values = {"status": "superseded", "revision": adding.counters.revision}
            adding.connection.execute(update(notes).where(*former, notes.c.status == "current"), values)


def _given_rows(new: Sequence[Note], places: Sequence[tuple[int, int]]) -> list[dict[str, Any]]:
    return [
        {"note": number, "version": version, "given_id": note.given_id}
        for note, (number, version) in zip(new, places, strict=True)
        if note.given_id is not None
    ]


def _held_rows(batch: Batch, places: Sequence[tuple[int, int]]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for place, held in batch.held.items():
        number, version = places[place]
        target = None if held.target_id is None else number_of("N", held.target_id)
        rows.append({"note": number, "version": version, "relation": held.relation, "target": target})
    return rows


def _source_rows(adding: Adding, new: Sequence[Note], places: Sequence[tuple[int, int]]) -> list[dict[str, int]]:
    return [
        {"note": number, "version": version, **adding.span(no, span)}
        for note, (number, version) in zip(new, places, strict=True)
        for no, span in enumerate(note.sources)
    ]


def _cue_rows(adding: Adding, new: Sequence[Note], places: Sequence[tuple[int, int]]) -> list[dict[str, int]]:
    return [
        {"note": number, "version": version, "cue": adding.cues[key], "mentions": count}
        for note, (number, version) in zip(new, places, strict=True)
        for key, count in note.cues.items()
    ]
