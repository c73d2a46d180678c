"""Adding what is new in a batch, by set-based statements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sqlalchemy import select

from mnemic.errors import StoreConflict
from mnemic.protocols import Batch, Vectors, Written
from mnemic.store import episodes, vectors, work
from mnemic.store.adding import Adding
from mnemic.store.encodings import interval_columns, maybe_stamp, micros
from mnemic.store.ids import public_id
from mnemic.store.note_versions import add_notes, confirm
from mnemic.store.read import numbers_of_cues, numbers_of_turns, rows_with
from mnemic.store.tables import (
    cues,
    phrases,
    request_turns,
    requests,
    tasks,
    trace_spans,
    traces,
    turns,
    unit_cues,
    units,
)
from mnemic.types import Task, TimePhrase, Trace, Turn, Unit


def add(adding: Adding, batch: Batch) -> Written:
    """Add everything that a batch adds. Raises StoreConflict when it mentions what is gone."""
    _add_turns(adding, batch.turns)
    find_old_turns(adding, batch)
    new_cues = add_cues(adding, batch)
    _add_units(adding, batch.units)
    _add_mentions(adding, batch)
    _add_phrases(adding, batch.phrases)
    trace_numbers = _add_traces(adding, batch.traces)
    versions = add_notes(adding, batch)
    confirm(adding, batch.confirmations)
    if batch.vectors is not None:
        numbered = _numbered(adding, batch.vectors, trace_numbers, versions)
        old = _old(adding, batch.turns, new_cues, numbered)
        vectors.save(adding.connection, adding.user_id, batch.vectors.fingerprint, numbered, old=old)
        vectors.touch(adding.connection, adding.user_id, adding.counters.revision, old)
    owed = dict.fromkeys((*batch.tasks, *_owed(batch, trace_numbers, versions)))
    adding.put(tasks, ({"kind": task.kind, "target_id": task.target_id} for task in owed))
    _add_work(adding, batch, trace_numbers)
    made = episodes.add(adding, batch.episodes)
    _add_request(adding, batch)
    return Written(
        revision=adding.counters.revision,
        trace_ids=tuple(public_id("T", number) for number in trace_numbers),
        note_ids=tuple(public_id("N", note) for note, _ in versions),
        operation_ids=tuple(public_id("O", number) for number in adding.logged),
        episode_ids=tuple(public_id("E", number) for number in made),
    )


def _owed(batch: Batch, trace_numbers: Sequence[int], versions: Sequence[tuple[int, int]]) -> list[Task]:
    """A task for each repacked trace and new given note without a vector: before the write nobody knows its id."""
    if batch.vectors is not None:
        return []
    repacked = zip(trace_numbers, batch.traces, strict=True)
    noted = ((number, note) for (number, _), note in zip(versions, batch.notes, strict=True) if not note.note_id)
    return [
        *(Task("embed", public_id("T", number)) for number, trace in repacked if trace.ordinal >= 0),
        *(Task("embed", public_id("N", number)) for number, note in noted if note.given_id is not None),
    ]


def _add_turns(adding: Adding, new: Sequence[Turn]) -> None:
    first = adding.counters.take("next_seq", len(new))
    adding.seqs = {turn.turn_id: seq for seq, turn in enumerate(new, first)}
    adding.put(turns, (_turn_columns(adding, turn) for turn in new))


def _turn_columns(adding: Adding, turn: Turn) -> dict[str, Any]:
    timestamp, utc_offset = maybe_stamp(turn.timestamp)
    return {
        "seq": adding.seqs[turn.turn_id],
        "turn_id": turn.turn_id,
        "session_id": turn.session_id,
        "agent_id": turn.agent_id,
        "role": turn.role,
        "speaker": turn.speaker,
        "text": turn.text,
        "parts": [[part.kind, part.start, part.end, part.ref] for part in turn.parts] or None,
        "given": None if turn.given is None else dict(turn.given),
        "timestamp": timestamp,
        "utc_offset": utc_offset,
        "metadata": dict(turn.metadata) or None,
        "recorded_at": adding.now,
        "revision": adding.counters.revision,
        "tier": turn.tier,
        "quarantine": turn.quarantine,
    }


def find_old_turns(adding: Adding, batch: Batch) -> None:
    """Number the stored turns that a batch mentions."""
    mentioned = {span.turn_id for trace in batch.traces for span in trace.spans}
    mentioned |= {span.turn_id for note in batch.notes for span in note.sources}
    mentioned |= {turn_id for episode in batch.episodes for turn_id in episode.turn_ids}
    mentioned |= {turn_id for turn_id, _ in batch.mentions}
    mentioned |= {turn_id for turn_ids in batch.confirmations.values() for turn_id in turn_ids}
    mentioned |= set(batch.request_turns)
    if batch.vectors is not None:
        mentioned |= batch.vectors.units.keys()
    old = sorted(mentioned - adding.seqs.keys())
    adding.seqs |= numbers_of_turns(adding.connection, adding.user_id, old)


def add_cues(adding: Adding, batch: Batch) -> set[int]:
    """Number all mentioned cues; returns the numbers of the new ones."""
    mentioning = (*(text.cues for text in (*batch.units, *batch.notes)), *batch.mentions.values())
    keys = list(dict.fromkeys(key for cued in mentioning for key in cued))
    old = numbers_of_cues(adding.connection, adding.user_id, keys)
    new = [key for key in keys if key not in old]
    first = adding.counters.take("next_cue", len(new))
    numbered = {key: number for number, key in enumerate(new, first)}
    adding.cues = old | numbered
    revision = adding.counters.revision
    adding.put(
        cues,
        (
            {"cue": number, "key": key, "surface": batch.surfaces.get(key, key), "revision": revision}
            for key, number in numbered.items()
        ),
    )
    return set(numbered.values())


def _add_units(adding: Adding, new: Sequence[Unit]) -> None:
    places: list[dict[str, int]] = []
    mentions: list[dict[str, int]] = []
    so_far: Counter[int] = Counter()
    for unit in new:
        place = {"seq": adding.seq(unit.turn_id), "no": so_far[adding.seq(unit.turn_id)]}
        so_far[place["seq"]] += 1
        places.append({**place, "start": unit.start, "stop": unit.end})
        mentions += [{**place, "cue": adding.cues[key], "mentions": count} for key, count in unit.cues.items()]
    adding.put(units, places)
    adding.put(unit_cues, mentions)


def _add_mentions(adding: Adding, batch: Batch) -> None:
    """Add cues to units of stored turns, besides those they have; their turns come again in ``load``."""
    if not batch.mentions:
        return
    places = select(units.c.seq, units.c.no, units.c.start).where(units.c.user_id == adding.user_id)
    has = select(unit_cues.c.seq, unit_cues.c.no, unit_cues.c.cue).where(unit_cues.c.user_id == adding.user_id)
    seqs = sorted({adding.seq(turn_id) for turn_id, _ in batch.mentions})
    numbered = {(row.seq, row.start): row.no for row in rows_with(adding.connection, places, units.c.seq, seqs)}
    known = {tuple(row) for row in rows_with(adding.connection, has, unit_cues.c.seq, seqs)}
    rows: list[dict[str, int]] = []
    for (turn_id, start), cued in batch.mentions.items():
        seq = adding.seq(turn_id)
        no = numbered.get((seq, start))
        if no is None:
            raise StoreConflict(f"turn {turn_id!r} of user {adding.user_id!r} has no sentence at {start}")
        new = ((adding.cues[key], count) for key, count in cued.items())
        rows += [
            {"seq": seq, "no": no, "cue": cue, "mentions": count} for cue, count in new if (seq, no, cue) not in known
        ]
    adding.put(unit_cues, rows)
    changed = {(row["seq"],) for row in rows}
    vectors.bump(adding.connection, adding.user_id, adding.counters.revision, turns, ("seq",), sorted(changed))


def _add_phrases(adding: Adding, new: Sequence[TimePhrase]) -> None:
    rows: list[dict[str, int | None]] = []
    so_far: Counter[int] = Counter()
    for phrase in new:
        seq = adding.seq(phrase.turn_id)
        place = {"seq": seq, "no": so_far[seq], "start": phrase.start, "stop": phrase.end}
        so_far[seq] += 1
        rows.append({**place, **interval_columns(phrase.interval)})
    adding.put(phrases, rows)


def _add_traces(adding: Adding, new: Sequence[Trace]) -> list[int]:
    counters = adding.counters
    first = counters.take("next_trace", len(new))
    rows: list[dict[str, Any]] = []
    spans: list[dict[str, int]] = []
    for number, trace in enumerate(new, first):
        ordinal = counters.next_ordinal if trace.ordinal < 0 else trace.ordinal
        counters.next_ordinal = max(counters.next_ordinal, ordinal + 1)
        rows.append(
            {
                "trace": number,
                "ordinal": ordinal,
                "session_id": trace.session_id,
                "tokens": trace.tokens,
                "revision": counters.revision,
            }
        )
        spans += [{"trace": number, **adding.span(no, span)} for no, span in enumerate(trace.spans)]
    adding.put(traces, rows)
    adding.put(trace_spans, spans)
    return list(range(first, first + len(new)))


def _add_work(adding: Adding, batch: Batch, numbers: Sequence[int]) -> None:
    """Work on new traces; a repacked one has what the one in its place had, and what is wanted of it again."""
    placed = list(zip(numbers, batch.traces, strict=True))
    if batch.due is not None:
        new = (number for number, trace in placed if trace.ordinal < 0)
        work.put(adding.connection, adding.user_id, new, batch.work, due=micros(batch.due))
    for number, trace in placed:
        states = adding.begun.get(trace.ordinal, {})
        done = [kind for kind, state in states.items() if state == "done" and kind not in batch.work]
        due = adding.now if batch.due is None else micros(batch.due)
        work.put(adding.connection, adding.user_id, [number], done, due=due, state="done")
        work.put(adding.connection, adding.user_id, [number], states.keys() - set(done), due=due)


def _numbered(
    adding: Adding, given: Vectors, trace_numbers: Sequence[int], versions: Sequence[tuple[int, int]]
) -> vectors.Numbered:
    """The batch's vectors by the numbers of their owners; a cue that nothing mentions has none."""
    late = [key for key in given.cues if key not in adding.cues]
    numbers = adding.cues | numbers_of_cues(adding.connection, adding.user_id, late)
    return vectors.Numbered(
        units={adding.seq(turn_id): matrix for turn_id, matrix in given.units.items()},
        traces={trace_numbers[place]: vector for place, vector in given.traces.items()},
        cues={numbers[key]: vector for key, vector in given.cues.items() if key in numbers},
        notes={versions[place]: vector for place, vector in given.notes.items()},
    )


def _old(adding: Adding, new_turns: Sequence[Turn], new_cues: set[int], given: vectors.Numbered) -> vectors.Numbered:
    """The vectors whose owners were there before the batch."""
    new_seqs = {adding.seqs[turn.turn_id] for turn in new_turns}
    return vectors.Numbered(
        units={seq: matrix for seq, matrix in given.units.items() if seq not in new_seqs},
        cues={cue: vector for cue, vector in given.cues.items() if cue not in new_cues},
    )


def _add_request(adding: Adding, batch: Batch) -> None:
    if batch.idempotency_key is None:
        return
    number = adding.counters.take("next_request")
    adding.put(requests, [{"request": number, "key": batch.idempotency_key}])
    ids = enumerate(batch.request_turns)
    adding.put(request_turns, ({"request": number, "no": no, "seq": adding.seq(turn_id)} for no, turn_id in ids))
