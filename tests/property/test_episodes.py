"""Every turn that is there lies in exactly one episode, whatever was added, erased, or made by a model."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_kit import Said, World
from life_kit import Life, operation
from mnemic.algo.activation import inverse_frequency
from mnemic.algo.episodes import distinctive, owners, stretches


def episodes(graph: Any, session: str | None = None) -> list[tuple[str, ...]]:
    return [tuple(graph.turn_ids[slot] for slot in one.turns) for one in stretches(graph, session)]


@settings(max_examples=100, deadline=None)
@given(st.lists(operation, max_size=25))
def test_episodes_are_contiguous_exhaustive_and_do_not_overlap(operations: list[Any]) -> None:
    life = Life()
    for name, *details in operations:
        life.happen(name, *details)
    life.happen("sync")
    graph = life.index.graph()
    cut = stretches(graph)
    for session, slots in graph.sessions.items():
        own = [one for one in cut if graph.turn_session[one.turns[0]] == session]
        assert [slot for one in own for slot in one.turns] == slots.tolist()
        assert own == stretches(graph, session)
    assert sorted(slot for one in cut for slot in one.turns) == np.flatnonzero(graph.turn_alive).tolist()
    assert [one.turns[0] for one in cut] == sorted(one.turns[0] for one in cut)
    stored = {one.episode_id: one for one in life.world.episodes.values()}
    assert {one.episode_id for one in cut if one.stored} == set(stored)
    for place, one in enumerate(cut):
        first = graph.turn_ids[one.turns[0]]
        assert one.episode_id == (one.stored.episode_id if one.stored else f"E:{first}")
        assert set(owners(graph, cut)[list(one.turns)]) == {place}
    assert stretches(graph, "no such session") == []


def talk(world: World, *days: float) -> None:
    world.add(*[Said(f"t{i}", ["rain and tea"], day=day) for i, day in enumerate(days)])


def test_a_long_pause_begins_an_episode_and_a_stored_one_is_not_cut() -> None:
    world = World()
    talk(world, 0.0, 0.001, 0.002, 0.5, 0.501, 0.502)
    assert episodes(world.graph()) == [("t0", "t1", "t2"), ("t3", "t4", "t5")]
    world.add_episode("t2", "t3", "t4")
    assert episodes(world.graph()) == [("t0", "t1"), ("t2", "t3", "t4"), ("t5",)]
    assert [one.episode_id for one in stretches(world.graph())] == ["E:t0", "E1", "E:t5"]


def test_only_sessions_that_changed_are_cut_again() -> None:
    world = World()
    world.add(Said("a", ["tea"]), Said("b", ["rain"], session="s2"))
    index = world.index()
    stretches(index.graph())
    assert set(index.graph().cuts) == {"s1", "s2"}
    world.add(Said("c", ["more tea"]))
    index.apply(world.delta(index.revision))
    assert set(index.graph().cuts) == {"s2"}
    assert episodes(index.graph()) == [("a", "c"), ("b",)]


def test_words_of_the_last_time_begin_an_episode_but_no_reply_does() -> None:
    world = World()
    said = [Said(f"t{i}", ["rain and tea"], role="assistant" if i % 2 else "user", day=None) for i in range(4)]
    again = Said("t4", ["hello again"], day=None), Said("t5", ["hello to you"], role="assistant", day=None)
    world.add(*said, *again, Said("t6", ["rain"], day=None), Said("t7", ["tea"], role="assistant", day=None))
    assert episodes(world.graph()) == [("t0", "t1", "t2", "t3"), ("t4", "t5", "t6", "t7")]


def test_the_cues_that_tell_turns_from_others_are_frequent_there_and_rare_elsewhere() -> None:
    world = World()
    world.add(Said("a", ["CAT CAT naps", "RAIN"]), Said("b", ["RAIN"]), Said("c", ["RAIN TRAIN PIANO"]), together=1)
    graph = world.graph()
    rarity = inverse_frequency(graph.frequency, len(graph.trace_ids))
    named = [[graph.cue_keys[cue] for cue in distinctive(graph, [slot], rarity)] for slot in range(3)]
    assert named == [["cat", "rain"], ["rain"], ["piano", "train", "rain"]]
