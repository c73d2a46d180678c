"""``hero`` and ``default`` on small memories: arithmetic, and the places where such systems break."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import networkx
import numpy as np
import pytest

from graph_kit import EMBEDDER, LOOSE, Said, World, by_id, question, ranked
from mnemic.algo.graph import Graph
from mnemic.config import Fusion, Hero
from mnemic.types import Thresholds

BOTH = pytest.mark.parametrize("config", [Hero(), Fusion()], ids=["hero", "default"])
ALL = pytest.mark.parametrize(
    "config",
    [
        Hero(),
        Hero(directed=True),
        Hero(ppr=False),
        Hero(profile=False),
        Hero(rounds=0),
        Hero(thresholds="quantile"),
        Hero(alpha=0.0),
        Fusion(),
        Fusion(graph=0.0),
        Fusion(rounds=3, spread=2),
    ],
)
GRANULARITIES = pytest.mark.parametrize("granularity", ["trace", "turn"])


def small() -> World:
    world = World()
    world.add(Said("a", ["my CAT naps"]), Said("b", ["the TRAIN leaves"], speaker="Bo"), together=1)
    world.add(Said("c", ["LISBON has a TRAIN"], day=40.0), Said("d", ["tea again"], day=None), together=1)
    return world


def top(graph: Graph, config: Any, text: str, *entities: str, **more: Any) -> str:
    asked = question(graph, text, *entities, **more)
    return graph.trace_ids[ranked(graph, asked, config).order[0]]


def sound(graph: Graph, ranking: Any) -> None:
    assert np.isfinite(ranking.scores).all()
    assert (ranking.scores >= 0).all()
    assert sum(ranking.contributions.values(), np.zeros(len(ranking.scores))) == pytest.approx(ranking.scores)
    assert all(np.isfinite(values).all() for values in ranking.contributions.values())
    assert 0 <= ranking.cosine <= 1
    assert 0 <= ranking.coverage <= 1
    ordered = ranking.scores[ranking.order]
    assert (np.diff(ordered) <= 0).all()
    assert len(set(ranking.order)) == len(ranking.order)


# hero, literally -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("follow", [0.0, 0.5, 0.85])
@pytest.mark.parametrize("trace_restart", [1.0, 0.05])
def test_hero_equals_the_formulas_worked_out_by_hand_and_networkx(follow: float, trace_restart: float) -> None:
    graph = small().graph()
    asked = question(graph, "cat train times", "cat", "train")
    config = Hero(tau_init=0.9, rounds=0, follow=follow, trace_restart=trace_restart, alpha=1.5)

    weight = {"cat": 1.0, "train": 1.0}
    mentions = {"T1": ["cat"], "T2": ["train"], "T3": ["lisbon", "train"], "T4": []}
    d = {trace: float(graph.trace_vectors[slot] @ asked.vector) for slot, trace in enumerate(graph.trace_ids)}
    low, high = min(d.values()), max(d.values())
    activated = {
        trace: 1.5 * (d[trace] - low) / (high - low)
        + math.log(1 + sum(weight.get(cue, 0) * math.log(2) for cue in cues))
        for trace, cues in mentions.items()
    }
    walk: Any = networkx.Graph()
    walk.add_nodes_from(["cat", "train", "lisbon", *mentions])
    for trace, cues in mentions.items():
        walk.add_weighted_edges_from((cue, trace, 1 / len(cues)) for cue in cues)
    walk.add_weighted_edges_from([("T1", "T2", 1), ("T2", "T3", 1), ("T3", "T4", 1)])
    restart = weight | {trace: trace_restart * value for trace, value in activated.items()}
    start = dict.fromkeys(walk, 0.0) | restart
    expected = networkx.pagerank(walk, alpha=follow, personalization=start, dangling=start, tol=1e-13, max_iter=2000)

    scores = by_id(graph, ranked(graph, asked, config))
    assert scores == pytest.approx({trace: expected[trace] for trace in mentions}, abs=1e-6)
    assert by_id(graph, ranked(graph, asked, replace(config, ppr=False))) == pytest.approx(activated)


@pytest.mark.parametrize("config", [Hero(follow=0.0), Hero(ppr=False)])
def test_without_known_entities_hero_is_dense_retrieval(config: Hero) -> None:
    graph = small().graph()
    asked = question(graph, "the train leaves", "zeppelin")
    ranking = ranked(graph, asked, config, thresholds=replace(LOOSE, tau_init=0.99))
    assert not ranking.matched.active.weight.any()
    dense = np.argsort(-(graph.trace_vectors @ asked.vector), kind="stable")
    assert ranking.order.tolist() == dense.tolist()


@pytest.mark.fault("B162")
def test_ten_questions_of_unknown_entities_have_different_answers() -> None:
    topics = ["violin", "harbour", "bread", "snow", "chess", "marathon", "orchid", "tax", "moon", "carpet"]
    world = World()
    world.add(*[Said(f"t{i}", [f"about {topic} today"]) for i, topic in enumerate(topics)], together=1)
    graph = world.graph()
    for config in (Hero(), Fusion(), Fusion(lexical=0)):
        hits = [top(graph, config, f"{topic} question", "unknown thing") for topic in topics]
        assert hits == [f"T{i}" for i in range(1, 11)]


def test_equal_scores_are_ordered_by_the_traces_own_similarity() -> None:
    """methods.md R6: not by that of their best sentence."""
    world = World()
    world.add(Said("a", ["tea and rain", "the train to Porto was late again"]), together=1)
    world.add(Said("b", ["tea and snow", "rain"]), together=1)
    graph = world.graph()
    asked = question(graph, "tea and rain", "unknown")
    order = ranked(graph, asked, Hero(alpha=0.0, ppr=False)).order
    similarity = graph.trace_vectors @ asked.vector
    assert similarity[1] > similarity[0]
    assert (graph.unit_vectors @ asked.vector).argmax() == 0
    assert order.tolist() == [1, 0]


def test_equal_traces_come_in_the_order_of_the_dialogue() -> None:
    world = World()
    world.add(*[Said(f"t{i}", ["same words"]) for i in range(6)], together=1)
    world.remove("t0")
    world.add(Said("t9", ["same words"]))
    for config in (Hero(ppr=False), Fusion(graph=0, lexical=0)):
        graph = world.graph()
        order = ranked(graph, question(graph, "same words", "x"), config).order
        assert graph.trace_ordinal[order].tolist() == sorted(graph.trace_ordinal[order].tolist())


# what a note leads to ------------------------------------------------------------------------------------


def bridged() -> World:
    """DOG is asked for, and only a note ties it to PARK, which a trace mentions."""
    world = World()
    world.add(Said("a", ["we met at the PARK"]), Said("b", ["it rained"]), Said("c", ["fine"]), together=1)
    world.add_note("DOG owner goes to the PARK", "b")
    return world


EAGER = Thresholds(tau_init=0.9, tau_alias=2.0, tau_iter=-1.0, relevance=0.2)


def test_the_profile_is_a_bridge_that_is_itself_masked() -> None:
    graph = bridged().graph()
    asked = question(graph, "dog", "dog")
    park = graph.cue_slot["park"]
    with_notes = ranked(graph, asked, Hero(), thresholds=EAGER)
    without = ranked(graph, asked, Hero(profile=False), thresholds=EAGER)
    assert with_notes.matched.active.weight[park] > 0
    assert without.matched.active.weight[park] == 0
    assert by_id(graph, with_notes)["T1"] > by_id(graph, without)["T1"]


def test_a_cue_of_notes_alone_keeps_no_mass_for_itself() -> None:
    """methods.md A21."""
    world = World()
    world.add(Said("a", ["it rained"]), Said("b", ["fine"]), together=1)
    world.add_note("owns a DOG", "a")
    graph = world.graph()
    ranking = ranked(graph, question(graph, "dog", "dog"), Hero(), thresholds=EAGER)
    assert ranking.matched.active.weight[graph.cue_slot["dog"]] == 1
    assert ranking.scores.sum() == pytest.approx(1)


def test_hero_uses_every_version_of_a_note_and_the_default_the_current_one() -> None:
    world = bridged()
    world.revise("N1", "has a CAT")
    graph = world.graph()
    asked = question(graph, "dog", "dog")
    park = graph.cue_slot["park"]
    assert ranked(graph, asked, Hero(), thresholds=EAGER).matched.active.weight[park] > 0
    assert ranked(graph, asked, Fusion(), thresholds=EAGER).matched.active.weight[park] == 0


@BOTH
def test_a_retracted_note_leads_nowhere(config: Any) -> None:
    world = bridged()
    world.retract("N1")
    graph = world.graph()
    ranking = ranked(graph, question(graph, "dog", "dog"), config, thresholds=EAGER)
    assert not ranking.matched.active.weight.any()


# the default's signals -----------------------------------------------------------------------------------


def noted(*, given: bool = True) -> Graph:
    world = small()
    world.add_note("owns a pet", "a", "c", given=given)
    world.add_note("owns much", "a", given=given)
    return world.graph()


def test_a_given_note_lends_its_cosine_to_the_sentences_it_rests_on() -> None:
    graph = noted()
    asked = question(graph, "who owns a pet")
    cosines = np.clip(graph.note_vectors @ asked.vector, 0, 1)
    assert cosines[0] > cosines[1] > 0
    ranking = ranked(graph, asked, Fusion(note=0.5, beside=0), granularity="turn")
    sound(graph, ranking)
    lent = dict(zip(graph.turn_ids, ranking.contributions["note"], strict=True))
    weights = sum(getattr(Fusion(note=0.5, beside=0), name) for name in ranking.contributions)
    assert lent == pytest.approx({"a": 0.5 * cosines[0] / weights, "b": 0, "c": 0.5 * cosines[0] / weights, "d": 0})


@pytest.mark.parametrize("granularity", ["trace", "turn"])
def test_without_given_notes_nothing_changes(granularity: str) -> None:
    graph = noted(given=False)
    asked = question(graph, "who owns a pet")
    one, other = (ranked(graph, asked, Fusion(note=w), granularity=granularity) for w in (0.0, 0.7))
    assert "note" not in other.contributions
    assert other.scores.tolist() == one.scores.tolist()


def test_only_current_notes_that_pass_lend() -> None:
    for change in (World.retract, lambda world, note_id: world.revise(note_id, "sold it")):
        world = small()
        note_id = world.add_note("owns a pet", "a", given=True)
        change(world, note_id)
        graph = world.graph()
        ranking = ranked(graph, question(graph, "who owns a pet"), Fusion())
        assert not ranking.contributions.get("note", np.zeros(1)).max() > 0.01
    graph = noted()
    passing = np.array([turn_id != "c" for turn_id in graph.turn_ids])
    config, asked = Fusion(beside=0), question(graph, "who owns a pet")
    ranking = ranked(graph, asked, config, granularity="turn", passing=passing)
    cosine = float(graph.note_vectors[1] @ asked.vector)
    lent = config.note * cosine / sum(getattr(config, name) for name in ranking.contributions)
    assert ranking.contributions["note"].max() == pytest.approx(lent)


def test_a_date_in_the_question_brings_up_the_day() -> None:
    graph = small().graph()
    assert top(graph, Fusion(), "what happened", asked=[(40.0, 41.0)]) == "T3"
    date = ranked(graph, question(graph, "what happened", asked=[(40.0, 41.0)]), Fusion()).contributions["date"]
    assert date.argmax() == 2
    assert date[3] == date[2]  # said without a date, after that in the same session


def test_a_day_that_a_turn_speaks_of_counts_as_its_own() -> None:
    world = World()
    world.add(Said("a", ["rain"], day=0.0), Said("b", ["rain"], day=0.0, spoken_day=90.0), together=1)
    graph = world.graph()
    assert top(graph, Fusion(), "what happened", asked=[(90.0, 91.0)]) == "T2"


def test_the_only_person_named_is_preferred() -> None:
    graph = small().graph()
    speaker = ranked(graph, question(graph, "x", named=["Bo"]), Fusion()).contributions["speaker"]
    assert speaker.nonzero()[0].tolist() == [1]
    assert "speaker" not in ranked(graph, question(graph, "x", named=["Bo", "Ana"]), Fusion()).contributions


def test_words_of_somebody_else_that_name_the_one_asked_about_count_less() -> None:
    world = World()
    world.add(Said("a", ["Bo adopted a dog"]), Said("b", ["rain all day"], speaker="Cy"), together=1)
    world.add(Said("c", ["yes"], speaker="Bo", session="s2"), together=1)
    graph = world.graph()
    found = ranked(graph, question(graph, "x", named=["Bo"]), Fusion(graph=0)).contributions["speaker"]
    assert found[2] > found[0] > 0
    assert found[0] == pytest.approx(0.3 * found[2])


def test_a_trace_gains_from_the_better_one_beside_it_in_its_session() -> None:
    world = World()
    for turn_id, words, session in (
        ("a", "zinc", "s1"),
        ("b", "the parrot", "s1"),
        ("c", "a parrot feather", "s1"),
        ("d", "copper", "s1"),
        ("e", "a feather", "s2"),
        ("f", "tin", "s2"),
        ("gone", "tin", "s2"),
        ("g", "lead", "s2"),
        ("h", "her parrot", "s3"),
    ):
        world.add(Said(turn_id, [words], session=session), together=1)
    world.remove("gone")
    graph = world.graph()
    asked = question(graph, "parrot feather")
    apart = ranked(graph, asked, Fusion(beside=0.0))
    own = apart.scores / apart.scores.max()
    together = ranked(graph, asked, Fusion(beside=0.25))
    a, b, c, d, e, f, g, h = (graph.trace_ids.index(name) for name in by_order(graph))
    wanted = np.zeros(len(own))
    for trace, neighbours in {a: [b], b: [a, c], c: [b, d], d: [c], e: [f], f: [e, g], g: [f]}.items():
        wanted[trace] = own[trace] + 0.25 * max(own[neighbour] for neighbour in neighbours)
    wanted[h] = (1 + 0.25 / 2) * own[h]  # alone in its session
    assert together.scores / together.scores.max() == pytest.approx(wanted / wanted.max())
    turns = ranked(graph, asked, Fusion(beside=0.25), granularity="turn")
    assert "beside" in turns.contributions
    sound(graph, turns)


def by_order(graph: Graph) -> list[str]:
    """The living traces in the order of the dialogue."""
    return [graph.trace_ids[slot] for slot in graph.chain]


def test_a_match_by_words_alone_can_be_first() -> None:
    """What takes its candidates from dense hits only never finds it."""
    world = World()
    world.add(*[Said(f"t{i}", ["filler chat"]) for i in range(30)], together=1)
    world.add(Said("x", ["code AB-358"]), deaf=True)
    graph = world.graph()
    asked = replace(question(graph, "358"), terms=("358",))
    ranking = ranked(graph, asked, Fusion())
    assert graph.trace_ids[ranking.order[0]] == "T31"
    assert ranking.coverage > 0.3


def test_unheard_words_lower_the_coverage() -> None:
    graph = small().graph()
    known = ranked(graph, question(graph, "lisbon"), Fusion()).coverage
    partly = ranked(graph, question(graph, "lisbon zeppelin"), Fusion()).coverage
    assert 0 < partly < known <= 1
    assert ranked(graph, question(graph, "zeppelin"), Fusion()).coverage == 0


# where such systems break --------------------------------------------------------------------------------


@ALL
@GRANULARITIES
@pytest.mark.parametrize("dim", [0, 64])
def test_an_empty_memory_has_no_answer_and_raises_nothing(config: Any, granularity: str, dim: int) -> None:
    graph = World().index(dim).graph()
    ranking = ranked(graph, question(graph, "anything", "cat"), config, granularity=granularity)
    assert len(ranking.order) == 0
    sound(graph, ranking)


@pytest.mark.fault("B166")
@ALL
@GRANULARITIES
@pytest.mark.parametrize("entity", ["cat", "zeppelin"])
def test_one_turn_is_the_answer_to_everything(config: Any, granularity: str, entity: str) -> None:
    """One node, perhaps with all entities unknown."""
    world = World()
    world.add(Said("a", ["my CAT naps"]))
    graph = world.graph()
    ranking = ranked(graph, question(graph, "who naps", entity), config, granularity=granularity)
    assert ranking.order.tolist() == [0]
    sound(graph, ranking)


@pytest.mark.fault("B166")
@ALL
@GRANULARITIES
def test_a_memory_without_cues(config: Any, granularity: str) -> None:
    """No edge but the chain."""
    world = World()
    world.add(Said("a", ["nothing special"]), Said("b", ["the cat naps"]), together=1)
    graph = world.graph()
    assert not graph.cue_keys
    ranking = ranked(graph, question(graph, "the cat naps", "cat"), config, granularity=granularity)
    assert len(ranking.order) == 2
    sound(graph, ranking)


@ALL
@GRANULARITIES
def test_a_memory_without_vectors(config: Any, granularity: str) -> None:
    graph = deaf().index(0).graph()
    ranking = ranked(graph, question(graph, "cat train", "cat"), config, granularity=granularity)
    assert len(ranking.order) == 4
    sound(graph, ranking)


def deaf() -> World:
    world = World()
    world.add(Said("a", ["my CAT naps"]), Said("b", ["the TRAIN leaves"]), together=1, deaf=True)
    world.add(Said("c", ["LISBON has a TRAIN"]), Said("d", ["tea again"]), together=1, deaf=True)
    return world


def test_without_vectors_words_and_cues_still_find() -> None:
    graph = deaf().index(0).graph()
    assert top(graph, Fusion(), "cat", "cat") == "T1"
    asked = question(graph, "lisbon", "lisbon")
    exact = Thresholds(tau_init=0.99, tau_alias=2.0, tau_iter=2.0, relevance=2.0)
    assert graph.trace_ids[ranked(graph, asked, Hero(), thresholds=exact).order[0]] == "T3"


@ALL
@GRANULARITIES
def test_a_memory_whose_vectors_are_still_to_come(config: Any, granularity: str) -> None:
    graph = deaf().graph()
    ranking = ranked(graph, question(graph, "cat train", "cat"), config, granularity=granularity)
    assert len(ranking.order) == 4
    sound(graph, ranking)


@pytest.mark.fault("B165")
@ALL
@GRANULARITIES
def test_a_memory_with_removed_turns_in_between(config: Any, granularity: str) -> None:
    """The restart vector and the graph are of one size whatever was removed."""
    world = small()
    index = world.index()
    world.remove("b", "c")
    index.apply(world.delta(index.revision))
    graph = index.graph()
    ranking = ranked(graph, question(graph, "train lisbon", "train", "lisbon"), config, granularity=granularity)
    ids = graph.turn_ids if granularity == "turn" else graph.trace_ids
    assert {ids[slot] for slot in ranking.order} == ({"a", "d"} if granularity == "turn" else {"T1", "T4"})
    sound(graph, ranking)


@pytest.mark.fault("B168")
@BOTH
def test_a_hub_does_not_drag_in_its_neighbours(config: Any) -> None:
    """A cue of 500 traces, and a question about a cat mentioned once."""
    world = World()
    world.add(*[Said(f"h{i}", [f"USER said thing{i}"]) for i in range(500)], together=1)
    world.add(Said("cat", ["the CAT of the user sleeps"]), together=1)
    related = [f"the cat {word}" for word in ("purrs", "eats", "jumps")]
    world.add(*[Said(f"r{i}", [text], session="s2") for i, text in enumerate(related)], together=1)
    graph = world.graph()
    ranking = ranked(graph, question(graph, "where does the cat of the user sleep", "user", "cat"), config, limit=10)
    best = [graph.turn_ids[graph.span_turn[np.flatnonzero(graph.span_trace == slot)[0]]] for slot in ranking.order]
    assert best[0] == "cat"
    assert {"r0", "r1", "r2"} <= set(best)


@BOTH
def test_only_so_many_are_ordered(config: Any) -> None:
    graph = small().graph()
    asked = question(graph, "cat train", "cat")
    assert ranked(graph, asked, config, limit=2).order.tolist() == ranked(graph, asked, config).order[:2].tolist()


def test_rounding_of_stored_vectors_raises_no_score_above_one() -> None:
    world = small()
    graph = world.graph()
    for vectors in (graph.unit_vectors, graph.trace_vectors, graph.cue_vectors):
        vectors *= np.float32(1.001)
    asked = replace(question(graph, "my CAT naps", "cat"), vector=EMBEDDER.embed(["my CAT naps"])[0])
    for config in (Hero(), Fusion()):
        ranking = ranked(graph, asked, config)
        assert ranking.cosine <= 1
        assert ranking.scores.max() <= 1
        assert ranking.matched.active.weight.max() <= 1
