"""The local segmenter: each channel, their joining, and the limits."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from mnemic.algo.boundaries import CHANNELS, Run, discontinuity, gaps, initiatives, segment, surprises

DIM = 24


def talk(*topics, spread=0.6, seed=0):
    """Unit vectors of turns, ``(topic, turns)`` after each other: a direction for each topic, and noise about it."""
    rng = np.random.default_rng(seed)
    means = np.linalg.qr(np.random.default_rng(7).normal(size=(DIM, DIM)))[0]
    rows = [
        means[topic] + spread * rng.normal(size=DIM) / np.sqrt(DIM) * 2 for topic, turns in topics for _ in range(turns)
    ]
    return (np.array(rows) / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def starts(runs):
    return [run.start for run in runs[1:]]


def test_a_change_of_topic_is_found_where_it_is():
    runs = segment(talk((0, 12), (1, 9), (2, 14)))
    assert [(run.start, run.end) for run in runs] == [(0, 12), (12, 21), (21, 35)]
    assert ["topic" in run.opened_by for run in runs] == [False, True, True]


def test_one_topic_is_one_episode():
    for seed in range(30):
        assert segment(talk((0, 40), seed=seed), channels=("topic",)) == [Run(0, 40, ())]


def test_chance_seldom_surprises():
    assert sum(len(segment(talk((0, 40), seed=seed))) - 1 for seed in range(60)) <= 9


def test_a_topic_that_comes_back_is_an_episode_of_its_own():
    assert starts(segment(talk((0, 10), (1, 10), (0, 10)))) == [10, 20]


def test_topics_told_turn_about_turn_stay_together():
    interleaved = talk(*[(place % 2, 1) for place in range(30)])
    assert segment(interleaved) == [Run(0, 30, ())]
    framed = talk((2, 10), *[(place % 2, 1) for place in range(20)], (3, 10), spread=0.4)
    assert starts(segment(framed)) == [10, 30]


@pytest.mark.parametrize("squeeze", [0.0, 1.0, 3.0])
def test_the_same_cuts_whatever_the_scale_of_an_embedders_cosines(squeeze):
    """All texts of some embedders lie in one narrow cone: cosines from .75 to 1."""
    vectors = np.hstack([talk((0, 12), (1, 9), (2, 14)), np.full((35, 1), squeeze, np.float32)])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert starts(segment(vectors)) == [12, 21]


def test_a_short_detour_surprises():
    vectors = talk((0, 20), (1, 2), (0, 20), spread=0.2)
    assert segment(vectors, channels=("surprise",)) == [
        Run(0, 20, ()),
        Run(20, 22, ("surprise",)),
        Run(22, 42, ("surprise",)),
    ]
    assert starts(segment(vectors)) == [20, 22]


def test_a_boundary_that_two_channels_see_names_both():
    vectors = talk((0, 20), (1, 20), spread=0.25)
    assert segment(vectors)[1] == Run(20, 40, ("surprise", "topic"))


def test_an_opening_cuts_one_topic():
    marks = np.zeros(20, bool)
    marks[[0, 8]] = True
    assert segment(talk((0, 20)), openings=marks) == [Run(0, 8, ()), Run(8, 20, ("opening",))]


def test_an_opening_beside_a_drift_is_the_boundary():
    marks = np.zeros(24, bool)
    marks[13] = True
    vectors = talk((0, 12), (1, 12))
    assert starts(segment(vectors)) == [12]
    assert segment(vectors, openings=marks)[1] == Run(13, 24, ("opening", "topic"))


def test_a_reply_opens_nothing():
    roles = ("user", "assistant") * 12
    vectors = talk((0, 11), (1, 13))
    assert starts(segment(vectors)) == [11]
    assert starts(segment(vectors, may_open=initiatives(roles)))[0] in (10, 12)
    assert initiatives(("assistant", "user", "tool", "assistant", "assistant", "user", "user", "system")).tolist() == [
        True, True, False, False, True, True, True, True,
    ]  # fmt: skip


MINUTE = 60.0


@pytest.mark.parametrize(
    ("minutes", "found"),
    [
        ([], []),
        ([5], []),
        ([0, 1, 2, 32, 33], [3]),
        ([0, 1, 2, 31, 32], []),  # 29 minutes
        ([0, 60 * 24 * 30], [1]),  # two messages a month apart
        ([60 * hour for hour in (0, 2, 4, 6, 8, 10, 12, 14, 31, 33)], [1, 2, 3, 8][3:]),  # a slow talk, and a night
        ([1440 * day for day in range(12)], []),  # a diary
        ([0, 1, float("nan"), 3, float("nan"), 90, 91], [5]),
        ([0, 1, 50, 2, 3, 4], [2]),  # a clock that went back
        ([float("nan")] * 3, []),
    ],
)
def test_gaps(minutes, found):
    assert np.flatnonzero(gaps(np.array(minutes, float) * MINUTE)).tolist() == found


def test_a_gap_makes_even_a_single_turn_an_episode():
    times = np.array([0, 1, 2, 3, 300, 600, 601, 602], float) * MINUTE
    runs = segment(talk((0, 8)), times=times, shortest=3)
    assert runs == [Run(0, 4, ()), Run(4, 5, ("gap",)), Run(5, 8, ("gap",))]


def test_no_episode_is_longer_than_the_limit():
    runs = segment(talk((0, 50)), longest=20)
    assert [run.end - run.start for run in runs if run.end - run.start > 20] == []
    assert {run.opened_by for run in runs[1:]} == {("length",)}


def test_no_episode_is_shorter_than_the_limit():
    vectors = talk((0, 12), (1, 3), (2, 12), spread=0.1)
    assert starts(segment(vectors)) == [12, 15]
    assert all(run.end - run.start >= 6 for run in segment(vectors, shortest=6))
    assert segment(vectors, shortest=14, longest=60) == [Run(0, 27, ())]


def test_a_very_long_session_is_cut_by_windows_as_if_it_were_whole():
    lengths = [17, 40, 90, 23, 120, 64, 31, 77, 110, 25, 99, 48, 140, 36, 88, 70, 52, 66]
    vectors = talk(*[(place % DIM, turns) for place, turns in enumerate(lengths)])
    assert len(vectors) > 2 * 512
    assert starts(segment(vectors, longest=256)) == np.cumsum(lengths)[:-1].tolist()


def test_blank_turns_say_nothing():
    vectors = talk((0, 12), (1, 12))
    vectors[[3, 11, 12, 20]] = 0
    assert [place in (11, 12, 13) for place in starts(segment(vectors))] == [True]
    assert segment(np.zeros((9, DIM), np.float32)) == [Run(0, 9, ())]


def test_turns_that_are_all_alike_are_one_episode():
    assert segment(np.tile(talk((0, 1)), (60, 1))) == [Run(0, 60, ())]


def test_the_smallest_sessions():
    assert segment(np.zeros((0, DIM), np.float32)) == []
    assert segment(talk((0, 1))) == [Run(0, 1, ())]
    assert segment(talk((0, 1), (1, 1))) == [Run(0, 2, ())]
    assert segment(talk((0, 3), (1, 3), spread=0.1)) == [Run(0, 3, ()), Run(3, 6, ("topic",))]


def test_discontinuity_is_one_minus_the_cosine_of_two_and_two():
    x, y = np.eye(2)
    found = discontinuity(np.array([x, x, y, y, 0 * x, 0 * x]))
    assert found == pytest.approx([0, 1 - 1 / np.sqrt(2), 1, 1 - 1 / np.sqrt(2), 0, 0])
    assert not surprises(np.array([x, x, x, x, y, y])).any()  # six differences: nothing can stand out
    assert np.flatnonzero(surprises(np.array([x] * 20 + [y] * 20))).tolist() == [20]


def test_channels_can_be_left_out():
    vectors, marks = talk((0, 20), (1, 20), spread=0.25), np.arange(40) == 10
    assert segment(vectors, openings=marks, channels=()) == [Run(0, 40, ())]
    for channel in CHANNELS:
        named = {name for run in segment(vectors, openings=marks, channels=(channel,)) for name in run.opened_by}
        assert named <= {channel}


@pytest.mark.parametrize(
    "arguments",
    [
        {"times": np.zeros(3)},
        {"openings": np.zeros((4, 1), bool)},
        {"may_open": np.zeros(5, bool)},
        {"shortest": 0},
        {"shortest": 4, "longest": 6},
        {"longest": 257},
    ],
)
def test_what_does_not_belong_together_is_refused(arguments):
    with pytest.raises(ValueError):
        segment(talk((0, 4)), **arguments)


def test_vectors_must_be_finite_rows():
    with pytest.raises(ValueError, match="finite"):
        segment(np.array([[np.nan, 1.0]]))
    with pytest.raises(ValueError, match="vectors"):
        segment(np.zeros(4))


def test_runs_are_contiguous():
    runs = segment(talk((0, 30), (1, 5), (2, 40)), openings=np.arange(75) % 7 == 0, times=np.arange(75) ** 3.0)
    assert (runs[0].start, runs[-1].end) == (0, 75)
    assert all(one.end == two.start for one, two in pairwise(runs))
