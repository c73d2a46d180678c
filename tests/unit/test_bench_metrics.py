from __future__ import annotations

from collections.abc import Callable
from math import log2

import numpy as np
import pytest

from bench_kit import row
from mnemic.bench import metrics
from mnemic.bench.metrics import fraction, hit_all, hit_any, ndcg, ndcg_any, official_fraction, reciprocal_rank


@pytest.mark.parametrize(
    ("ranks", "k", "expected"),
    [
        ((1,), 1, (1, 1, 1)),
        ((2,), 1, (0, 0, 0)),
        ((5, 6, None), 5, (1 / 3, 1, 0)),
        ((5, 5), 5, (1, 1, 1)),
        ((20, None), 20, (1 / 2, 1, 0)),
        ((None, None), 20, (0, 0, 0)),
    ],
)
def test_recall_by_hand(ranks: tuple[int | None, ...], k: int, expected: tuple[float, ...]) -> None:
    assert (fraction(ranks, k), hit_any(ranks, k), hit_all(ranks, k)) == expected


def test_the_reciprocal_rank_is_of_the_first_gold() -> None:
    assert reciprocal_rank((None, 8, 4)) == 1 / 4
    assert reciprocal_rank((None,)) == 0


def test_ndcg_of_two_turns_by_hand() -> None:
    ideal = 1 / log2(2) + 1 / log2(3)
    assert ndcg((1, 3)) == pytest.approx((1 / log2(2) + 1 / log2(4)) / ideal)
    assert ndcg((None, 3)) == pytest.approx((1 / log2(4)) / ideal)
    assert ndcg((11, 3)) == pytest.approx((1 / log2(4)) / ideal)
    assert ndcg((2, 1)) == 1


def test_gold_turns_that_share_a_trace_are_one_relevant_hit() -> None:
    assert ndcg((1, 1, 1)) == 1
    assert ndcg((2, 2)) == pytest.approx(1 / log2(3))
    assert ndcg((1, 1, None)) == pytest.approx(1 / (1 + 1 / log2(3)))


def test_more_gold_than_places_can_still_be_ranked_perfectly() -> None:
    assert ndcg(tuple(range(1, 16)), 10) == 1


@pytest.mark.fault("B204")
@pytest.mark.parametrize("measure", [lambda r: fraction(r, 5), lambda r: hit_any(r, 5), lambda r: hit_all(r, 5), ndcg])
def test_without_gold_nothing_is_defined(measure: Callable[..., float]) -> None:
    with pytest.raises(ValueError, match="no gold"):
        measure(())


def test_longmemeval_does_not_discount_the_second_rank() -> None:
    assert ndcg_any((2,), 5) == 1
    assert ndcg_any((3,), 5) == pytest.approx(1 / log2(3))
    assert ndcg_any((5, 10), 5) == pytest.approx((1 / log2(5)) / 2)
    assert ndcg_any((6,), 5) == 0


def test_a_question_has_every_metric_under_its_name() -> None:
    values = metrics.of_question(row(ranks=(1, 7, None)), "locomo")
    assert list(values) == [
        *(f"{name}@{k}" for name in ("fraction", "hit_any", "hit_all") for k in (1, 5, 10, 20)),
        "mrr",
        "ndcg@10",
    ]
    assert (values["fraction@1"], values["fraction@10"], values["hit_any@1"], values["hit_all@20"]) == (
        1 / 3,
        2 / 3,
        1,
        0,
    )
    assert values["mrr"] == 1


def test_only_longmemeval_has_its_own_ndcg_and_only_at_turn_level() -> None:
    own = {"ndcg_any@5", "ndcg_any@10"}
    assert own <= metrics.of_question(row(level="turn"), "longmemeval").keys()
    assert not own & metrics.of_question(row(level="trace"), "longmemeval").keys()
    assert not own & metrics.of_question(row(level="turn"), "locomo").keys()


def test_sessions_are_measured_by_their_own_ranks() -> None:
    values = metrics.of_sessions(row(ranks=(1,), session_ranks=(3, 6)))
    assert values["recall_any@5"] == values["recall_all@10"] == 1
    assert values["recall_all@5"] == 0
    assert values["ndcg_any@10"] == pytest.approx((1 / log2(3) + 1 / log2(6)) / 2)


@pytest.mark.fault("B204")
def test_what_counts_for_recall() -> None:
    rows = [
        row("a/0"),
        row("a/1", ()),
        row("a/2", (1,), answerable=False, session_ranks=(1,)),
        row("a/3", level="turn"),
        row("a/4", (), session_ranks=(2,)),
    ]
    assert [one.question_id for one in metrics.with_gold(rows, "trace")] == ["a/0"]
    assert [one.question_id for one in metrics.with_gold_sessions(rows, "trace")] == ["a/4"]


def test_officially_a_question_without_evidence_is_found() -> None:
    assert official_fraction([row(ranks=(None,)), row(ranks=()), row(ranks=(1, None))], 5) == 1.5 / 3
    with pytest.raises(ValueError, match="no question"):
        official_fraction([], 5)


def test_a_table_has_a_line_for_each_question() -> None:
    names, values = metrics.table([row(), row(ranks=(2,))], lambda one: {"mrr": reciprocal_rank(one.ranks)})
    assert names == ("mrr",)
    assert np.array_equal(values, [[1], [0.5]])
