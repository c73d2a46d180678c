"""Memory.episodes and Memory.get: what the dialogue falls into, as stored and as local rules cut it."""

from __future__ import annotations

import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_memory_modes import LAYERED, MONDAY, TUESDAY, fill

from mnemic.errors import InvalidScope, NotFound
from mnemic.memory import Memory
from mnemic.models.doubles import HashEmbedder
from mnemic.protocols import Batch
from mnemic.types import Episode, Interval

NOW = datetime(2024, 7, 1, tzinfo=UTC)


def store_episode(memory, *turn_ids, user_id="ana", session_id="monday", topic="bees", summary="Who keeps bees."):
    one = Episode("", session_id, turn_ids, topic, summary, Interval(None, None), "scripted:model")
    return memory._store.write(user_id, Batch(episodes=(one,)), now=NOW).episode_ids[0]


def test_local_episodes_have_turns_times_and_a_topic_of_their_own_words(memory):
    fill(memory)
    monday, tuesday = memory.episodes(user_id="ana")
    assert (monday.episode_id, monday.session_id, monday.made_by) == ("E:m1", "monday", "rules")
    assert monday.turn_ids == ("m1", "m2", "m3")
    assert monday.time.start == monday.time.end == datetime(2024, 6, 3, 18, 5, tzinfo=UTC)
    assert monday.summary == ""
    words = "\n".join(message["content"] for message in MONDAY).casefold()
    assert monday.topic
    assert all(name.casefold() in words for name in monday.topic.split(", "))
    assert memory.episodes(user_id="ana", session_id="tuesday") == [tuesday]
    assert memory.episodes(user_id="nobody") == []
    assert memory.episodes(user_id="ana", session_id="sunday") == []


def test_stored_episodes_stand_where_their_turns_do_and_local_ones_between(memory):
    fill(memory)
    stored = store_episode(memory, "m2", "m3")
    assert [one.episode_id for one in memory.episodes(user_id="ana")] == ["E:m1", stored, "E:t1"]
    one = memory.get(stored, user_id="ana")
    assert (one.topic, one.made_by) == ("bees", "scripted:model")
    assert memory.get("E:m1", user_id="ana") == memory.episodes(user_id="ana")[0]
    assert memory.get("E:m1", user_id="ana").turn_ids == ("m1",)
    with pytest.raises(NotFound, match="episode 'E:m2'"):
        memory.get("E:m2", user_id="ana")
    memory.delete(user_id="ana", turn_id="m3")
    assert [one.episode_id for one in memory.episodes(user_id="ana")] == ["E:m1", "E:t1"]
    with pytest.raises(NotFound):
        memory.get(stored, user_id="ana")


def test_ids_of_callers_go_first_and_long_ones_have_episodes_too(memory):
    memory.add({"id": "E:1", "role": "user", "content": "tea"}, user_id="u", session_id="a")
    memory.add({"id": "1", "role": "user", "content": "rain"}, user_id="u", session_id="b")
    assert memory.get("E:1", user_id="u").text == "tea"
    assert [one.episode_id for one in memory.episodes(user_id="u")] == ["E:E:1", "E:1"]
    longest = "x" * 512
    memory.add({"id": longest, "role": "user", "content": "snow"}, user_id="u", session_id="c")
    assert memory.get(f"E:{longest}", user_id="u").turn_ids == (longest,)
    for wrong in ("E:", "E:" + "x" * 513, "x" * 513):
        with pytest.raises(InvalidScope):
            memory.get(wrong, user_id="u")


def test_another_users_episode_is_not_found(memory):
    fill(memory)
    stored = store_episode(memory, "m1", "m2")
    memory.add(TUESDAY, user_id="bo", session_id="tuesday")
    for id in (stored, "E:m3"):
        with pytest.raises(NotFound):
            memory.get(id, user_id="bo")
    with pytest.raises(InvalidScope):
        memory.episodes(user_id="")


@pytest.mark.parametrize("config", ["default", "himem"])
def test_a_stored_episode_is_found_under_its_id(memory, config):
    fill(memory)
    stored = store_episode(memory, "m1", "m2", "m3", topic="apiarist", summary="Ana has an apiarist for a landlord.")
    found = memory.search("Who keeps bees?", user_id="ana", mode="episodes", config=config, top_k=1)
    assert [hit.episode_id for hit in found.results] == [stored]
    if config == "himem":  # its topic and summary are words of its own
        found = memory.search("apiarist", user_id="ana", mode="episodes", config=config, top_k=1)
        assert [hit.episode_id for hit in found.results] == [stored]
        narrowed = memory.search("apiarist", user_id="ana", mode="episodes", config=config, since="2024-06-04")
        assert stored not in [hit.episode_id for hit in narrowed.results]


def test_a_part_of_a_stored_episode_shows_no_word_of_the_rest(memory):
    fill(memory)
    memory.update("m3", user_id="ana", metadata={"secret": True})
    store_episode(memory, "m1", "m2", "m3", topic="landlord", summary="The landlord keeps bees.")
    for mode in LAYERED:
        found = memory.search("landlord bees roof", user_id="ana", mode=mode, filters={"secret": {"exists": False}})
        assert "landlord" not in str(found)
        assert "m3" not in [turn_id for hit in found.results for turn_id in hit.turn_ids]


words = st.lists(
    st.sampled_from(("tea", "Berlin", "hello again", "bees", "the kiln", "...", "x?")), min_size=1, max_size=3
)
message = st.fixed_dictionaries(
    {
        "role": st.sampled_from(("user", "assistant")),
        "content": words.map(" ".join),
        "session_id": st.sampled_from(("s1", "s2")),
        "timestamp": st.sampled_from((None, "2024-05-07T10:00:00Z", "2024-05-09T10:00:00Z")),
    }
)
step = st.one_of(
    st.tuples(st.just("add"), st.lists(message, min_size=1, max_size=6)),
    st.tuples(st.just("erase"), st.integers(0, 20)),
    st.tuples(st.just("store"), st.integers(0, 20), st.integers(1, 4)),
    st.tuples(st.just("look")),
)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(step, max_size=8))
def test_whatever_happens_every_turn_lies_in_one_episode_before_and_after_a_restart(steps):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        with Memory.open(path, embedder=HashEmbedder(16)) as memory:
            for name, *details in steps:
                turns = memory.get_all(user_id="u")
                if name == "add":
                    memory.add(details[0], user_id="u")
                elif name == "erase" and turns:
                    memory.delete(user_id="u", turn_id=turns[details[0] % len(turns)].turn_id)
                elif name == "store" and turns:
                    first = turns[details[0] % len(turns)]
                    session = [one.turn_id for one in turns if one.session_id == first.session_id]
                    free = {one for it in memory.episodes(user_id="u") if it.made_by == "rules" for one in it.turn_ids}
                    place = session.index(first.turn_id)
                    chosen = session[place : place + details[1]]
                    if set(chosen) <= free:
                        store_episode(memory, *chosen, user_id="u", session_id=first.session_id)
                memory.search("bees", user_id="u", mode="episodes")
            followed = memory.episodes(user_id="u")
            every = memory.get_all(user_id="u")
            for session in {one.session_id for one in every}:
                cut = memory.episodes(user_id="u", session_id=session)
                assert [turn_id for one in cut for turn_id in one.turn_ids] == [
                    one.turn_id for one in every if one.session_id == session
                ]
                assert [one for one in followed if one.session_id == session] == cut
            for one in followed:
                assert memory.get(one.episode_id, user_id="u") == one
            place = {one.turn_id: one.seq for one in every}
            assert [place[one.turn_ids[0]] for one in followed] == sorted(place[one.turn_ids[0]] for one in followed)
        with Memory.open(path, embedder=HashEmbedder(16)) as reopened:
            assert reopened.episodes(user_id="u") == followed


def test_the_command_line_shows_modes(memory, tmp_path, cli):
    fill(memory)
    where = ("--db", str(tmp_path / "memory.db"), "--user", "ana", "--embedder", "none")
    asked = ("search", "Who plays the cello?", *where)
    found = json.loads(cli(*asked, "--mode", "notes", "--json")[1])
    assert "Ana has a sister who plays the cello" in [one["text"] for one in found["notes"]]
    assert found["notes"][0]["sources"] == [["t1", 0, 31]]
    assert "episode_id" not in found["results"][0]
    assert cli(*asked, "--mode", "episodes", "-k", "1")[1].startswith("1. E:t1  session tuesday\n")
    assert "notes: sufficient, by relevance" in cli(*asked, "--mode", "best_effort")[1]
    code, _, told = cli(*asked, "--evolve")
    assert code == 1
    assert "best_effort" in told
