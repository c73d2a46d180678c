"""The whole log, and going on behind a place: ``history()`` without an id, ``get_all(after=seq)``; and warming."""

from __future__ import annotations

import pytest

from mnemic.errors import EmbeddingFailed, NotFound
from mnemic.models.doubles import HashEmbedder

SAID = [{"id": f"m{n}", "role": "user", "name": "Ana", "content": f"I moved to town number {n}."} for n in range(4)]


def test_history_without_an_id_is_that_of_everything(memory):
    memory.add(SAID, user_id="ana")
    memory.update("m1", user_id="ana", metadata={"a": 1})
    whole = memory.history(user_id="ana")
    assert [one.action for one in whole] == ["ADD"] * 4 + ["UPDATE"]
    assert [one for one in whole if one.target_id == "m1"] == memory.history("m1", user_id="ana")
    assert memory.history(user_id="bo") == []


def test_a_place_goes_on_behind_an_erased_turn_where_its_id_does_not(memory):
    memory.add(SAID, user_id="ana")
    place = memory.get("m1", user_id="ana").seq
    memory.delete(user_id="ana", turn_id="m1")
    assert [turn.turn_id for turn in memory.get_all(user_id="ana", after=place)] == ["m2", "m3"]
    assert [turn.turn_id for turn in memory.get_all(user_id="ana", after=-1)] == ["m0", "m2", "m3"]
    with pytest.raises(NotFound):
        memory.get_all(user_id="ana", after="m1")


def test_status_says_whether_anything_is_kept(memory):
    memory.add(SAID, user_id="ana")
    assert memory.status(user_id="ana").keeps
    assert not memory.status(user_id="bo").keeps
    assert not memory.status().keeps
    memory.delete_all(user_id="ana")
    assert not memory.status(user_id="ana").keeps


def test_warming_loads_the_embedder_and_a_failing_one_is_left_to_the_search(open_memory):
    class Counting(HashEmbedder):
        asked = 0
        fails = False

        def embed(self, texts, *, kind="passage"):
            Counting.asked += 1
            if self.fails:
                raise EmbeddingFailed("it is ill")
            return super().embed(texts, kind=kind)

    memory = open_memory(embedder=Counting())
    memory.warm()
    assert Counting.asked == 1
    Counting.fails = True
    memory.warm()
    assert Counting.asked == 2
    open_memory(embedder=None).warm()
