from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.algo.when import between, proximity

DAY = 86_400.0


def near(*intervals: tuple[float, float], asked: list[tuple[float, float, float]], scale: float = 7.0) -> list[float]:
    """All in days."""
    start, end = (np.array(column) * DAY for column in zip(*intervals, strict=True))
    return proximity(start, end, [(a * DAY, b * DAY, w) for a, b, w in asked], scale_days=scale).tolist()


def test_inside_beside_and_far_by_hand() -> None:
    found = near((10, 10), (12, 12), (5, 6), (0, 30), asked=[(9, 11, 1.0)])
    assert found == pytest.approx([1, 1 / (1 + 1 / 7), 1 / (1 + 3 / 7), 1])


def test_at_the_scale_it_is_a_half() -> None:
    assert near((17, 17), (3, 3), asked=[(10, 10, 1.0)]) == pytest.approx([0.5, 0.5])


def test_the_nearest_of_several_counts_with_its_weight() -> None:
    assert near((10, 10), asked=[(10, 11, 0.25), (17, 18, 1.0)]) == pytest.approx([0.5])
    assert near((10, 10), asked=[(10, 11, 0.6), (17, 18, 1.0)]) == pytest.approx([0.6])


def test_open_ends_reach_everywhere_on_their_side() -> None:
    found = near((-math.inf, 5), (20, math.inf), (-math.inf, math.inf), asked=[(10, 12, 1.0)])
    assert found == pytest.approx([1 / (1 + 5 / 7), 1 / (1 + 8 / 7), 1])
    assert near((50, 50), (1, 1), asked=[(10, math.inf, 1.0)]) == pytest.approx([1, 1 / (1 + 9 / 7)])
    assert near((50, 50), asked=[(-math.inf, 10, 1.0)]) == pytest.approx([1 / (1 + 40 / 7)])
    assert near((-math.inf, math.inf), asked=[(-math.inf, math.inf, 1.0)]) == [1]


def test_an_unknown_time_is_near_nothing_and_nothing_is_near_no_time() -> None:
    assert near((math.nan, math.nan), asked=[(0, math.inf, 1.0)]) == [0]
    assert near((1, 1), asked=[]) == [0]


days = st.floats(-1e6, 1e6)


@given(st.lists(st.tuples(days, days).map(sorted), min_size=1, max_size=5),
       st.lists(st.tuples(days, days, st.floats(0, 1)), max_size=4))  # fmt: skip
def test_between_zero_and_the_largest_weight(intervals: list[list[float]], asked: list[tuple[float, ...]]) -> None:
    asked_for = [(min(a, b), max(a, b), w) for a, b, w in asked]
    found = near(*[(a, b) for a, b in intervals], asked=asked_for)
    assert all(0 <= value <= max((w for *_, w in asked_for), default=0) for value in found)


nan = math.nan


@pytest.mark.parametrize(
    ("times", "low", "high"),
    [
        ([1, nan, nan, 4], [1, 1, 1, 4], [1, 4, 4, 4]),
        ([nan, 2, nan], [2, 2, 2], [2, 2, 2]),
        ([5, nan, 3], [5, 3, 3], [5, 5, 3]),  # an imported dialogue that is out of order
        ([1, 2], [1, 2], [1, 2]),
        ([nan, nan], [nan, nan], [nan, nan]),
        ([], [], []),
    ],
)
def test_what_has_no_date_was_said_between_its_neighbours(times, low, high) -> None:
    found = between(np.array(times, np.float64))
    assert [column.tolist() for column in found] == [pytest.approx(low, nan_ok=True), pytest.approx(high, nan_ok=True)]


@given(st.lists(st.one_of(st.just(nan), st.floats(-1e9, 1e9)), max_size=12))
def test_the_neighbours_are_those_that_a_slow_search_finds(times) -> None:
    low, high = between(np.array(times, np.float64))
    for place, time in enumerate(times):
        before = next((other for other in reversed(times[: place + 1]) if other == other), None)
        after = next((other for other in times[place:] if other == other), None)
        around = [one for one in (before, after) if one is not None]
        if time == time:
            assert (low[place], high[place]) == (time, time)
        elif around:
            assert (low[place], high[place]) == (min(around), max(around))
        else:
            assert math.isnan(low[place])
