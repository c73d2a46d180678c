from __future__ import annotations

import numpy as np
import pytest

from mnemic.bench import statistics
from mnemic.bench.statistics import holm, intervals, paired, resampled, resampled_means, sign_flip
from mnemic.errors import InvalidInput
from yardstick import at_most


def test_each_resample_has_as_many_questions_as_there_are() -> None:
    counts = np.concatenate(list(resampled(7, resamples=50)))
    assert counts.shape == (50, 7)
    assert (counts.sum(axis=1) == 7).all()
    assert len(np.unique(counts, axis=0)) > 40


def test_equal_seeds_draw_alike_and_others_do_not() -> None:
    values = np.arange(30.0)[:, None]
    assert np.array_equal(resampled_means(values), resampled_means(values))
    assert not np.array_equal(resampled_means(values), resampled_means(values, seed=1))


def test_a_resample_of_clusters_takes_whole_clusters_sizes() -> None:
    clusters = ["a", "b", "b", "b", "a"]
    for counts in np.concatenate(list(resampled(5, clusters=clusters, resamples=200))):
        assert counts[[0, 4]].sum() in (0, 2, 4)
        assert counts[1:4].sum() in (0, 3, 6)
        assert (counts[[0, 4]].sum() / 2) + (counts[1:4].sum() / 3) == 2


def test_the_interval_is_that_of_the_normal_approximation_for_many_questions() -> None:
    values = np.random.default_rng(3).random((1000, 2)) * [1, 10]
    half = 1.96 * values.std(axis=0) / np.sqrt(1000)
    low, high = intervals(values).T
    assert low == pytest.approx(values.mean(axis=0) - half, rel=0.01)
    assert high == pytest.approx(values.mean(axis=0) + half, rel=0.01)


def test_alike_questions_within_conversations_widen_the_interval() -> None:
    clusters = np.repeat(range(10), 50)
    values = np.repeat(np.random.default_rng(0).random(10), 50)[:, None]
    plain, clustered = (np.diff(intervals(values, clusters=c))[0, 0] for c in (None, list(clusters)))
    assert clustered > 4 * plain


def test_questions_that_agree_have_no_width() -> None:
    assert intervals(np.full((9, 1), 0.25)) == pytest.approx(np.array([[0.25, 0.25]]))


def test_large_sets_are_drawn_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "_CELLS", 30)
    parts = list(resampled(10, resamples=8))
    assert [len(part) for part in parts] == [3, 3, 2]
    assert (np.concatenate(parts).sum(axis=1) == 10).all()


@pytest.mark.parametrize(("n", "clusters"), [(0, None), (3, ["a"])])
def test_nothing_to_resample(n: int, clusters: list[str] | None) -> None:
    with pytest.raises(ValueError, match="to resample"):
        list(resampled(n, clusters=clusters))


def test_two_thousand_resamples_of_locomo_are_quick() -> None:
    values = np.random.default_rng(0).random((1536, 14))
    with at_most(0.5):
        intervals(values)


def test_sign_flips_of_hits_are_the_binomial_sign_test() -> None:
    from scipy.stats import binomtest

    for better, worse in ((9, 2), (5, 5), (300, 240), (1, 0)):
        differences = np.array([1.0] * better + [-1.0] * worse + [0.0] * 20)
        assert sign_flip(differences) == pytest.approx(binomtest(better, better + worse).pvalue)


def test_sign_flips_by_enumerating_all() -> None:
    differences = np.array([0.5, 0.5, -1 / 3, 1.0, 2 / 3, 0.0, 0.25])
    signs = np.array(np.meshgrid(*[[-1, 1]] * len(differences))).reshape(len(differences), -1)
    sums = np.abs(differences @ signs)
    assert sign_flip(differences) == pytest.approx((sums >= abs(differences.sum()) - 1e-9).mean())


def test_sampled_sign_flips_agree_with_scipy() -> None:
    from scipy.stats import permutation_test

    differences = np.random.default_rng(5).normal(0.1, 1, 200)
    expected = permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=20_000, rng=np.random.default_rng(1)
    ).pvalue
    assert sign_flip(differences) == pytest.approx(expected, abs=0.015)
    assert sign_flip(differences) == sign_flip(differences)


def test_nothing_differs() -> None:
    assert sign_flip(np.zeros(5)) == 1


def test_pairs_by_hand() -> None:
    a = {"q1": [0.0, 1.0], "q2": [0.0, 1.0], "q3": [1.0, 1.0]}
    b = {"q3": [1.0, 1.0], "q2": [1.0, 1.0], "q1": [1.0, 1.0]}
    first, second = paired(a, b)
    assert (first.n, first.a, first.b, first.difference) == (3, pytest.approx(1 / 3), 1, pytest.approx(2 / 3))
    assert first.p == 0.5
    assert (first.low, first.high) == (0, 1)
    assert (second.difference, second.low, second.high, second.p) == (0, 0, 0, 1)


def test_pairs_take_clusters() -> None:
    a = {f"q{i}": [0.0] for i in range(40)}
    b = {f"q{i}": [float(i < 20)] for i in range(40)}
    plain, clustered = (
        paired(a, b, clusters=c)[0] for c in (None, {question: int(question[1:]) < 20 for question in a})
    )
    assert (clustered.low, clustered.high) == (0, 1)
    assert plain.low > 0.3


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ({"q1": [1.0], "q2": [1.0]}, {"q2": [1.0], "q9": [1.0]}, "q1 only by the first, q9 only by the second"),
        ({}, {"q9": [1.0]}, "none only by the first, q9"),
        ({f"q{i}": [1.0] for i in range(9)}, {}, "q0, q1, q2 and 6 more only by the first"),
        ({}, {}, "no question"),
    ],
)
def test_other_questions_are_named(a: dict[str, list[float]], b: dict[str, list[float]], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        paired(a, b)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1, 1]
    assert holm([]) == []
