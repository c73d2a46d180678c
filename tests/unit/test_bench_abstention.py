from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from bench_kit import row, run
from mnemic.bench.abstention import abstention, auroc, paired_auroc, resampled_auroc
from mnemic.bench.records import Row
from mnemic.errors import InvalidInput


def rows(positive: list[float | None], negative: list[float | None], threshold: float = 0.5) -> list[Row]:
    kinds = [(True, value) for value in positive] + [(False, value) for value in negative]
    return [
        row(
            f"conv-1/{i}",
            (None,) if answerable else (),
            answerable=answerable,
            relevance=value,
            nothing_relevant=(value or 0) < threshold,
        )
        for i, (answerable, value) in enumerate(kinds)
    ]


def test_the_area_counts_pairs_and_half_of_the_ties() -> None:
    assert auroc(np.array([3.0, 2.0]), np.array([2.0, 1.0])) == 3.5 / 4
    assert auroc(np.array([1.0]), np.array([1.0])) == 0.5
    with pytest.raises(ValueError, match="both kinds"):
        auroc(np.array([1.0]), np.array([]))


def test_resamples_are_what_their_counts_say() -> None:
    rng = np.random.default_rng(2)
    positive, negative = rng.normal(0.5, size=60).round(1), rng.normal(size=40).round(1)
    areas = resampled_auroc(positive, negative, resamples=500)
    assert areas.mean() == pytest.approx(auroc(positive, negative), abs=0.01)
    assert np.array_equal(areas, resampled_auroc(positive, negative, resamples=500))
    by_hand = [auroc(rng.choice(positive, len(positive)), rng.choice(negative, len(negative))) for _ in range(500)]
    assert areas.std() == pytest.approx(np.std(by_hand), rel=0.15)


def test_abstention_by_hand() -> None:
    found = abstention(rows([0.9, 0.6, 0.4], [0.45, 0.2]))
    assert found is not None
    assert (found.answerable, found.unanswerable, found.auroc) == (3, 2, 5 / 6)
    assert (found.flagged, found.precision, found.recall) == (3, 2 / 3, 1)
    assert found.interval is not None
    assert 0 <= found.interval[0] < 5 / 6 <= found.interval[1] <= 1
    assert found.without_relevance == 0


def test_answerable_questions_without_evidence_are_neither() -> None:
    odd = row("conv-1/99", (), relevance=0.0, nothing_relevant=True)
    assert abstention([*rows([0.9], [0.2]), odd]) == abstention(rows([0.9], [0.2]))


def test_a_system_without_verdict_or_relevance() -> None:
    silent = abstention([row("a/0"), row("a/1", (), answerable=False)])
    assert silent is not None
    assert (silent.auroc, silent.interval, silent.precision, silent.recall, silent.flagged) == (None,) * 5
    assert silent.without_relevance == 2


def test_nothing_flagged_has_no_precision() -> None:
    found = abstention(rows([0.9], [0.8]))
    assert found is not None
    assert (found.precision, found.recall, found.flagged) == (None, 0, 0)


def test_questions_without_relevance_are_left_out_and_counted() -> None:
    found = abstention(rows([0.9, None], [0.2, None]))
    assert found is not None
    assert (found.auroc, found.without_relevance) == (1, 2)


@pytest.mark.parametrize("kinds", [([0.5], []), ([], [0.5]), ([], [])])
def test_it_takes_both_kinds(kinds: tuple[list[float | None], list[float | None]]) -> None:
    assert abstention(rows(*kinds)) is None
    assert paired_auroc(rows(*kinds), rows(*kinds)) is None


def test_paired_areas() -> None:
    worse = [one for one in run(0.8, noise=3).rows if one.level == "trace"]
    better = [
        row(one.question_id, one.ranks, answerable=one.answerable, relevance=(one.relevance or 0) + one.answerable)
        for one in reversed(worse)
    ]
    found = paired_auroc(worse, better)
    assert found is not None
    assert found.b == 1
    assert 0 < found.low <= found.difference <= found.high
    assert found.p < 0.01
    same = paired_auroc(worse, worse)
    assert same is not None
    assert (same.difference, same.low, same.high, same.p) == (0, 0, 0, 1)


def test_paired_areas_need_the_same_questions_and_relevance() -> None:
    assert paired_auroc(rows([0.9], [0.2]), rows([None], [0.2])) is None
    with pytest.raises(InvalidInput, match="conv-1/2 only by the second"):
        paired_auroc(rows([0.9], [0.2]), rows([0.9], [0.2, 0.1]))


def test_the_area_against_all_pairs() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        positive, negative = rng.integers(0, 6, 9) / 5, rng.integers(0, 6, 7) / 5
        pairs = [(p > n) + (p == n) / 2 for p, n in product(positive, negative)]
        assert auroc(positive, negative) == pytest.approx(np.mean(pairs))
