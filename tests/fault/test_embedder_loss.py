"""Embedders that fail, change or vanish under a memory: the words stay, are found, and get their vectors in the end."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from mnemic import backfill
from mnemic.errors import EmbedderMismatch, EmbedderUnavailable, EmbeddingFailed, InvalidInput, MissingExtra
from mnemic.memory import Memory
from mnemic.models.checked import Checked
from mnemic.models.doubles import HashEmbedder
from mnemic.models.mnemic_minilm import MnemicMiniLM

TALK = [
    {"role": "user", "name": "Ana", "content": f"I keep {n} herons in my garden. Number {n} likes fish.", "id": f"m{n}"}
    for n in range(12)
]
QUESTION = "Who keeps herons in the garden?"


class Scripted(HashEmbedder):
    """A HashEmbedder to which something happens: ``on_call`` may raise, or return other rows."""

    def __init__(self, on_call=None, dim=64, fingerprint=None):
        super().__init__(dim)
        self.on_call = on_call
        self.calls = 0
        if fingerprint:
            self.fingerprint = self.name = fingerprint

    def embed(self, texts, *, kind="passage"):
        self.calls += 1
        rows = super().embed(texts, kind=kind)
        return rows if self.on_call is None else self.on_call(texts, rows)


def dead(texts, rows):
    raise TimeoutError("no answer")


def refusing(word):
    def on_call(texts, rows):
        if any(word in text for text in texts):
            raise ValueError(f"{word} is not allowed")
        return rows

    return on_call


def with_nan(texts, rows):
    rows[-1, 0] = np.nan
    return rows


def vectors(memory, user_id="u"):
    """Everything that has or lacks a vector, in an order of its own."""
    delta = memory._store.load(user_id, since=0)
    return (
        [(row.turn.turn_id, None if row.unit_vectors is None else row.unit_vectors.tolist()) for row in delta.turns],
        [([s.turn_id for s in t.spans], None if v is None else v.tolist()) for t, v in delta.traces],
        sorted((key, None if v is None else v.tolist()) for key, _, v in delta.cues),
        sorted((note.text, None if v is None else v.tolist()) for note, v in delta.notes),
    )


def expected(tmp_path, batches, embedder=None):
    """The vectors that a memory has when nothing ever fails."""
    with Memory.open(tmp_path / "expected.db", embedder=embedder or HashEmbedder()) as memory:
        for batch in batches:
            memory.add(batch, user_id="u")
        return vectors(memory)


FAILURES = {
    "raises": (dead, "TimeoutError: no answer"),
    "too few": (lambda texts, rows: rows[:-1], "shape"),
    "none": (lambda texts, rows: None, "shape"),
    "zeros": (lambda texts, rows: rows * 0, "norm 0"),
    "a NaN": (with_nan, "norm nan"),
    "wrong length": (lambda texts, rows: rows[:, :8], "shape"),
}


@pytest.mark.fault("B124")
@pytest.mark.fault("B126")
@pytest.mark.fault("B178")
@pytest.mark.fault("B179")
@pytest.mark.parametrize(("failure", "reason"), FAILURES.values(), ids=FAILURES)
def test_words_are_kept_and_found_and_embedded_at_the_next_add(open_memory, tmp_path, failure, reason):
    embedder = Scripted()
    memory = open_memory(embedder=embedder)
    memory.add(TALK[:2], user_id="u")
    embedder.on_call = failure
    added = memory.add(TALK[2:5], user_id="u")
    assert added.new == 3
    (warning,) = added.warnings
    assert warning.startswith("turns stored, and found by their words alone for now: 3: ")
    assert reason in warning
    assert memory.status(user_id="u").counts.pending == 3
    found = memory.search("heron number 4", user_id="u", granularity="turn")
    assert found.results[0].turn_ids == ("m4",)
    assert [reason in warning for warning in found.warnings] == [True]
    embedder.on_call = None
    again = open_memory(embedder=HashEmbedder())
    assert again.search("heron number 4", user_id="u", granularity="turn").results[0].turn_ids == ("m4",)
    assert memory.add(TALK[5:], user_id="u").warnings == ()
    assert memory.status(user_id="u").counts.pending == 0
    assert vectors(memory) == expected(tmp_path, [TALK[:2], TALK[2:5], TALK[5:]])
    assert memory.check() == []


def test_a_retry_of_the_same_call_brings_the_vectors(open_memory, tmp_path):
    embedder = Scripted(dead)
    memory = open_memory(embedder=embedder)
    memory.add(TALK, user_id="u")
    embedder.on_call = None
    assert memory.add(TALK, user_id="u").new == 0
    assert vectors(memory) == expected(tmp_path, [TALK])


def test_reembed_brings_the_vectors_too(open_memory, tmp_path):
    memory = open_memory(embedder=Scripted(dead))
    memory.add(TALK, user_id="u")
    seen = []
    counts = memory.status(user_id="u").counts
    total = memory.reembed(HashEmbedder(), progress=seen.append)
    assert total == sum(seen) == counts.turns + counts.traces + counts.cues + counts.notes
    assert vectors(memory) == expected(tmp_path, [TALK])
    assert memory.reembed(HashEmbedder()) == 0
    assert memory.status(user_id="u").counts.pending == 0


@pytest.mark.fault("B131")
def test_one_text_that_fails_costs_only_itself(open_memory, tmp_path):
    embedder = Scripted(refusing("garlic"))
    memory = open_memory(embedder=embedder)
    bad = {"role": "user", "content": "I hate garlic. " * 200, "id": "bad"}
    assert memory.add([*TALK[:11], bad], user_id="u").new == 12
    memory.add({"role": "user", "content": "Something else.", "id": "next"}, user_id="u")
    turns, traces, *_ = vectors(memory)
    assert [turn_id for turn_id, rows in turns if rows is None] == ["bad"]
    assert {turn_id for ids, row in traces if row is None for turn_id in ids} == {"bad"}
    assert memory.status(user_id="u").counts.pending == 1
    assert "bad" in memory.search("garlic", user_id="u").results[0].turn_ids
    with pytest.raises(EmbeddingFailed, match=r"'bad'.*garlic is not allowed|'T\d+'.*garlic|'garlic'.*garlic"):
        memory.reembed(Scripted(refusing("garlic")))
    embedder.on_call = None
    memory.add("And more.", user_id="u")
    assert memory.status(user_id="u").counts.pending == 0
    assert None not in [row for rows in vectors(memory) for _, row in rows]


@pytest.mark.fault("B126")
def test_what_is_cut_after_the_turns_is_still_made_up_for(open_memory, monkeypatch):
    monkeypatch.setattr(backfill.fill, "__kwdefaults__", {**backfill.fill.__kwdefaults__, "limit": 5})
    embedder = Scripted(dead)
    memory = open_memory(embedder=embedder)
    memory.add(TALK, user_id="u")
    for allowed in (2, 3, 4, 5):
        calls = iter(range(allowed))

        def on_call(texts, rows, calls=calls):
            next(calls)  # at the end StopIteration: the embedder is dead again
            return rows

        embedder.on_call = on_call
        memory.add(f"Add number {allowed}.", user_id="u")
        assert memory.status(user_id="u").counts.pending > 0
    embedder.on_call = None
    memory.add("Now it lives.", user_id="u")
    assert memory.status(user_id="u").counts.pending == 0
    assert None not in [row for rows in vectors(memory) for _, row in rows]


def test_a_trace_that_fails_alone_is_tried_again(open_memory):
    embedder = Scripted(dead)
    memory = open_memory(embedder=embedder)
    memory.add(
        [{"role": "user", "content": "Herons like fish."}, {"role": "user", "content": "Frogs do not."}], user_id="u"
    )
    embedder.on_call = refusing("\n")  # only what is packed of several turns
    memory.add("One more.", user_id="u")
    assert memory.status(user_id="u").counts.pending == 1
    embedder.on_call = None
    memory.add("And another.", user_id="u")
    assert memory.status(user_id="u").counts.pending == 0
    assert None not in [row for rows in vectors(memory) for _, row in rows]


def test_a_dead_embedder_is_asked_once_an_add(open_memory):
    embedder = Scripted(dead)
    memory = open_memory(embedder=embedder)
    for message in TALK:
        memory.add(message, user_id="u")
    assert embedder.calls == len(TALK)


@pytest.mark.fault("B053")
@pytest.mark.parametrize("embedder", [None, "small window"])
def test_a_message_longer_than_any_window(open_memory, embedder):
    class Small(HashEmbedder):
        def embed(self, texts, *, kind="passage"):
            if any(len(text.split()) > 512 for text in texts):
                raise ValueError("longer than 512 tokens")
            return super().embed(texts, kind=kind)

    memory = open_memory(embedder=embedder and Small(512))
    filler = "and so we went on and on without a full stop "
    long = f"Zymurgy {filler * 650} quokkas {filler * 650} heliotrope"
    assert len(long) > 58_000
    added = memory.add([{"role": "user", "content": long, "id": "long", "session_id": "s"}, TALK[0]], user_id="u")
    assert added.warnings == ()
    assert memory.get("long", user_id="u").text == long
    for word in ("zymurgy", "quokkas", "heliotrope"):
        hits = memory.search(word, user_id="u", top_k=500).results
        assert hits[0].turn_ids == ("long",)
        assert any(word in hit.quotes[0].lower() for hit in hits)
        assert max(len(hit.quotes[0]) for hit in hits) < 2000


@pytest.mark.parametrize(
    "error", [MissingExtra("the embedder", "multilingual"), EmbedderUnavailable("altered: reinstall")]
)
def test_a_model_that_is_gone_leaves_words_and_says_what_to_install(open_memory, error):
    def gone(texts, rows):
        raise error

    embedder = Scripted()
    memory = open_memory(embedder=embedder)
    memory.add(TALK[0], user_id="u")
    embedder.on_call = gone
    added = memory.add(TALK[1], user_id="u")
    assert added.new == 1
    assert str(error) in added.warnings[0]
    found = memory.search("heron", user_id="u")
    assert str(error) in found.warnings[0]
    assert found.results


@pytest.mark.parametrize("damage", ["missing", "altered"])
def test_files_of_the_embedded_embedder_that_are_missing_or_altered(tmp_path, damage):
    weights = tmp_path / "model.onnx"
    if damage == "altered":
        weights.write_bytes(b"not a model")
    with Memory.open(tmp_path / "m.db", embedder=MnemicMiniLM(weights=weights)) as memory:
        added = memory.add(TALK, user_id="u")
        assert added.new == 12
        assert "model.onnx" in added.warnings[0]
        assert "pip install" in added.warnings[0]
        found = memory.search("heron number 4", user_id="u")
        assert found.results
        assert "model.onnx" in found.warnings[0]


# another embedder --------------------------------------------------------------------------------------


@pytest.mark.fault("B174")
@pytest.mark.fault("B175")
@pytest.mark.fault("B176")
@pytest.mark.parametrize(
    "other", [HashEmbedder(32), Scripted(fingerprint="hash-64-v2")], ids=["other size", "other model"]
)
def test_another_embedder_is_refused_with_the_command_and_changes_nothing(open_memory, tmp_path, other):
    memory = open_memory()
    memory.add(TALK, user_id="u")
    before = vectors(memory)
    with pytest.raises(EmbedderMismatch, match=r"memory\.db holds vectors of hash-64.*embedder=None\)\.reembed"):
        open_memory(embedder=other)
    assert vectors(memory) == before
    lexical = open_memory(embedder=None)
    assert lexical.search(QUESTION, user_id="u").results
    assert lexical.reembed(other) > 0
    assert vectors(lexical) == expected(tmp_path, [TALK], other)
    assert lexical.status().embedder == other.name
    assert lexical.search(QUESTION, user_id="u").warnings == ()
    with pytest.raises(EmbedderMismatch, match="hash-64-v1"):
        open_memory()
    assert open_memory(embedder=other).search(QUESTION, user_id="u").results


@pytest.mark.parametrize(
    "other", [HashEmbedder(32), Scripted(fingerprint="hash-64-v2")], ids=["other size", "other model"]
)
def test_a_memory_that_was_open_meanwhile_goes_on_by_words_and_says_so(open_memory, tmp_path, other):
    stale, memory = open_memory(), open_memory()
    memory.add(TALK[:6], user_id="u")
    stale.search(QUESTION, user_id="u")
    memory.reembed(other)
    found = stale.search("heron number 4", user_id="u", granularity="turn", explain=True)
    assert found.results[0].turn_ids == ("m4",)
    assert [("open" in warning, other.name in warning) for warning in found.warnings] == [(True, True)]
    added = stale.add(TALK[6:], user_id="u")
    assert added.new == 6
    assert other.name in added.warnings[0]
    assert stale.delete(user_id="u", turn_id="m0") == 1
    assert memory.status(user_id="u").counts.pending == 7
    memory.add({"role": "user", "content": "The end.", "id": "end"}, user_id="u")
    assert None not in [row for rows in vectors(memory) for _, row in rows]
    assert memory.status(user_id="u").counts.pending == 0
    assert memory.search(QUESTION, user_id="u").warnings == ()


def test_reembed_cut_in_the_middle_goes_on_there_and_the_old_vectors_serve(open_memory, tmp_path, monkeypatch):
    monkeypatch.setattr(backfill.fill, "__kwdefaults__", {**backfill.fill.__kwdefaults__, "limit": 5})
    memory = open_memory()
    memory.add(TALK, user_id="u")
    memory.add(TALK, user_id="v")
    before, answer = vectors(memory), memory.search(QUESTION, user_id="u").results
    other = Scripted(fingerprint="other")

    done = []

    def cut(count):
        done.append(count)
        if len(done) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.reembed(other, progress=cut)
    assert vectors(memory) == before
    assert memory.status().embedder == "hash-64"
    assert memory.search(QUESTION, user_id="u").results == answer
    assert open_memory().search(QUESTION, user_id="u").results == answer
    other.on_call = dead
    with pytest.raises(EmbeddingFailed, match="no answer"):
        memory.reembed(other)
    other.on_call = None
    seen = []
    memory.reembed(other, progress=seen.append)
    counts = memory.status(user_id="u").counts
    assert sum(seen) == 2 * (counts.turns + counts.traces + counts.cues + counts.notes) - sum(done)
    assert vectors(memory) == expected(tmp_path, [TALK], Scripted(fingerprint="other"))


REEMBED = """
import sys
from mnemic.memory import Memory
from mnemic.models.doubles import HashEmbedder
with Memory.open(sys.argv[1], embedder=None) as memory:
    memory.reembed(HashEmbedder(128), progress=lambda count: print(count, flush=True))
"""


def test_reembed_killed_goes_on_where_it_stopped(open_memory, tmp_path):
    memory = open_memory()
    given = [{"role": "user", "content": f"I keep {n} herons.", "id": str(n)} for n in range(600)]
    memory.add(given, user_id="u")
    before = vectors(memory)
    process = subprocess.Popen(
        [sys.executable, "-c", REEMBED, str(tmp_path / "memory.db")], stdout=subprocess.PIPE, text=True
    )
    first = int(process.stdout.readline())
    process.kill()
    process.communicate()
    assert vectors(memory) == before
    assert memory.check() == []
    seen = []
    memory.reembed(HashEmbedder(128), progress=seen.append)
    counts = memory.status(user_id="u").counts
    assert 0 < sum(seen) <= counts.turns + counts.traces + counts.cues + counts.notes - first
    assert vectors(memory) == expected(tmp_path, [given], HashEmbedder(128))


def test_what_others_do_during_a_reembed_is_embedded_too(open_memory):
    memory, old, lexical = open_memory(), open_memory(), open_memory(embedder=None)
    memory.add([{"role": "user", "content": f"I keep {n} herons.", "id": str(n)} for n in range(300)], user_id="u")
    done = threading.Event()
    errors = []

    def disturb(other, name):
        n = 0
        try:
            while n < 5 or (n < 25 and not done.is_set()):
                other.add(
                    {"role": "user", "content": f"{name} says {n}. Herons like fish.", "id": f"{name}{n}"}, user_id="u"
                )
                other.search("herons", user_id="u")
                other.delete(user_id="u", turn_id=str(300 - 1 - 2 * n - (name == "old")))
                n += 1
        except Exception as error:  # a thread's end: the test raises it
            errors.append(error)
            raise

    threads = [threading.Thread(target=disturb, args=pair) for pair in ((old, "old"), (lexical, "lexical"))]
    for thread in threads:
        thread.start()
    slow = Scripted(lambda texts, rows: time.sleep(0.05) or rows, fingerprint="slow", dim=32)
    memory.reembed(slow)
    done.set()
    for thread in threads:
        thread.join()
    assert errors == []
    slow.on_call = None
    memory.add("The last one.", user_id="u")
    assert memory.status(user_id="u").counts.pending == 0
    assert None not in [row for rows in vectors(memory) for _, row in rows]
    assert memory.check() == []
    with Memory.open(Path(os.fspath(memory._store._database.path)), embedder=slow) as fresh:
        assert [hit.quotes for hit in fresh.search("herons", user_id="u").results] == [
            hit.quotes for hit in memory.search("herons", user_id="u").results
        ]


def test_reembed_needs_an_embedder(open_memory):
    memory = open_memory()
    for wrong in ("nonsense", None):
        with pytest.raises(InvalidInput):
            memory.reembed(wrong)


def test_vectors_made_late_are_those_made_at_once(open_memory, tmp_path):
    """Batches differ, rows do not: what is embedded late is the same text, in the same shape."""
    real = Checked(HashEmbedder())
    memory = open_memory(embedder=None)
    memory.add(TALK, user_id="u")
    memory.reembed(real)
    assert vectors(memory) == expected(tmp_path, [TALK])
