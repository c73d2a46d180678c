"""Paths from the question's words to a trace."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from graph_kit import Said, World, question, ranked
from mnemic.algo.graph import Graph
from mnemic.config import Fusion, Hero
from mnemic.retrieve import paths
from mnemic.types import Span, Step, Thresholds

EAGER = Thresholds(tau_init=0.9, tau_alias=2.0, tau_iter=-1.0, relevance=0.2)


def ways(world: World, config: Any, trace_id: str, thresholds: Thresholds = EAGER, graph: Graph | None = None) -> Any:
    graph = graph or world.graph()
    asked = question(graph, "who has a cat", "cat")
    ranking = ranked(graph, asked, config, thresholds=thresholds)

    def words(span: Span) -> str:
        return world.turns[span.turn_id].turn.text[span.start : span.end]

    return paths(ranking.matched, graph.trace_ids.index(trace_id), words)


def shown(path: tuple[Step, ...]) -> list[tuple[str, str]]:
    return [(step.kind, step.text or step.id) for step in path]


def test_the_way_over_the_most_similar_sentence() -> None:
    world = World()
    world.add(Said("a", ["fine", "who has a dog"]))
    (path,) = ways(world, Fusion(), "T1")
    assert shown(path) == [("query", "who has a cat"), ("unit", "who has a dog"), ("trace", "T1")]
    assert path[1].id == "a"
    assert path[1].weight == path[2].weight > 0


def test_the_way_over_cues_and_the_sentence_between_them() -> None:
    world = World()
    world.add(Said("a", ["who has a CAT called TOM"]), Said("b", ["TOM rests"]), together=1)
    found = [shown(path) for path in ways(world, Hero(), "T2")]
    assert [
        ("query", "cat"),
        ("cue", "cat"),
        ("unit", "who has a CAT called TOM"),
        ("cue", "tom"),
        ("trace", "T2"),
    ] in found


def test_the_way_over_a_note() -> None:
    world = World()
    world.add(Said("a", ["TOM rests"]))
    world.add_note("who has a CAT called TOM", "a")
    found = [shown(path) for path in ways(world, Hero(), "T1")]
    note = ("note", "who has a CAT called TOM")
    assert [("query", "cat"), ("cue", "cat"), note, ("cue", "tom"), ("trace", "T1")] in found


def test_the_way_over_a_near_synonym_ends() -> None:
    """A near-synonym is reached through the very context that it opened."""
    world = World()
    world.add(Said("a", ["who has a KITTEN called TOM"]), Said("b", ["my CAT"]), together=1)
    graph = world.graph()
    graph.cue_vectors[graph.cue_slot["kitten"]] = _turned(graph.cue_vectors[graph.cue_slot["cat"]])
    found = ways(world, Hero(), "T1", Thresholds(tau_init=0.9, tau_alias=0.8, tau_iter=-1.0, relevance=0.2), graph)
    over_tom = next(path for path in found if path[-2].text == "tom")
    assert shown(over_tom) == [
        ("query", "cat"),
        ("cue", "cat"),
        ("cue", "kitten"),
        ("unit", "who has a KITTEN called TOM"),
        ("cue", "tom"),
        ("trace", "T1"),
    ]
    weights = [step.weight for step in over_tom if step.kind == "cue"]
    assert weights == sorted(weights, reverse=True)
    # Of the vectors as an index holds them, in half precision.
    cat, kitten = (np.float64(graph.cue_vectors[graph.cue_slot[name]]) for name in ("cat", "kitten"))
    assert weights[1] == pytest.approx(weights[0] * float(cat @ kitten), rel=1e-5)


def _turned(vector: np.ndarray) -> np.ndarray:
    """A unit vector at a cosine of .85."""
    other = np.roll(vector, 1)
    other = other - (other @ vector) * vector
    return 0.85 * vector + np.sqrt(1 - 0.85**2) * other / np.linalg.norm(other)


def test_paths_come_strongest_first_and_at_most_three_over_cues() -> None:
    world = World()
    world.add(Said("a", ["who has a CAT and A B C D E"]))
    found = ways(world, Hero(), "T1")
    weights = [path[-1].weight for path in found]
    assert weights == sorted(weights, reverse=True)
    assert len(found) == 4


def test_what_did_not_pass_explains_nothing() -> None:
    world = World()
    world.add(Said("a", ["who has a CAT"]), Said("b", ["fine"]))
    graph = world.graph()
    asked = question(graph, "who has a cat", "cat")
    ranking = ranked(graph, asked, Hero(), passing=np.array([False, True]), thresholds=EAGER)

    def words(span: Span) -> str:
        assert span.turn_id != "a"
        return ""

    assert all("CAT" not in step.text for path in paths(ranking.matched, 0, words) for step in path)
