"""Change points against arithmetic, and against trying every way to cut."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from mnemic.algo.changepoints import change_points, gain, noise

X, Y = np.array([1.0, 0.0]), np.array([0.0, 1.0])


def test_noise_is_half_the_mean_squared_step():
    assert noise(np.array([X, X, Y])) == pytest.approx((0 + 2) / 2 / 2)
    assert noise(np.array([X, 0 * X, Y])) == pytest.approx(2 / 2)  # a blank turn is passed over
    assert noise(np.array([X])) == 0.0


def test_gain_is_what_a_cut_takes_from_the_scatter():
    left, right = np.array([X, X, X]), np.array([Y])
    assert gain(left, right) == pytest.approx(3 * 1 / 4 * 2)
    whole = np.concatenate([left, right])
    assert gain(left, right) == pytest.approx(scatter(whole) - scatter(left) - scatter(right))
    assert gain(left, 0 * right) == 0.0


def scatter(rows):
    return float(np.square(rows - rows.mean(axis=0)).sum())


def every_way(n, allowed, shortest, longest):
    places = [place for place in range(1, n) if allowed[place]]
    for count in range(n):
        for cuts in combinations(places, count):
            if all(shortest <= end - start <= longest for start, end in pairwise([0, *cuts, n])):
                yield cuts


@pytest.mark.parametrize("seed", range(12))
def test_the_cuts_are_the_cheapest_of_all(seed):
    rng = np.random.default_rng(seed)
    n = 11
    vectors = rng.normal(size=(n, 3)) + np.repeat(rng.normal(size=(4, 3)) * 2, 3, axis=0)[:n]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    allowed = rng.random(n) < 0.8
    shortest, longest = int(rng.integers(1, 3)), int(rng.integers(5, 12))
    penalty = float(rng.uniform(0, 1))

    def cost(cuts):
        return sum(scatter(vectors[a:b]) for a, b in pairwise([0, *cuts, n])) + penalty * len(cuts)

    ways = list(every_way(n, allowed, shortest, longest))
    found = change_points(vectors, allowed, penalty=penalty, shortest=shortest, longest=longest)
    assert tuple(found) in ways
    assert cost(found) == pytest.approx(min(map(cost, ways)))


def test_where_a_run_may_not_begin_gives_way_to_the_length():
    vectors = np.tile(X, (10, 1))
    found = change_points(vectors, np.zeros(10, bool), penalty=1.0, shortest=2, longest=4)
    assert all(2 <= end - start <= 4 for start, end in pairwise([0, *found, 10]))
    assert change_points(vectors, np.ones(10, bool), penalty=1e-6, shortest=2, longest=20) == []


def test_too_few_to_cut():
    assert change_points(np.array([X, Y, X]), np.ones(3, bool), penalty=0.0, shortest=2, longest=3) == []
    assert change_points(np.zeros((0, 2)), np.ones(0, bool), penalty=0.0, shortest=1, longest=3) == []
