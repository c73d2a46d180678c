from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from mnemic.errors import EmbeddingFailed
from mnemic.ingest import derive, embed, postpone
from mnemic.models.cues import RuleCues
from mnemic.models.doubles import HashEmbedder
from mnemic.protocols import Batch
from mnemic.types import Span, Task, Trace, Turn

EMBEDDER = HashEmbedder(32)
TURNS = (
    Turn("a", "s1", "user", "Ana", "I love Lisbon. We met Bo in Porto yesterday!", datetime(2024, 5, 2, 9, tzinfo=UTC)),
    Turn("b", "s1", "assistant", "assistant", "I love Paris, Lisbon and rain."),
    Turn("c", "s2", "user", "Bo", " \n"),
    Turn("d", "s2", "user", "Bo", "Lisbon is far."),
)
TEXTS = {turn.turn_id: turn.text for turn in TURNS}


@pytest.fixture
def batch() -> Batch:
    return derive(TURNS, names=(), extractor=RuleCues())


def near(vector: np.ndarray, text: str) -> bool:
    return bool(np.allclose(vector, EMBEDDER.embed([text])[0], atol=1e-6))


def test_units_are_the_sentences_in_order_with_their_cues(batch: Batch) -> None:
    quoted = [TEXTS[unit.turn_id][unit.start : unit.end] for unit in batch.units]
    assert quoted == [
        "I love Lisbon.",
        "We met Bo in Porto yesterday!",
        "I love Paris, Lisbon and rain.",
        "Lisbon is far.",
    ]
    assert "lisbon" in batch.units[0].cues
    assert set(batch.surfaces) == {key for unit in batch.units for key in unit.cues}
    assert batch.surfaces["lisbon"] == "Lisbon"


def test_people_who_take_part_are_no_cues(batch: Batch) -> None:
    assert "bo" not in batch.surfaces
    assert "porto" not in derive(TURNS, names={"Porto"}, extractor=RuleCues()).surfaces


def test_every_word_is_in_a_trace(batch: Batch) -> None:
    held = [(span.turn_id, span.start, span.end) for trace in batch.traces for span in trace.spans]
    assert held == [(turn.turn_id, 0, len(turn.text)) for turn in TURNS if turn.text.strip()]


def test_times_are_counted_from_their_own_turn(batch: Batch) -> None:
    (phrase,) = batch.phrases
    assert TEXTS["a"][phrase.start : phrase.end] == "yesterday"
    assert phrase.interval.start == datetime(2024, 5, 1, tzinfo=UTC)


def test_notes_quote_what_people_say_of_themselves(batch: Batch) -> None:
    assert {note.about for note in batch.notes} <= {"Ana", "Bo"}
    note = batch.notes[0]
    assert (note.text, note.about, note.sources) == ("I love Lisbon.", "Ana", (Span("a", 0, 14),))
    assert note.cues == batch.units[0].cues


def test_each_vector_belongs_to_its_text(batch: Batch) -> None:
    vectors = embed(batch, TEXTS, EMBEDDER, names=(), known_cues={"lisbon"}).vectors
    assert vectors is not None
    assert vectors.fingerprint == EMBEDDER.fingerprint
    for turn in TURNS:
        quoted = [turn.text[unit.start : unit.end] for unit in batch.units if unit.turn_id == turn.turn_id]
        rows = vectors.units[turn.turn_id]
        assert rows.shape == (len(quoted), 32)
        assert all(near(row, text) for row, text in zip(rows, quoted, strict=True))
    for place, trace in enumerate(batch.traces):
        assert near(vectors.traces[place], "\n".join(TEXTS[span.turn_id] for span in trace.spans))
    assert set(vectors.cues) == set(batch.surfaces) - {"lisbon"}
    assert all(near(vector, key) for key, vector in vectors.cues.items())
    assert all(near(vectors.notes[place], note.text) for place, note in enumerate(batch.notes))


def test_the_traces_of_an_erasure_are_embedded_alone() -> None:
    repacked = Batch(traces=(Trace("", 3, "s1", (Span("a", 15, 44),), 8),), remove_turns=("b",))
    vectors = embed(repacked, TEXTS, EMBEDDER, names=(), known_cues=()).vectors
    assert vectors is not None
    assert near(vectors.traces[0], "We met Bo in Porto yesterday!")
    assert not vectors.units
    assert not vectors.cues
    assert not vectors.notes


def test_an_embedder_that_fails_leaves_a_task_for_each_turn_with_words(batch: Batch) -> None:
    class Broken(HashEmbedder):
        def embed(self, texts: object, *, kind: object = "passage") -> np.ndarray:
            raise EmbeddingFailed("broken")

    with pytest.raises(EmbeddingFailed):
        embed(batch, TEXTS, Broken(32), names=(), known_cues=())
    assert postpone(batch).tasks == tuple(Task("embed", turn.turn_id) for turn in TURNS if turn.text.strip())


def test_nothing_to_derive() -> None:
    empty = derive((), names=(), extractor=RuleCues())
    assert empty == Batch()
    assert embed(empty, {}, EMBEDDER, names=(), known_cues=()).vectors is not None
