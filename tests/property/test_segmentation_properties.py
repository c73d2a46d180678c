"""Whatever a model replies, and whatever a session is: episodes in order, contiguous, exhaustive, without overlap."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.algo.boundaries import CHANNELS, segment
from mnemic.algo.segments import Segment, join, repair, windows

NUMBERS = st.one_of(
    st.integers(-5, 45),
    st.integers(),
    st.floats(),
    st.booleans(),
    st.none(),
    st.integers(-5, 45).map(str),
    st.integers(0, 40).map("turn {}".format),
    st.text(max_size=6),
    st.lists(st.integers(-3, 45), max_size=5),
)
KEYS = st.one_of(
    st.sampled_from(
        ["start", "end", "start_exchange", "end_exchange", "num_exchanges", "segment_id", "turns", "topic", "startTurn",
         "topic_summary", "summary", "title", "segments", "from", "to", "count", "range", "start_time"]
    ),
    st.text(max_size=8),
)  # fmt: skip
ITEMS = st.dictionaries(KEYS, st.one_of(NUMBERS, st.text(max_size=12)), max_size=7)
REPLIES = st.recursive(
    st.one_of(NUMBERS, st.text(max_size=20), ITEMS),
    lambda inner: st.one_of(st.lists(inner, max_size=8), st.dictionaries(KEYS, inner, max_size=5), st.tuples(inner)),
    max_leaves=25,
)
LIKELY = st.lists(
    st.fixed_dictionaries(
        {"start_exchange": st.integers(-2, 42), "end_exchange": st.integers(-2, 42), "topic": st.sampled_from("abcd")}
    ),
    min_size=1,
    max_size=12,
)


def whole(pieces, n):
    assert [piece.start for piece in pieces[:1]] == [0] * (n > 0)
    assert [piece.end for piece in pieces[-1:]] == [n] * (n > 0)
    assert all(one.end == two.start for one, two in pairwise(pieces))
    assert all(piece.start < piece.end for piece in pieces)


@given(st.one_of(REPLIES, LIKELY), st.integers(0, 40))
@settings(max_examples=600, deadline=None)
def test_any_reply_becomes_whole_episodes(reply, n):
    repaired = repair(reply, n)
    whole(repaired.segments, n)
    again = [
        {"start": one.start, "end": one.end - 1, "topic": one.topic, "summary": one.summary}
        for one in repaired.segments
    ]
    if repaired.usable:
        assert repair(again, n).segments == repaired.segments


@given(st.integers(1, 40), st.sets(st.integers(1, 39)), st.randoms(use_true_random=False))
def test_a_right_reply_in_any_order_and_writing_comes_back(n, places, random):
    bounds = list(pairwise([0, *sorted(place for place in places if place < n), n]))
    reply = [
        {random.choice(["start", "Start turn"]): written(low, random), "endExchange": written(high - 1, random),
         "topic": f"topic {low}"}
        for low, high in bounds
    ]  # fmt: skip
    random.shuffle(reply)
    found = repair({"segments": reply}, n)
    assert found.usable
    assert [(one.start, one.end, one.topic) for one in found.segments] == [
        (low, high, f"topic {low}") for low, high in bounds
    ]


def written(number, random):
    return random.choice([number, float(number), f"{number}", f" turn {number} ", f"{number}.0"])


@given(st.integers(1, 60), st.lists(st.integers(1, 59), unique=True, max_size=12), st.integers(2, 20), st.data())
def test_windows_that_see_the_same_boundaries_join_to_the_whole(n, places, size, data):
    overlap = data.draw(st.integers(1, size - 1))
    cuts = sorted(place for place in places if place < n)
    bounds = list(pairwise([0, *cuts, n]))
    parts = [
        (
            start,
            [
                Segment(max(low, start) - start, min(high, end) - start, f"{low}")
                for low, high in bounds
                if low < end and high > start
            ],
        )
        for start, end in windows(n, size, overlap)
    ]
    joined = join(parts)
    whole(joined, n)
    assert [(one.start, one.end, one.topic) for one in joined] == [(low, high, f"{low}") for low, high in bounds]


@given(st.lists(st.tuples(REPLIES, st.integers(2, 15)), min_size=1, max_size=5))
@settings(max_examples=150, deadline=None)
def test_windows_with_any_replies_join_to_whole_episodes(replies):
    parts = []
    start = end = 0
    for reply, size in replies:
        start = max(end - 1, 0)
        end = start + size
        parts.append((start, repair(reply, size).segments))
    whole(join(parts), end)


@given(
    st.integers(0, 80),
    st.integers(0, 2**32 - 1),
    st.integers(1, 6),
    st.integers(0, 100),
    st.sets(st.sampled_from(CHANNELS)),
)
@settings(max_examples=150, deadline=None)
def test_any_session_becomes_whole_episodes(n, seed, shortest, more, channels):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(n, 4)) + np.repeat(rng.normal(size=(20, 4)), 4, axis=0)[:n] * rng.uniform(0, 3)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    vectors[rng.random(n) < 0.1] = 0
    times = np.cumsum(rng.exponential(900, n))
    times[rng.random(n) < 0.2] = np.nan
    openings, may_open = rng.random(n) < 0.1, rng.random(n) < 0.7
    longest = 2 * shortest - 1 + more
    runs = segment(
        vectors,
        times=times,
        openings=openings,
        may_open=may_open,
        shortest=shortest,
        longest=longest,
        channels=channels,
    )
    whole(runs, n)
    assert all(run.opened_by for run in runs[1:])
    assert {name for run in runs for name in run.opened_by} <= {*channels}
    if "length" in channels:
        assert all(run.end - run.start <= longest for run in runs)
    if "gap" not in channels and n >= shortest:
        assert all(run.end - run.start >= shortest for run in runs)
