"""Retrieval metrics against independent implementations, and files of results that give back what went in."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from math import log2
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_kit import MADE, outcome, row
from mnemic.bench.abstention import auroc
from mnemic.bench.metrics import fraction, hit_all, hit_any, ndcg, ndcg_any, reciprocal_rank
from mnemic.bench.records import DEPTHS, Row
from mnemic.bench.results import load, save
from mnemic.bench.statistics import holm, paired, sign_flip
from mnemic.bench.summary import stable, summarise

Hits = list[set[int]]

shared = st.lists(st.none() | st.integers(1, 20), min_size=1, max_size=8).map(tuple)
apart = st.lists(st.none() | st.integers(1, 20), min_size=1, max_size=8, unique_by=lambda rank: rank or object()).map(
    tuple
)


def shown(ranks: Sequence[int | None]) -> Hits:
    """The list of hits that these ranks are of: for each hit the gold turns that it is the first to show."""
    return [{turn for turn, rank in enumerate(ranks) if rank == place} for place in range(1, 21)]


@given(shared, st.sampled_from(DEPTHS))
def test_recall_is_that_of_sets(ranks: tuple[int | None, ...], k: int) -> None:
    found = set[int]().union(*shown(ranks)[:k])
    gold = set(range(len(ranks)))
    assert fraction(ranks, k) == len(found & gold) / len(gold)
    assert hit_any(ranks, k) == (not found.isdisjoint(gold))
    assert hit_all(ranks, k) == (gold <= found)
    assert hit_all(ranks, k) <= fraction(ranks, k) <= hit_any(ranks, k)
    assert reciprocal_rank(ranks) == next((1 / place for place, hit in enumerate(shown(ranks), 1) if hit), 0)


def discounted(gains: Sequence[float], k: int) -> float:
    return sum(gain / log2(place + 2) for place, gain in enumerate(gains[:k]))


def discounted_as_longmemeval(gains: Sequence[float], k: int) -> float:
    return sum((gain if place == 0 else gain / log2(place + 1)) for place, gain in enumerate(gains[:k]))


@given(apart, st.sampled_from([5, 10]))
def test_at_turn_level_ndcg_is_the_usual_one(ranks: tuple[int | None, ...], k: int) -> None:
    # A corpus of 40 turns in the order of the ranking; gold that was not found comes after the first 20.
    corpus = [float(bool(hit)) for hit in shown(ranks)] + [1.0] * ranks.count(None)
    corpus += [0.0] * (40 - len(corpus))
    ideal = sorted(corpus, reverse=True)
    assert ndcg(ranks, k) == pytest.approx(discounted(corpus, k) / discounted(ideal, k))
    own = discounted_as_longmemeval
    assert ndcg_any(ranks, k) == pytest.approx(own(corpus, k) / own(ideal, k))


@given(shared)
def test_ndcg_is_one_exactly_when_all_gold_comes_first(ranks: tuple[int | None, ...]) -> None:
    places = {rank for rank in ranks if rank is not None}
    perfect = None not in ranks and places == set(range(1, len(places) + 1))
    assert 0 <= ndcg(ranks) <= 1
    assert (ndcg(ranks) == 1) == perfect


@given(shared, st.data())
def test_a_better_rank_never_hurts(ranks: tuple[int | None, ...], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(ranks) - 1))
    moved = data.draw(st.integers(1, (ranks[place] or 21) - 1 or 1))
    better = (*ranks[:place], moved, *ranks[place + 1 :])
    for k in DEPTHS:
        assert fraction(better, k) >= fraction(ranks, k)
    assert reciprocal_rank(better) >= reciprocal_rank(ranks)


scores = st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.5, 1.0]), min_size=1, max_size=12).map(np.array)


@given(scores, scores)
def test_the_area_is_the_share_of_pairs_won(positive: np.ndarray, negative: np.ndarray) -> None:
    won = sum((p > n) + (p == n) / 2 for p in positive for n in negative)
    assert auroc(positive, negative) == pytest.approx(won / (len(positive) * len(negative)))
    assert auroc(negative, positive) == pytest.approx(1 - auroc(positive, negative))


@settings(max_examples=40)
@given(st.lists(st.sampled_from([-1.0, -0.5, -1 / 3, 0.0, 1 / 3, 0.25, 1.0]), min_size=1, max_size=9).map(np.array))
def test_sign_flips_count_all_signs(differences: np.ndarray) -> None:
    signs = np.array(np.meshgrid(*[[-1, 1]] * len(differences))).reshape(len(differences), -1)
    at_least = np.abs(differences @ signs) >= abs(differences.sum()) - 1e-9
    assert sign_flip(differences) == pytest.approx(at_least.mean())
    assert sign_flip(-differences) == sign_flip(differences)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=20))
def test_pairs_do_not_depend_on_order_and_turn_round(values: list[tuple[float, float]]) -> None:
    a = {str(i): [one] for i, (one, _) in enumerate(values)}
    b = {str(i): [other] for i, (_, other) in reversed(list(enumerate(values)))}
    (there,), (back,) = paired(a, b, resamples=50), paired(b, a, resamples=50)
    assert there == paired(dict(reversed(a.items())), b, resamples=50)[0]
    assert (there.low, there.high, there.p) == pytest.approx((-back.high, -back.low, back.p))


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_is_the_step_down_rule(p: list[float]) -> None:
    rejected: set[int] = set()
    for step, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        if p[i] > 0.05 / (len(p) - step):
            break
        rejected.add(i)
    adjusted = holm(p)
    near = {i for i, one in enumerate(adjusted) if abs(one - 0.05) < 1e-12}
    assert {i for i, one in enumerate(adjusted) if one <= 0.05} - near == rejected - near


maybe_ranks = st.lists(st.none() | st.integers(1, 20), max_size=3).map(tuple)
finite = st.floats(allow_nan=False, allow_infinity=False)
rows = st.builds(
    row,
    st.text(min_size=1, max_size=8),
    maybe_ranks,
    half=st.sampled_from(["dev", "test"]),
    category=st.sampled_from(["multi-hop", "temporal", "odd \u2028 \ud800"]),
    answerable=st.booleans(),
    level=st.sampled_from(["trace", "turn"]),
    session_ranks=maybe_ranks,
    tokens=st.fixed_dictionaries({k: st.integers(0, 5000) for k in DEPTHS}),
    relevance=st.none() | finite,
    nothing_relevant=st.none() | st.booleans(),
    wall_ms=st.floats(0, 1e6),
)


@settings(max_examples=12)
@given(st.lists(st.lists(rows, max_size=4), min_size=1, max_size=2), st.sampled_from(["locomo", "longmemeval"]))
def test_what_is_saved_is_loaded(each: list[list[Row]], dataset: str) -> None:
    outcomes = [outcome(rows, dataset=dataset, trial=trial) for trial, rows in enumerate(each, 1)]
    with tempfile.TemporaryDirectory() as folder:
        found = load(save(Path(folder), outcomes, made=MADE))
    assert list(found.rows) == [one.rows for one in outcomes]
    assert list(found.summaries) == [summarise(one, made=MADE) for one in outcomes]


@settings(max_examples=10)
@given(st.lists(rows, max_size=6))
def test_numbers_do_not_depend_on_times(some: list[Row]) -> None:
    slower = [replace(one, wall_ms=one.wall_ms + 1, cpu_ms=7.5, embedding_cpu_ms=1.0) for one in some]
    assert stable(summarise(outcome(some), made=MADE)) == stable(summarise(outcome(slower), made=MADE))
