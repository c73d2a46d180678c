"""In a large memory not everything is compared with the question, and the best hits are the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from graph_kit import EMBEDDER, Said, World, question, ranked
from mnemic.algo import signs
from mnemic.algo.graph import Graph
from mnemic.config import Fusion, Hero
from mnemic.retrieve import matched

pytestmark = pytest.mark.skipif(not signs.SUPPORTED, reason="counting bits came with numpy 2")

WORDS = ["cat", "dog", "tram", "lake", "song", "bread", "snow", "rain", "lamp", "tree", "road", "ship", "moon", "star"]


@pytest.fixture(scope="module")
def graph() -> Graph:
    random, world = np.random.default_rng(4), World()
    for turn in range(150):
        said = [" ".join(random.choice(WORDS, 5)) + f" {random.choice(WORDS).upper()}" for _ in range(2)]
        world.add(Said(f"t{turn}", said, speaker="Ana" if turn % 2 else "Bo", day=float(turn)))
    return world.graph()


def asked(graph: Graph, text: str, **more: Any) -> Any:
    return replace(question(graph, text, *text.split()), vector=EMBEDDER.embed([text])[0], **more)


def many(monkeypatch: pytest.MonkeyPatch, chance: int) -> None:
    """Let the memory count as a large one."""
    monkeypatch.setattr(matched, "_FEW_UNITS", 0)
    monkeypatch.setattr(matched, "_FEW_CUES", 0)
    monkeypatch.setattr(matched, "_CHANCE", chance)


@pytest.mark.parametrize("config", [Fusion(), Hero()])
@pytest.mark.parametrize("named", [frozenset[int](), frozenset({0})])
@pytest.mark.parametrize("late", [False, True])
def test_the_best_are_those_of_comparing_everything(
    graph: Graph, config: Any, named: frozenset[int], late: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    passing = np.arange(len(graph.turn_ids)) >= (50 if late else 0)
    for text in ("cat lake snow", "road ship", "moon star fire bread"):
        times = float(graph.turn_time[69]), float(graph.turn_time[80]), False
        query = asked(graph, text, named=named, asked=(times,))
        exact = ranked(graph, query, config, passing=passing)
        with monkeypatch.context() as patched:
            many(patched, 60)
            estimated = ranked(graph, query, config, passing=passing)
        best = exact.order[:5]
        assert estimated.order[:5].tolist() == best.tolist()
        assert estimated.scores[best] == pytest.approx(exact.scores[best], abs=1e-4)
        assert estimated.cosine == pytest.approx(exact.cosine, abs=1e-6)


def test_where_every_trace_has_a_chance_nothing_is_estimated(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    query = asked(graph, "cat lake snow")
    exact = ranked(graph, query, Fusion()).matched
    many(monkeypatch, 10_000)
    assert ranked(graph, query, Fusion()).matched.units == pytest.approx(exact.units, abs=1e-6)


def test_what_has_no_chance_has_an_estimate(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    query = asked(graph, "cat lake snow")
    exact = ranked(graph, query, Fusion()).matched
    many(monkeypatch, 10)
    estimated = ranked(graph, query, Fusion()).matched
    known = np.isclose(estimated.units, exact.units, atol=1e-6)
    assert 20 <= known.sum() < len(known)
    assert ((estimated.units >= 0) & (estimated.units <= estimated.units[known].max())).all()
    contexts = np.arange(len(graph.unit_turn))
    relevant = exact.relevance[contexts] >= exact.relevance.least
    assert estimated.relevance[contexts][relevant] == pytest.approx(exact.relevance[contexts][relevant], abs=1e-6)
    assert (estimated.relevance[contexts][~relevant] < exact.relevance.least).all()


def test_without_a_turn_that_passes_nothing_is_near(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    many(monkeypatch, 10)
    found = ranked(graph, asked(graph, "cat"), Fusion(), passing=np.zeros(len(graph.turn_ids), np.bool_))
    assert not len(found.order)
    assert found.cosine == 0
