"""An index that followed the rows, whatever happened to them, equals one built afresh."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_kit import EMBEDDER, Said, World, by_id, note_words, question, ranked, words
from life_kit import VOCABULARY, Life, operation
from mnemic.algo.episodes import stretches
from mnemic.config import Fusion, Hero
from mnemic.index import UserIndex, told


def scores(index: UserIndex, config: Any) -> dict[str, float]:
    graph = index.graph()
    asked = question(graph, "cat lisbon tea", "cat", "lisbon", named=["Ana"], asked=[(1.0, 2.0)])
    return by_id(graph, ranked(graph, asked, config))


@settings(max_examples=120, deadline=None)
@given(st.lists(operation, max_size=20))
def test_an_index_that_followed_equals_one_built_afresh(operations: list[Any]) -> None:
    life = Life()
    for name, *details in operations:
        life.happen(name, *details)
    life.happen("sync")
    followed, fresh = life.index, life.world.index()

    assert followed.revision == fresh.revision
    assert told(followed.graph()) == told(fresh.graph())
    for query in (*[[word.lower()] for word in VOCABULARY], ["lisbon", "tea", "unheard"]):
        assert words(followed.graph(), query) == words(fresh.graph(), query)
        assert followed.graph().windows.coverage(query).max(initial=0) == pytest.approx(
            fresh.graph().windows.coverage(query).max(initial=0)
        )
        assert note_words(followed.graph(), query) == pytest.approx(note_words(fresh.graph(), query))
    for config in (Fusion(), Hero()):
        assert scores(followed, config) == pytest.approx(scores(fresh, config), abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.lists(operation, max_size=12))
def test_nothing_of_what_was_removed_stays_readable(operations: list[Any]) -> None:
    life = Life()
    life.happen("add", [(["SECRET password"], "s1", "Zoe")], False, False)
    life.happen("note", [0], "SECRET", True)
    life.happen("sync")
    for name, *details in operations:
        life.happen(name, *details)
    life.world.remove(*list(life.world.turns))
    life.happen("sync")

    graph = life.index.graph()
    assert not any(graph.turn_ids)
    assert not any(graph.turn_session)
    assert not any(graph.cue_keys)
    assert not any(graph.note_text)
    assert not any(graph.note_about)
    assert not any(graph.cue_surfaces)
    assert not graph.episodes
    assert stretches(graph) == []
    assert not any(graph.note_words.frequency(term) for term in ("secret", "like"))
    assert not any(graph.speakers)
    assert not graph.cue_slot
    for vectors in (graph.unit_vectors, graph.trace_vectors, graph.note_vectors, graph.cue_vectors):
        assert not vectors.any()
    assert not graph.windows.frequency("secret")
    assert not graph.windows.frequency("password")


def test_a_key_that_comes_back_after_its_last_mention_went_is_a_new_cue() -> None:
    world = World()
    world.add(Said("a", ["CAT naps"]), Said("b", ["rain"]))
    index = world.index()
    world.remove("a")
    index.apply(world.delta(index.revision))
    assert "cat" not in index.graph().cue_slot

    world.add(Said("c", ["CAT purrs"]))
    index.apply(world.delta(index.revision))
    graph = index.graph()
    assert graph.cue_keys[graph.cue_slot["cat"]] == "cat"
    assert told(graph)["mentions"] == {(("c", 0), "cat"): 1.0}


def test_a_cue_whose_only_turn_is_replaced_in_one_write_keeps_its_vector() -> None:
    world = World()
    world.add(Said("a", ["CAT naps"]))
    index = world.index()
    world.swap(["a"], Said("b", ["CAT purrs"]))
    delta = world.delta(index.revision)
    assert not delta.cues  # its row did not change, so it is not named again
    index.apply(delta)
    assert told(index.graph()) == told(world.graph())
    assert index.graph().cue_vectors[index.graph().cue_slot["cat"]].any()


def test_the_window_of_a_turn_follows_the_removal_of_the_one_before() -> None:
    world = World()
    world.add(Said("a", ["alpha"]), Said("b", ["beta"]), Said("c", ["gamma"]))
    index = world.index()
    assert words(index.graph(), ["beta"])["c", 0] > 0
    world.remove("b")
    index.apply(world.delta(index.revision))
    assert words(index.graph(), ["beta"]) == {("a", 0): 0.0, ("c", 0): 0.0}
    assert words(index.graph(), ["alpha"])["c", 0] > 0
    assert words(index.graph(), ["alpha"]) == words(world.graph(), ["alpha"])


def test_the_window_of_a_new_turn_reaches_back_over_a_removed_last_one() -> None:
    world = World()
    world.add(Said("a", ["alpha"]), Said("b", ["beta"]))
    index = world.index()
    world.remove("b")
    index.apply(world.delta(index.revision))
    world.add(Said("c", ["gamma"]))
    index.apply(world.delta(index.revision))
    assert words(index.graph(), ["alpha"])["c", 0] > 0
    assert told(index.graph()) == told(world.graph())


def test_a_word_in_a_long_turn_is_found_where_it_stands() -> None:
    world = World()
    filler = ["once upon a time there was rain " * 12 for _ in range(40)]
    world.add(Said("long", [*filler[:20], "zanzibar", *filler[20:]]), Said("after", ["gamma"]))
    graph = world.graph()
    found = [unit for (turn, unit), score in sorted(words(graph, ["zanzibar"]).items()) if score > 0 and turn == "long"]
    starts = [start for turn, start in sorted(words(graph, ["zanzibar"])) if turn == "long"]
    # The piece that holds it, and the one that it comes before; not the other thousands of characters.
    assert 0 < len(found) < len(starts) / 4
    assert starts[20] in found
    assert words(graph, ["zanzibar"])["after", 0] == 0
    index = world.index()
    world.remove("long")
    index.apply(world.delta(index.revision))
    assert words(index.graph(), ["gamma"]) == words(world.graph(), ["gamma"])
    assert not index.graph().windows.frequency("zanzibar")


def test_a_removed_trace_leaves_its_units_to_no_trace() -> None:
    world = World()
    world.add(Said("a", ["CAT naps"]))
    index = world.index()
    index.apply(replace(world.delta(), removed_traces=("T1",), traces=()))
    assert told(index.graph())["frequency"] == {}
    assert told(index.graph())["units"]["a", 0][1] == ""


def test_rows_come_whole_and_without_vectors_they_have_none() -> None:
    world = World()
    world.add(Said("a", ["CAT naps"]))
    world.add_note("has a CAT", "a")
    index = world.index()
    full = world.delta()
    index.apply(
        replace(
            full,
            turns=tuple(replace(row, unit_vectors=None) for row in full.turns),
            traces=tuple((trace, None) for trace, _ in full.traces),
            notes=tuple((note, None) for note, _ in full.notes),
            cues=tuple((key, surface, None) for key, surface, _ in full.cues),
        )
    )
    graph = index.graph()
    for vectors in (graph.unit_vectors, graph.trace_vectors, graph.note_vectors, graph.cue_vectors):
        assert not vectors.any()


def test_a_replaced_trace_takes_over_the_units_and_the_place_of_the_old_one() -> None:
    world = World()
    world.add(Said("a", ["CAT naps"]), Said("b", ["TRAIN leaves"]))
    world.add(Said("c", ["tea"]))
    index = world.index()
    world.remove("a")
    index.apply(world.delta(index.revision))
    graph = index.graph()
    assert told(graph)["frequency"] == {("T3", "train"): 1.0}
    assert told(graph)["chain"] == ["T3", "T2"]


def test_a_note_that_lost_one_of_its_sources_is_gone() -> None:
    world = World()
    world.add(Said("a", ["CAT naps"]), Said("b", ["TRAIN leaves"], session="s2"))
    world.add_note("has a CAT", "a", "b")
    index = world.index()
    world.remove("a")
    index.apply(world.delta(index.revision))
    assert told(index.graph())["notes"] == []
    assert "has a CAT" not in index.graph().note_text


def test_an_old_version_that_comes_again_does_not_displace_the_current_one() -> None:
    world = World()
    world.add(Said("a", ["CAT naps"]), Said("b", ["TRAIN leaves"]), Said("c", ["tea"], session="s2"))
    note_id = world.add_note("has a CAT", "a")
    world.revise(note_id, "had a CAT", "b")
    world.revise(note_id, "has no CAT", "a")
    index = world.index()
    world.remove("b")
    index.apply(world.delta(index.revision))
    current = [note[1] for note in told(index.graph())["notes"] if note[3]]
    assert current == ["has no CAT"]


def test_cues_found_later_are_mentions_like_others_and_go_with_their_turn() -> None:
    world = World()
    world.add(Said("a", ["CAT naps", "rain"]), Said("b", ["CAT purrs"]))
    index = world.index()
    assert told(index.graph())["mentions"] == {(("a", 0), "cat"): 1.0, (("b", 0), "cat"): 1.0}

    world.mention("a", 1, "pet", "cat")
    index.apply(world.delta(index.revision))
    graph = index.graph()
    assert told(graph)["mentions"] == {
        (("a", 0), "cat"): 1.0,
        (("a", 9), "cat"): 1.0,
        (("a", 9), "pet"): 1.0,
        (("b", 0), "cat"): 1.0,
    }
    assert told(graph)["frequency"]["T1", "pet"] == 1.0
    assert told(graph)["frequency"]["T1", "cat"] == 3.0

    world.remove("a")
    index.apply(world.delta(index.revision))
    assert "pet" not in index.graph().cue_slot
    assert "cat" in index.graph().cue_slot


@pytest.mark.parametrize("status", ["unsupported", "retracted", "proposed", "archived"])
def test_withdrawn_notes_lead_nowhere(status: str) -> None:
    world = World()
    world.add(Said("a", ["CAT naps"]))
    world.add_note("has a DOG", "a", status=status)
    assert told(world.graph())["notes"] == []
    assert set(told(world.graph())["mentions"]) == {(("a", 0), "cat")}


def test_vectors_of_another_embedder_do_not_survive_the_change() -> None:
    world = World()
    world.add(Said("a", ["CAT naps"]))
    index = world.index()
    world.use_embedder()
    index.apply(world.delta(index.revision))
    graph = index.graph()
    for vectors in (graph.unit_vectors, graph.trace_vectors, graph.cue_vectors):
        assert not vectors.any()
    world.embed(EMBEDDER)
    index.apply(world.delta(index.revision))
    assert told(index.graph()) == told(world.graph())


def test_applying_a_delta_twice_changes_nothing() -> None:
    world = World()
    world.add(Said("a", ["CAT naps"]), Said("b", ["TRAIN leaves"]))
    world.add_note("has a CAT", "a")
    index = world.index()
    before = told(index.graph())
    index.apply(world.delta())
    assert told(index.graph()) == before


def test_without_an_embedder_the_index_holds_no_vectors() -> None:
    world = World()
    world.add(Said("a", ["CAT naps"]), deaf=True)
    graph = world.index(dim=0).graph()
    assert graph.dim == 0
    assert graph.unit_vectors.shape == (1, 0)
    assert told(graph)["frequency"] == {("T1", "cat"): 1.0}


def test_an_index_of_mostly_removed_turns_says_so() -> None:
    world = World()
    world.add(*[Said(f"t{i}", ["rain"]) for i in range(5)])
    index = world.index()
    world.remove("t0", "t1")
    index.apply(world.delta(index.revision))
    assert not index.is_mostly_dead
    world.remove("t2")
    index.apply(world.delta(index.revision))
    assert index.is_mostly_dead


def test_its_size_grows_with_what_it_holds() -> None:
    world = World()
    world.add(*[Said(f"t{i}", ["rain CAT"]) for i in range(100)])
    index = world.index()
    held = index.nbytes
    assert held > index.graph().unit_vectors.nbytes
    world.add(*[Said(f"u{i}", [f"WORD{i} rain"]) for i in range(400)])
    index.apply(world.delta(index.revision))
    assert index.nbytes > 2 * held
    assert np.isfinite(index.nbytes)
