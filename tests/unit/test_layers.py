"""The two layers ranked, by arithmetic."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from graph_kit import EMBEDDER, Said, World, question, ranked, vector
from mnemic.algo.episodes import stretches
from mnemic.config import Fusion, Hero
from mnemic.retrieve import described
from mnemic.retrieve.layers import Texts, episodes, episodes_by_text, notes, texts_of
from mnemic.types import Turn


def half(one: Any) -> Any:
    """A vector as an index holds it."""
    return one.astype(np.float16).astype(np.float32)


def noted() -> World:
    world = World()
    world.add(Said("a", ["my CAT naps"]), Said("b", ["the TRAIN leaves"], speaker="Bo"), together=1)
    world.add(Said("c", ["LISBON has a TRAIN"], session="s2"), Said("d", [], session="s2"), together=1)
    world.add_note("cat naps", "a")
    world.add_note("train leaves lisbon", "b", "c")
    world.add_note("the cat is old", "a", "c")
    return world


def found(world: World, text: str, *, passing: Any = None, limit: int = 10, deaf: bool = False, **how: Any) -> Any:
    graph = world.graph()
    asked = question(graph, text, embedder=None if deaf else EMBEDDER, named=how.pop("named", ()))
    mask = None if passing is None else np.array([turn in passing for turn in graph.turn_ids])
    layer = notes(asked, ranked(graph, asked, Fusion(), passing=mask), himem=how.get("himem", False), limit=limit)
    return layer, [graph.note_ids[slot] for slot in layer.order]


def test_himem_ranks_notes_by_their_cosine_alone() -> None:
    layer, order = found(noted(), "old cat", himem=True)
    cosines = {
        note_id: float(half(vector(text)) @ vector("old cat"))
        for note_id, text in (("N1", "cat naps"), ("N2", "train leaves lisbon"), ("N3", "the cat is old"))
    }
    assert order == sorted(cosines, key=lambda note_id: -cosines[note_id])
    assert layer.scores[layer.order] == pytest.approx(sorted(cosines.values(), reverse=True), abs=1e-6)
    assert set(layer.contributions) == {"cosine"}
    assert layer.cosine == pytest.approx(max(cosines.values()), abs=1e-6)
    assert layer.count == 3


def test_by_default_notes_are_fused_by_rank_of_cosine_and_of_words() -> None:
    layer, order = found(noted(), "old cat")
    assert order[:2] == ["N3", "N1"]
    assert layer.scores[layer.order].tolist() == pytest.approx([2 / 61, 2 / 62, 1 / 63])
    assert sum(layer.contributions.values()) == pytest.approx(layer.scores)
    assert layer.coverage == 1.0


def test_without_vectors_only_notes_with_a_word_of_the_question_are_found() -> None:
    for himem in (True, False):
        layer, order = found(noted(), "lisbon", deaf=True, himem=himem)
        assert order == ["N2"]
        assert layer.cosine == 0
    assert found(noted(), "zeppelin", deaf=True)[1] == []


def test_a_note_passes_only_with_all_the_turns_it_rests_on() -> None:
    assert found(noted(), "cat", passing={"a"})[1] == ["N1"]
    assert sorted(found(noted(), "cat", passing={"b", "c"})[1]) == ["N2"]
    assert sorted(found(noted(), "cat", passing={"a", "b", "c"})[1]) == ["N1", "N2", "N3"]
    assert found(noted(), "cat", passing=set())[1] == []


def test_a_note_that_rests_on_a_turn_without_a_sentence_passes_only_with_that_turn() -> None:
    world = noted()
    note, held = world.notes["N1", 1]
    world.notes["N1", 1] = replace(note, sources=(replace(note.sources[0], turn_id="d", end=0),)), held
    assert "N1" not in found(world, "cat", passing={"a", "b", "c"})[1]
    assert found(world, "cat", passing={"d"})[1] == ["N1"]


@pytest.mark.parametrize("status", ["superseded", "unsupported", "retracted", "proposed", "archived"])
def test_only_current_notes_are_found(status: str) -> None:
    world = noted()
    world.set_status("N1", status)
    assert found(world, "cat naps")[1] == ["N3", "N2"]
    world.set_status("N1", "current")
    assert found(world, "cat naps")[1][0] == "N1"


def test_notes_about_the_one_who_is_named_come_first_and_in_himem_alone() -> None:
    world = noted()
    note, held = world.notes["N2", 1]
    world.notes["N2", 1] = replace(note, about="Bo"), held
    layer, order = found(world, "cat", named=["Bo"], limit=3)
    assert len(order) == 3
    assert layer.contributions["about"].max() == pytest.approx(1 / 61)
    assert np.count_nonzero(layer.contributions["about"]) == 1
    assert found(world, "cat", named=["Bo"], himem=True)[1] == ["N2"]
    assert len(found(world, "cat", named=["Bo", "Ana"], himem=True)[1]) == 3


# episodes ------------------------------------------------------------------------------------------------


def told() -> World:
    world = World()
    world.add(
        Said("a", ["my CAT naps"]), Said("b", ["tea and rain"]), Said("c", ["CAT food"], session="s2"), together=2
    )
    world.add(Said("d", ["the TRAIN leaves"], session="s3"), Said("e", ["CAT CAT CAT"], session="s3"), together=2)
    return world


@pytest.mark.parametrize("config", [Fusion(), Hero(), Fusion(graph=0, beside=0)])
def test_an_episode_has_the_score_of_its_best_turn_and_what_made_it(config: Any) -> None:
    graph = told().graph()
    asked = question(graph, "cat naps", "cat")
    ranking = ranked(graph, asked, config, granularity="turn")
    cut = stretches(graph)
    layer = episodes(ranking, cut, limit=10)
    for place, one in enumerate(cut):
        turns = list(one.turns)
        assert layer.scores[place] == max(ranking.scores[turns])
        assert layer.best[place] in turns
        assert ranking.scores[layer.best[place]] == layer.scores[place]
    assert sum(layer.contributions.values()) == pytest.approx(layer.scores)
    assert list(layer.order) == sorted(range(3), key=lambda place: -layer.scores[place])


def test_of_equal_episodes_the_one_with_more_comes_first() -> None:
    graph = told().graph()
    asked = question(graph, "cat")
    ranking = ranked(graph, asked, Fusion(), granularity="turn")
    even = replace(ranking, scores=np.array([0.5, 0.0, 0.5, 0.5, 0.25]))
    assert episodes(even, stretches(graph), limit=10).order.tolist() == [2, 0, 1]
    assert episodes(even, stretches(graph), limit=1).order.tolist() == [2]


def test_an_episode_of_which_no_turn_passes_is_not_found() -> None:
    graph = told().graph()
    asked = question(graph, "cat")
    passing = np.array([turn in ("b", "d") for turn in graph.turn_ids])
    layer = episodes(ranked(graph, asked, Fusion(), granularity="turn", passing=passing), stretches(graph), limit=10)
    assert sorted(layer.order.tolist()) == [0, 2]
    assert [graph.turn_ids[slot] for slot in layer.best] == ["b", graph.turn_ids[-1], "d"]


def texts(world: World, graph: Any, passing: Any = None) -> Texts:
    turns: dict[str, Turn] = {turn_id: row.turn for turn_id, row in world.turns.items()}
    cut = stretches(graph)
    mask = np.ones(len(graph.turn_ids), np.bool_) if passing is None else passing
    words = {turn_id: turn.text for turn_id, turn in turns.items()}
    return texts_of(graph, cut, described(graph, cut, turns), mask, words)


def test_himem_fuses_the_ranks_of_an_episodes_cosine_and_words() -> None:
    world = told()
    graph = world.graph()
    asked = question(graph, "cat rain")
    cut = stretches(graph)
    layer = episodes_by_text(
        asked, ranked(graph, asked, Fusion(), granularity="turn"), cut, texts(world, graph), limit=5
    )
    assert layer.order[0] == 0
    assert layer.scores[0] == pytest.approx(2 / 61)
    assert sum(layer.contributions.values()) == pytest.approx(layer.scores)
    cosines = texts(world, graph).vectors @ asked.vector
    assert np.argsort(-cosines).tolist() == np.argsort(-layer.contributions["cosine"]).tolist()
    words = texts(world, graph).words
    assert len(words) == 3
    assert words.frequency("cat") == 3


def test_words_and_topic_of_an_episode_are_those_of_the_turns_that_pass() -> None:
    world = told()
    world.add_episode("a", "b", topic="zebra", summary="quagga")
    graph = world.graph()
    whole = texts(world, graph)
    assert [whole.words.frequency(term) for term in ("zebra", "quagga", "tea", "nap")] == [1, 1, 1, 1]
    part = texts(world, graph, np.array([turn != "b" for turn in graph.turn_ids]))
    assert [part.words.frequency(term) for term in ("zebra", "quagga", "tea", "nap")] == [0, 0, 0, 1]
    kept = half(vector("my CAT naps"))
    assert part.vectors[0] == pytest.approx(kept / np.linalg.norm(kept), abs=1e-6)


def test_a_local_episode_is_named_by_its_cues_as_its_own_words_write_them() -> None:
    world = told()
    graph = world.graph()
    turns = {turn_id: row.turn for turn_id, row in world.turns.items()}
    [first, second, third] = described(graph, stretches(graph), turns)
    assert (first.topic, first.summary, first.made_by, first.turn_ids) == ("CAT", "", "rules", ("a", "b"))
    assert (first.time.start, first.time.end) == (turns["a"].timestamp, turns["b"].timestamp)
    # 3 ln(1 + .5 / 3.5) of what every trace mentions is less than ln(1 + 2.5 / 1.5) of what one does.
    assert third.topic == "TRAIN, CAT"
    assert second.session_id == "s2"
    # Nobody here wrote it so: whoever did may have been erased.
    other = replace(graph, cue_surfaces=["CATTERY"] * len(graph.cue_keys))
    assert described(other, stretches(graph), turns)[0].topic == "cat"
