"""From turns to everything derived from them, for the store to commit in one transaction.

Nothing here needs a model but the embedder, and nothing is lost without it: what could not be embedded is left
as a task.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mnemic.algo import cues, injected, pack, render, sentences, statements, temporal
from mnemic.algo.recalled import blanked
from mnemic.algo.temporal import TimeMention
from mnemic.algo.trust import tier_of
from mnemic.protocols import Batch, CueExtractor, Embedder, Vectors
from mnemic.types import Interval, Note, Span, Task, Tier, TimePhrase, Turn, Unit

if TYPE_CHECKING:
    from mnemic.protocols import Floats

INSTRUCTS: Final = "it speaks to the model that reads it, like an instruction"
_OWN: Final[tuple[Tier, ...]] = ("user", "import")
"""Whose words local notes are made of."""


def derive(turns: Sequence[Turn], *, names: Collection[str], extractor: CueExtractor) -> Batch:
    """Derive units, cues, time phrases, notes and traces from new turns.

    Args:
        turns: New ones, in order.
        names: Participants known so far; the new turns' speakers are added.
        extractor: Finds the cues.
    """
    turns = [screened(turn) for turn in turns]
    spans = {turn.turn_id: sentences.split(turn.text) for turn in turns}
    texts = [turn.text[start:end] for turn in turns for start, end in spans[turn.turn_id]]
    mentions = iter(extractor.extract(texts, names={*names, *(turn.speaker for turn in turns)}))
    surfaces: dict[str, str] = {}
    units = [
        Unit(turn.turn_id, start, end, cues.counted(next(mentions), surfaces))
        for turn in turns
        for start, end in spans[turn.turn_id]
    ]
    # Counted from a turn's own timestamp, never from the clock (fault B058).
    times = {turn.turn_id: temporal.find(turn.text, turn.timestamp) for turn in turns}
    return Batch(
        turns=tuple(turns),
        units=tuple(units),
        phrases=tuple(
            TimePhrase(turn_id, found.start, found.end, found.interval)
            for turn_id, named in times.items()
            for found in named
        ),
        traces=tuple(pack.pack(turns)),
        notes=tuple(_notes(turns, spans, units, times)),
        surfaces=surfaces,
    )


def screened(turn: Turn) -> Turn:
    """A turn, held in quarantine where it speaks to the model that will read it, unless a person decided already."""
    if turn.quarantine is None and injected.instructions(turn.text, tier_of(turn)):
        return replace(turn, quarantine="held")
    return turn


def guarded(note: Note) -> Note:
    """A note, in quarantine where it speaks to the model that will read it."""
    if note.status == "current" and injected.instructions(note.text, "tool"):
        return replace(note, status="quarantined", metadata={**note.metadata, "quarantined": INSTRUCTS})
    return note


def _notes(
    turns: Sequence[Turn],
    spans: Mapping[str, Sequence[tuple[int, int]]],
    units: Sequence[Unit],
    times: Mapping[str, Sequence[TimeMention]],
) -> Iterable[Note]:
    """Local notes: what people say of themselves, quoted. Only people's own turns are read."""
    cued = {(unit.turn_id, unit.start): unit.cues for unit in units}
    for turn in turns:
        if turn.role != "user" or tier_of(turn) not in _OWN or turn.quarantine is not None:
            continue
        said = blanked(turn.text)
        for found in statements.statements(said, spans[turn.turn_id], times[turn.turn_id]):
            if said[found.start : found.end] != turn.text[found.start : found.end]:
                continue  # it runs over from words that memory gave
            yield Note(
                note_id="",
                version=1,
                kind=found.kind,
                about=turn.speaker,
                text=turn.text[found.start : found.end],
                valid=found.valid or Interval(turn.timestamp, None),
                sources=(Span(turn.turn_id, found.start, found.end),),
                cues=cued[turn.turn_id, found.start],
            )


def derive_given(notes: Sequence[Note], *, names: Collection[str], extractor: CueExtractor) -> Batch:
    """Derive the cues of given notes.

    Args:
        notes: On turns that are stored.
        names: The participants.
        extractor: Finds the cues.
    """
    surfaces: dict[str, str] = {}
    found = extractor.extract([note.text for note in notes], names=names)
    cued = [replace(note, cues=cues.counted(its, surfaces)) for note, its in zip(notes, found, strict=True)]
    return Batch(notes=tuple(cued), surfaces=surfaces, trigger="person")


def embed(
    batch: Batch, texts: Mapping[str, str], embedder: Embedder, *, names: Sequence[str], known_cues: Collection[str]
) -> Batch:
    """Add the vectors of a batch's units, traces, notes and cues.

    Args:
        batch: From ``derive`` or ``derive_given``, or of an erasure.
        texts: turn_id -> text, of all turns that its units and traces quote.
        embedder: Called once.
        names: The participants, left out of what is embedded of a given note.
        known_cues: Keys that have a vector already.

    Raises:
        EmbeddingFailed: Nothing was embedded.
    """
    keys = [key for key in batch.surfaces if key not in known_cues]
    units = [texts[unit.turn_id][unit.start : unit.end] for unit in batch.units]
    traces = [render.embedded(trace, texts) for trace in batch.traces]
    given = {place: note for place, note in enumerate(batch.notes) if note.given_id is not None}
    notes = [render.embedded_note(note, names) for note in given.values()]
    rows = embedder.embed([*units, *traces, *keys, *notes])
    of_units, of_traces, of_cues, of_notes = _cut(rows, len(units), len(traces), len(keys), len(notes))
    by_turn: dict[str, list[int]] = {turn.turn_id: [] for turn in batch.turns}
    at: dict[tuple[str, int], int] = {}
    for position, unit in enumerate(batch.units):
        by_turn[unit.turn_id].append(position)
        at[unit.turn_id, unit.start] = position
    vectors = Vectors(
        fingerprint=embedder.fingerprint,
        units={turn_id: of_units[positions] for turn_id, positions in by_turn.items()},
        traces=dict(enumerate(of_traces)),
        cues=dict(zip(keys, of_cues, strict=True)),
        # A local note quotes a unit, whose vector is there already.
        notes={
            place: of_units[at[note.sources[0].turn_id, note.sources[0].start]]
            for place, note in enumerate(batch.notes)
            if place not in given
        }
        | dict(zip(given, of_notes, strict=True)),
    )
    return replace(batch, vectors=vectors)


def postpone(batch: Batch) -> Batch:
    """Leave the vectors of new turns to a task each; one without words needs none."""
    speaking = dict.fromkeys(unit.turn_id for unit in batch.units)
    return replace(batch, tasks=tuple(Task("embed", turn_id) for turn_id in speaking))


def _cut(vectors: Floats, *lengths: int) -> list[Floats]:
    """Consecutive pieces of the rows."""
    pieces: list[Floats] = []
    start = 0
    for length in lengths:
        pieces.append(vectors[start : start + length])
        start += length
    return pieces
