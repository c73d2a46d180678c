"""The whole log, and going on behind a place: ``history()`` without an id, ``get_all(after=seq)``; and warming."""

from __future__ import annotations

import pytest

from mnemic.errors import EmbeddingFailed, InvalidInput, NotFound
from mnemic.memory import past
from mnemic.models.doubles import HashEmbedder
from mnemic.types import STATUSES

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


@pytest.mark.parametrize("asked", [{}, {"as_of": "2024-06-01"}, {"statuses": STATUSES}, {"known_at": "2100-01-01"}])
def test_pages_of_notes_are_those_of_the_whole(memory, monkeypatch, asked):
    monkeypatch.setattr(past, "_PIECE", 3)  # as if there were very many
    memory.add(SAID, user_id="ana", timestamp="2024-01-01T10:00Z")
    whole = memory.notes(user_id="ana", **asked)
    assert len(whole) >= (1 if "known_at" not in asked else 0)
    paged, after = [], None
    while page := memory.notes(user_id="ana", limit=1, after=after, **asked):
        paged += page
        after = f"{page[-1].note_id}.{page[-1].version}"
    assert paged == whole


def test_the_log_is_read_in_pages_by_action_cause_and_time(memory):
    memory.add(SAID, user_id="ana")
    first = memory.history(user_id="ana")[0]
    memory.update("m1", user_id="ana", metadata={"a": 1})
    memory.undo(first.operation_id, user_id="ana")
    whole = memory.history(user_id="ana")
    assert memory.history(user_id="ana", newest_first=True) == whole[::-1]
    assert memory.history(user_id="ana", limit=2, after=whole[1].operation_id) == whole[2:4]
    assert memory.history(user_id="ana", newest_first=True, limit=1, after=whole[1].operation_id) == whole[:1]
    assert memory.history(user_id="ana", action="UPDATE") == [one for one in whole if one.action == "UPDATE"] != []
    assert memory.history(user_id="ana", trigger="undo") == whole[-1:]
    assert memory.history("m1", user_id="ana", limit=1) == [one for one in whole if one.target_id == "m1"]
    assert memory.history(user_id="ana", since=whole[0].at) == whole
    assert memory.history(user_id="ana", until=whole[0].at) == []
    for wrong in ({"action": "add"}, {"after": "N1"}, {"limit": 0}, {"since": "soon"}, {"trigger": ""}):
        with pytest.raises(InvalidInput):
            memory.history(user_id="ana", **wrong)
