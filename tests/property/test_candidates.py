"""Filters: what does not pass is not there. Nothing in a result depends on a turn that was filtered out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_kit import Said, World, by_id, question, ranked
from mnemic.algo.candidates import Targets, restrict
from mnemic.algo.graph import Graph
from mnemic.config import Fusion, Hero
from mnemic.retrieve import Ranking

VOCABULARY = ("CAT", "LISBON", "yoga", "PIANO", "rain", "blue", "TRAIN", "tea")
SPEAKERS = ("Ana", "Bo")
QUERY = "cat lisbon tea"
CONFIGURATIONS = (
    Hero(),
    Hero(tau_iter=-1.0, tau_init=0.0, rounds=3),
    Hero(thresholds="quantile"),
    Hero(directed=True),
    Hero(ppr=False),
    Fusion(lexical=0),  # BM25 counts all documents, and its windows reach over the filter: see test_rank
    Fusion(lexical=0, rounds=2, spread=2),
)

sentence = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=4).map(" ".join)
turn = st.tuples(
    st.lists(sentence, min_size=1, max_size=2),
    st.sampled_from(SPEAKERS),
    st.sampled_from([None, 0.0, 1.0, 40.0]),
    st.sampled_from([None, 2.0]),
    st.booleans(),
)
pairs = st.lists(st.tuples(turn, turn), min_size=1, max_size=6)


def world(turns: list[Any], hidden_words: str | None = None) -> World:
    """Turns in traces of two; every other turn has a note. Those that are not shown can say something else."""
    made = World()
    said = [_said(i, *details) for i, details in enumerate(turns)]
    if hidden_words is not None:
        said = [one if one.metadata["shown"] else _poisoned(one, hidden_words) for one in said]
    for first in range(0, len(said), 2):
        made.add(*said[first : first + 2])
    for number, one in enumerate(said[::2]):
        made.add_note(f"likes {one.sentences[0]}", one.turn_id, given=number % 2 == 0)
    return made


def _said(i: int, sentences: list[str], speaker: str, day: float | None, spoken: float | None, shown: bool) -> Said:
    return Said(f"t{i}", sentences, "s1", speaker, day, metadata={"shown": shown}, spoken_day=spoken)


def _poisoned(said: Said, hidden_words: str) -> Said:
    return replace(said, sentences=[hidden_words, *said.sentences], speaker="Eve", day=1.0, spoken_day=1.0)


def shown(graph: Graph) -> Any:
    return np.array([bool(metadata.get("shown")) for metadata in graph.turn_metadata], np.bool_)


def asked(graph: Graph) -> Any:
    return question(graph, QUERY, "cat", "lisbon", named=["Ana"], asked=[(1.0, 2.0)])


def search(graph: Graph, config: Any, granularity: str = "trace") -> Ranking:
    return ranked(graph, asked(graph), config, passing=shown(graph), granularity=granularity)


def result(graph: Graph, ranking: Ranking, granularity: str = "trace") -> dict[str, Any]:
    ids = graph.trace_ids if granularity == "trace" else graph.turn_ids
    return {
        "order": [ids[slot] for slot in ranking.order],
        "scores": {ids[slot]: float(ranking.scores[slot]) for slot in ranking.order},
        **{name: {ids[slot]: float(of[slot]) for slot in ranking.order} for name, of in ranking.contributions.items()},
        "cosine": ranking.cosine,
        "active": {
            key: float(ranking.matched.active.weight[slot])
            for key, slot in graph.cue_slot.items()
            if ranking.matched.active.weight[slot]
        },
    }


def same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert one.keys() == other.keys()
    for name in one:
        assert one[name] == (other[name] if name == "order" else pytest.approx(other[name], abs=1e-9)), name


@settings(max_examples=60, deadline=None)
@given(pairs, st.sampled_from(CONFIGURATIONS))
def test_a_memory_without_the_filtered_turns_ranks_alike(both: list[Any], config: Any) -> None:
    """Filtered by whole traces, for a trace that lost a turn would have another embedding."""
    turns = [(*details[:-1], first[-1]) for first, second in both for details in (first, second)]
    filtered = world(turns).graph()
    kept = World()
    said = [_said(i, *details) for i, details in enumerate(turns)]
    for first in range(0, len(said), 2):
        if said[first].metadata["shown"]:
            kept.add(*said[first : first + 2])
    for number, one in enumerate(said[::2]):
        if one.metadata["shown"]:
            kept.add_note(f"likes {one.sentences[0]}", one.turn_id, given=number % 2 == 0)
    never = kept.graph()

    def by_turn(graph: Graph) -> dict[str, float]:
        ranking = search(graph, config)
        first_turn = {graph.trace_ids[t]: graph.turn_ids[n] for t, n in _first_spans(graph)}
        return {first_turn[trace]: score for trace, score in by_id(graph, ranking).items()}

    assert by_turn(filtered) == pytest.approx(by_turn(never), abs=1e-9)
    assert search(filtered, config).cosine == pytest.approx(search(never, config).cosine)


def _first_spans(graph: Graph) -> list[tuple[int, int]]:
    first = np.unique(graph.span_trace, return_index=True)[1]
    return [(int(graph.span_trace[i]), int(graph.span_turn[i])) for i in first]


@settings(max_examples=80, deadline=None)
@given(
    pairs, st.sampled_from(CONFIGURATIONS), st.sampled_from(["trace", "turn"]), st.sampled_from([QUERY, "CAT LISBON"])
)
def test_what_the_filtered_turns_say_changes_nothing(
    both: list[Any], config: Any, granularity: str, hidden_words: str
) -> None:
    """Non-interference, for traces that hold turns of both kinds too."""
    turns = [details for pair in both for details in pair]
    plain, poisoned = world(turns).graph(), world(turns, hidden_words).graph()
    one = result(plain, search(plain, config, granularity), granularity)
    same(one, result(poisoned, search(poisoned, config, granularity), granularity))


@settings(max_examples=60, deadline=None)
@given(pairs)
def test_nothing_of_a_filtered_turn_is_reachable(both: list[Any]) -> None:
    graph = world([details for pair in both for details in pair]).graph()
    passing = shown(graph)
    candidates = restrict(graph, passing)
    hidden = {graph.turn_ids[slot] for slot in np.flatnonzero(~passing)}

    assert hidden.isdisjoint(graph.turn_ids[slot] for slot in np.flatnonzero(candidates.turns))
    assert hidden.isdisjoint(graph.turn_ids[graph.unit_turn[unit]] for unit in np.flatnonzero(candidates.units))
    for note in np.flatnonzero(candidates.notes):
        sources = graph.source_unit[graph.source_note == note]
        assert hidden.isdisjoint(graph.turn_ids[graph.unit_turn[unit]] for unit in sources)
    for trace in np.flatnonzero(candidates.whole):
        assert hidden.isdisjoint(graph.turn_ids[slot] for slot in graph.span_turn[graph.span_trace == trace])
    may_mention = np.concatenate((candidates.units, candidates.notes))
    assert may_mention[candidates.mentions.rows].all()
    assert candidates.frequency.values.sum() == (candidates.mentions.rows < len(graph.unit_turn)).sum()
    order = search(graph, Fusion(), "turn").order
    assert hidden.isdisjoint(graph.turn_ids[slot] for slot in order)


def test_a_filter_that_all_pass_is_no_filter() -> None:
    graph = world([(["CAT naps"], "Ana", 0.0, None, True), (["TRAIN"], "Bo", 1.0, None, True)]).graph()
    candidates = restrict(graph, shown(graph))
    assert candidates.mentions is graph.mentions
    assert candidates.frequency is graph.frequency
    assert candidates.whole.all()


def test_a_filter_that_none_pass_leaves_nothing() -> None:
    graph = world([(["CAT naps"], "Ana", 0.0, None, False), (["TRAIN"], "Bo", 1.0, None, False)]).graph()
    for config in (Hero(), Fusion()):
        ranking = search(graph, config)
        assert len(ranking.order) == 0
        assert not ranking.scores.any()
        assert ranking.cosine == 0


def test_values_carry_over_to_targets_by_their_maximum() -> None:
    graph = world(
        [
            (["CAT", "tea"], "Ana", 0.0, None, True),
            (["rain"], "Bo", 0.0, None, True),
            (["blue"], "Bo", 0.0, None, True),
        ]
    ).graph()
    traces, turns = Targets(graph, traces=True), Targets(graph, traces=False)
    assert (traces.count, turns.count) == (2, 3)
    assert traces.of_units(np.array([0.1, 0.4, 0.2, 0.3])).tolist() == [0.4, 0.3]
    assert turns.of_units(np.array([0.1, 0.4, 0.2, 0.3])).tolist() == [0.4, 0.2, 0.3]
    assert traces.of_turns(np.array([0.1, 0.5, 0.2])).tolist() == [0.5, 0.2]
    assert turns.of_turns(np.array([0.1, 0.5, 0.2])).tolist() == [0.1, 0.5, 0.2]
    assert turns.of_traces(np.array([0.6, 0.7])).tolist() == [0.6, 0.6, 0.7]
