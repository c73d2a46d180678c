from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest

from graph_kit import EMBEDDER, Said, World
from mnemic.config import Fusion, Hero
from mnemic.models.cues import RuleCues
from mnemic.models.doubles import HashEmbedder
from mnemic.retrieve import Question, understand

MAY = datetime(2024, 5, 15, 12, tzinfo=UTC)


class Counting(HashEmbedder):
    """Remembers what it was asked to embed."""

    def __init__(self) -> None:
        super().__init__(EMBEDDER.dim)
        self.calls: list[list[str]] = []

    def embed(self, texts: Any, *, kind: Any = "passage") -> Any:
        self.calls.append(list(texts))
        return super().embed(texts, kind=kind)


def world(*, deaf: bool = False) -> World:
    made = World()
    made.add(Said("a", ["LISBON is far"]), Said("b", ["rain"], speaker="Bo", day=10.0), deaf=deaf)
    return made


def ask(text: str, config: Any, *, of: World | None = None, embedder: Any = EMBEDDER, at: datetime = MAY) -> Question:
    return understand(text, (of or world()).graph(), config, embedder=embedder, extractor=RuleCues(), reference=at)


def same(one: np.ndarray, text: str) -> bool:
    kept = EMBEDDER.embed([text])[0].astype(np.float16)  # as an index holds it
    return any(np.allclose(one, each, atol=1e-6) for each in (EMBEDDER.embed([text])[0], kept.astype(np.float32)))


def test_the_default_leaves_names_out_of_what_it_embeds_and_looks_up() -> None:
    asked = ask("Did Ana like Lisbon?", Fusion())
    assert same(asked.vector, "Did like Lisbon?")
    assert asked.terms == ("like", "lisbon")
    assert asked.named == {0}


@pytest.mark.parametrize(("names", "embedded"), [("keep", "Did Ana like Lisbon?"), ("strip", "Did like Lisbon?")])
def test_hero_keeps_names_unless_told(names: Any, embedded: str) -> None:
    assert same(ask("Did Ana like Lisbon?", Hero(names=names)).vector, embedded)


def test_a_cue_with_a_vector_is_not_embedded_again() -> None:
    embedder = Counting()
    asked = ask("Lisbon or Zanzibar", Hero(), embedder=embedder)
    assert [entity.key for entity in asked.entities] == ["lisbon", "zanzibar"]
    assert embedder.calls == [["Lisbon or Zanzibar", "zanzibar"]]
    assert same(asked.entity_vectors[0], "lisbon")
    assert same(asked.entity_vectors[1], "zanzibar")


def test_a_known_cue_whose_vector_is_still_to_come_is_embedded() -> None:
    asked = ask("Lisbon", Hero(), of=world(deaf=True))
    assert same(asked.entity_vectors[0], "lisbon")


@pytest.mark.parametrize(("config", "entity"), [(Hero(), "was it Ana"), (Hero(names="strip"), "was it")])
def test_a_question_without_cues_is_its_own_entity(config: Any, entity: str) -> None:
    (found,) = ask("was it Ana", config).entities
    assert found.surface == entity
    assert (found.start, found.end) == (0, len(entity))


def test_asking_changes_nothing_in_the_memory() -> None:
    graph = world().graph()
    before = graph.cue_vectors.copy()
    understand("Lisbon or Zanzibar", graph, Hero(), embedder=EMBEDDER, extractor=RuleCues(), reference=MAY)
    assert (graph.cue_vectors == before).all()


def test_without_an_embedder_the_vectors_are_zeros() -> None:
    asked = ask("Zanzibar", Hero(), embedder=None)
    assert asked.vector.shape == (EMBEDDER.dim,)
    assert not asked.vector.any()
    assert not asked.entity_vectors.any()


def test_a_memory_without_vectors_asks_no_embedder() -> None:
    graph = world(deaf=True).index(0).graph()
    embedder = Counting()
    asked = understand("Lisbon", graph, Hero(), embedder=embedder, extractor=RuleCues(), reference=MAY)
    assert embedder.calls == []
    assert asked.vector.shape == (0,)
    assert asked.entity_vectors.shape == (1, 0)


def test_of_many_cues_the_first_sixteen_count() -> None:
    text = ", ".join(f"City{chr(65 + i)}" for i in range(20))
    assert len(ask(text, Hero()).entities) == 16


def day(moment: datetime) -> float:
    return moment.replace(hour=0, minute=0).timestamp()


def test_times_count_from_the_reference_while_that_meets_the_memory() -> None:
    inside = datetime(2024, 3, 12, 12, tzinfo=UTC)  # the last turn is of 11 March
    ((start, end, relative),) = ask("what happened yesterday", Fusion(), at=inside).asked
    assert (start, end, relative) == (day(inside - timedelta(days=1)), day(inside), True)


def test_else_they_count_from_the_last_turn() -> None:
    ((start, _, _),) = ask("what happened yesterday", Fusion()).asked
    assert start == day(datetime(2024, 3, 10, tzinfo=UTC))


def test_a_memory_of_the_year_9999_is_no_accident() -> None:
    made = World()
    made.add(
        Said("a", ["the end"], day=(datetime(9999, 12, 31, 12, tzinfo=UTC) - datetime(2024, 3, 1, 9, tzinfo=UTC)).days)
    )
    east = timezone(timedelta(hours=14))
    assert len(ask("what happened yesterday", Fusion(), of=made, at=MAY.astimezone(east)).asked) == 1


def test_a_question_without_a_time_asks_for_none() -> None:
    assert ask("who likes rain", Fusion()).asked == ()
