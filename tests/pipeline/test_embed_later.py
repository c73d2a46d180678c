"""Words first, their vectors later: by the process' own thread, by a worker, or by whoever waits."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from mnemic.errors import EmbeddingFailed, InvalidInput
from mnemic.models.doubles import HashEmbedder

TALK = [{"role": "user", "name": "Ana", "content": f"I keep {n} herons. They like fish."} for n in range(30)]


class Counted(HashEmbedder):
    """Counts what it is asked; each text takes a moment, and some are refused."""

    def __init__(self, delay_s=0.0, refuses=None):
        super().__init__()
        self.texts = []
        self.delay_s = delay_s
        self.refuses = refuses
        self.lock = threading.Lock()

    def embed(self, texts, *, kind="passage"):
        if self.refuses is not None and any(self.refuses in text for text in texts):
            raise EmbeddingFailed("it refuses")
        with self.lock:
            self.texts += texts
        time.sleep(self.delay_s * len(texts))
        return super().embed(texts, kind=kind)


def vectors(memory):
    delta = memory._store.load("ana", since=0)
    rows = [row.unit_vectors for row in delta.turns] + [vector for _, vector in (*delta.traces, *delta.notes)]
    return [*rows, *(vector for _, _, vector in delta.cues)]


def waiting(memory):
    return memory.status(user_id="ana").enrichment.unembedded


def test_words_are_there_at_once_and_nothing_is_embedded(open_memory):
    embedder = Counted()
    memory = open_memory(embedder=embedder, workers=0)
    added = memory.add(TALK, user_id="ana", embed="later")
    assert (added.new, added.warnings, embedder.texts) == (30, (), [])
    assert waiting(memory) == memory.status().enrichment.unembedded == 30
    assert "I keep 7 herons" in memory.search("7 herons", user_id="ana").results[0].text
    assert memory.add(TALK[:1], user_id="ana", embed="later").new == 1
    assert all("keep" not in text for text in embedder.texts)


def test_waiting_makes_the_same_vectors_as_adding(open_memory, tmp_path):
    memory = open_memory(workers=0)
    memory.add(TALK, user_id="ana", embed="later")
    pieces = []
    found = memory.wait(user_id="ana", progress=pieces.append)
    assert (found.unembedded, waiting(memory)) == (0, 0)
    assert sum(pieces) >= 30
    now = type(memory).open(tmp_path / "now.db", embedder=HashEmbedder())
    with now:
        now.add(TALK, user_id="ana")
        for mine, theirs in zip(vectors(memory), vectors(now), strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_the_memorys_own_thread_makes_them(open_memory):
    embedder = Counted()
    memory = open_memory(embedder=embedder, workers=1)
    memory.add(TALK, user_id="ana", embed="later")
    deadline = time.monotonic() + 30
    while waiting(memory) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert waiting(memory) == 0
    assert all(found is not None for found in vectors(memory))


def test_a_memory_that_is_opened_goes_on_with_what_was_left(open_memory):
    first = open_memory(workers=0)
    first.add(TALK, user_id="ana", embed="later")
    second = open_memory(workers=1)
    deadline = time.monotonic() + 30
    while waiting(second) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert waiting(first) == 0


def test_two_memories_do_not_make_the_same_vectors(open_memory):
    embedders = [Counted(0.0005), Counted(0.0005)]
    memories = [open_memory(embedder=embedder, workers=0) for embedder in embedders]
    for user in ("ana", "bo", "cy", "di"):
        memories[0].add([{**one, "content": f"{user}: {one['content']}"} for one in TALK], user_id=user, embed="later")
    threads = [threading.Thread(target=memory.wait) for memory in memories]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert memories[0].status().enrichment.unembedded == 0
    of_traces = [text for embedder in embedders for text in embedder.texts if "\n" in text]
    assert len(of_traces) == len(set(of_traces))
    assert all(embedder.texts for embedder in embedders)


def test_waiting_ends_in_time_and_goes_on_where_it_stopped(open_memory):
    memory = open_memory(embedder=Counted(0.003), workers=0)
    memory.add(TALK * 10, user_id="ana", embed="later")
    started = time.monotonic()
    left = memory.wait(timeout=0.1).unembedded
    assert 0 < left <= 300
    assert time.monotonic() - started < 10
    memory._writer.embedder.delay_s = 0.0
    assert memory.wait().unembedded == 0


def test_an_add_does_not_wait_for_a_long_backlog(open_memory):
    embedder = Counted()
    memory = open_memory(embedder=embedder, workers=0)
    for _ in range(40):
        memory.add(TALK, user_id="ana", embed="later")
    memory.add("How are the herons?", user_id="ana")
    assert 0 < len(embedder.texts) < 100
    assert waiting(memory) == 1200


def test_what_cannot_be_embedded_is_told_and_tried_again(open_memory):
    embedder = Counted(refuses="7")
    memory = open_memory(embedder=embedder, workers=0)
    memory.add(TALK, user_id="ana", embed="later")
    found = memory.wait(user_id="ana")
    assert 0 < found.unembedded < 10
    assert found.waiting_for == ("some words could not be embedded (see the log)",)
    embedder.refuses = None
    found = memory.wait(user_id="ana")
    assert (found.unembedded, found.waiting_for) == (0, ())


def test_a_dead_embedder_does_not_hold_up_who_waits(open_memory):
    memory = open_memory(embedder=Counted(refuses=""), workers=0)
    memory.add(TALK, user_id="ana", embed="later")
    assert memory.wait().unembedded == 30


def test_without_an_embedder_nothing_is_waited_for(open_memory):
    memory = open_memory(embedder=None)
    memory.add(TALK, user_id="ana", embed="later")
    assert memory.wait().unembedded == 30


def test_a_message_without_words_waits_for_nothing(open_memory):
    memory = open_memory(workers=0)
    picture = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "hive.png"}}]}
    memory.add([picture, TALK[0]], user_id="ana", embed="later")
    assert waiting(memory) == 1
    assert memory.wait().unembedded == 0


def test_a_closed_memory_gives_the_work_back(open_memory):
    memory = open_memory(embedder=Counted(0.002), workers=1)
    memory.add(TALK * 4, user_id="ana", embed="later")
    time.sleep(0.05)
    memory.close()
    other = open_memory(workers=0)
    assert other.wait(timeout=30).unembedded == 0


def test_embed_is_now_or_later(memory):
    with pytest.raises(InvalidInput, match="embed is 'now' or 'later', not 'soon'"):
        memory.add("Hi.", user_id="ana", embed="soon")
    assert memory.users() == []
