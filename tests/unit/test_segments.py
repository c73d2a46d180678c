"""Replies of a model to whole episodes, and windows of a long session to one."""

from __future__ import annotations

import pytest

from mnemic.algo.segments import LONGEST_SUMMARY, LONGEST_TOPIC, Segment, join, repair, windows


def bounds(repaired):
    return [(one.start, one.end, one.topic) for one in repaired.segments]


def test_a_reply_that_is_right_stays_as_it_is():
    reply = {
        "segments": [
            {"segment_id": 0, "start_exchange": 0, "end_exchange": 3, "num_exchanges": 4, "topic": "kiln",
             "topic_summary": "Ana's kiln cracked."},
            {"segment_id": 1, "start_exchange": 4, "end_exchange": 9, "num_exchanges": 6, "topic": "cat",
             "topic_summary": "Bo has a cat."},
        ]
    }  # fmt: skip
    repaired = repair(reply, 10)
    assert repaired.segments == (Segment(0, 4, "kiln", "Ana's kiln cracked."), Segment(4, 10, "cat", "Bo has a cat."))
    assert repaired.usable
    assert repaired.repairs == ()


@pytest.mark.parametrize(
    ("reply", "n", "found", "repairs"),
    [
        # numbers as they come
        ([{"start": "0", "end": "turn 1", "topic": "a"}, {"start": 2.0, "end": "3.0", "topic": "b"}], 4,
         [(0, 2, "a"), (2, 4, "b")], ()),
        ([{"startExchange": 0, "End index": 1, "title": "a"}, {"first-turn": 2, "last": 3, "name": "b"}], 4,
         [(0, 2, "a"), (2, 4, "b")], ()),
        ([{"start": 1, "end": 2, "topic": "a"}, {"start": 3, "end": 4, "topic": "b"}], 4,
         [(0, 2, "a"), (2, 4, "b")], ("turns were counted from 1",)),
        ([{"topic": "a", "turns": [0, 1]}, {"topic": "b", "turns": "2-3"}], 4, [(0, 2, "a"), (2, 4, "b")], ()),
        ([[0, 1, "a"], [2, 3, "b"]], 4, [(0, 2, "a"), (2, 4, "b")], ()),
        ({"start": 0, "end": 3, "topic": "a", "confidence": 0.5, "start_time": "9:30"}, 4, [(0, 4, "a")], ()),
        # gaps, overlaps, order
        ([{"start": 1, "end": 2, "topic": "a"}, {"start": 5, "end": 6, "topic": "b"}], 9,
         [(0, 5, "a"), (5, 9, "b")], ("turns were in no segment",)),
        ([{"start": 0, "end": 5, "topic": "a"}, {"start": 4, "end": 8, "topic": "b"}], 9,
         [(0, 4, "a"), (4, 9, "b")], ("segments overlapped",)),
        ([{"start": 0, "end": 8, "topic": "a"}, {"start": 3, "end": 4, "topic": "b"}], 9,
         [(0, 3, "a"), (3, 5, "b"), (5, 9, "a")], ("segments overlapped",)),
        ([{"start": 2, "end": 3, "topic": "b"}, {"start": 0, "end": 1, "topic": "a"}], 4,
         [(0, 2, "a"), (2, 4, "b")], ("segments were out of order",)),
        ([{"start": 3, "end": 0, "topic": "a"}], 4, [(0, 4, "a")], ()),
        ([{"start": 0, "end": 3, "topic": ""}, {"start": 0, "end": 3, "topic": "a"}], 4,
         [(0, 4, "a")], ("a segment was given twice",)),
        # out of range
        ([{"start": -3, "end": 1, "topic": "a"}, {"start": 2, "end": 99, "topic": "b"}], 4,
         [(0, 2, "a"), (2, 4, "b")], ("a segment reached beyond the session",)),
        ([{"start": 0, "end": 3, "topic": "a"}, {"start": 40, "end": 50, "topic": "b"}], 4,
         [(0, 4, "a")], ("a segment lay outside the session",)),
        # missing numbers
        ([{"start": 0, "topic": "a"}, {"start": 2, "topic": "b"}], 4,
         [(0, 2, "a"), (2, 4, "b")], ("a start or an end was missing",)),
        ([{"end": 1, "topic": "a"}, {"end": 3, "topic": "b"}], 4,
         [(0, 2, "a"), (2, 4, "b")], ("a start or an end was missing",)),
        ([{"num_exchanges": 2, "topic": "a"}, {"num_exchanges": 2, "topic": "b"}], 4,
         [(0, 2, "a"), (2, 4, "b")], ("a start or an end was missing",)),
        ({"topic": "a"}, 4, [(0, 4, "a")], ("a start or an end was missing",)),
        ([{"topic": "lost"}, {"start": 0, "end": 3, "topic": "a"}], 4, [(0, 4, "a")], ("a segment had no numbers",)),
        ({"boundaries": [0, 2, 3]}, 4, [(0, 2, ""), (2, 3, ""), (3, 4, "")], ("a start or an end was missing",)),
        # wrappers
        ({"count": 2, "result": {"episodes": {"0": {"from": 0, "to": 1}, "1": {"from": 2, "to": 3}}}}, 4,
         [(0, 2, ""), (2, 4, "")], ()),
        ([[{"start": 0, "end": 3, "topic": "a"}], None, "noise", 7], 4, [(0, 4, "a")], ()),
    ],
)  # fmt: skip
def test_what_can_be_kept_is_kept(reply, n, found, repairs):
    repaired = repair(reply, n)
    assert bounds(repaired) == found
    assert repaired.usable
    assert repaired.repairs == repairs


@pytest.mark.parametrize(
    "reply",
    [None, "", "[]", 7, True, [], {}, [None], [[]], {"segments": []}, [{"topic": "a"}, {"topic": "b"}],
     [{"start": 99, "end": 120}], [{"start": True, "end": float("nan")}], {"start": "soon", "end": "late"},
     [{"start": "9" * 5000, "end": "1" * 50}]],
)  # fmt: skip
def test_a_reply_of_no_use_gives_blocks_and_says_so(reply):
    repaired = repair(reply, 14)
    assert bounds(repaired) == [(0, 6, ""), (6, 12, ""), (12, 14, "")]
    assert not repaired.usable
    assert repaired.repairs == ("no segment could be read",)


def test_no_turns_no_segments():
    assert repair([{"start": 0, "end": 3}], 0).segments == ()


def test_words_are_bounded_and_of_one_line():
    found = repair([{"start": 0, "end": 1, "topic": " a\n b " + "x" * 500, "summary": "y " * 5000}], 2).segments[0]
    assert found.topic.startswith("a b x")
    assert len(found.topic) == LONGEST_TOPIC
    assert len(found.summary) in (LONGEST_SUMMARY - 1, LONGEST_SUMMARY)
    assert repair([{"start": 0, "end": 1, "topic": ["a"], "summary": 3}], 2).segments == (Segment(0, 2),)


def test_windows_share_turns():
    assert windows(10, 4, 1) == [(0, 4), (3, 7), (6, 10)]
    assert windows(5, 4, 2) == [(0, 4), (2, 5)]
    assert windows(4, 4, 3) == [(0, 4)]
    assert windows(0, 4, 1) == []
    for overlap in (0, 4):
        with pytest.raises(ValueError, match="cannot share"):
            windows(10, 4, overlap)


def test_an_episode_across_a_seam_is_one():
    first = [Segment(0, 3, "a"), Segment(3, 10, "b", "long")]
    second = [Segment(0, 5, "B"), Segment(5, 8, "c")]
    assert join([(0, first), (6, second)]) == [Segment(0, 3, "a"), Segment(3, 11, "b", "long"), Segment(11, 14, "c")]


def test_each_window_speaks_for_its_side_of_the_seam():
    first = [Segment(0, 9, "a"), Segment(9, 10, "cut off")]
    second = [Segment(0, 1, "cut on"), Segment(1, 8, "b")]
    # Turns 6 to 9 are shared, the seam is at 8: the boundary at 7 is the first window's to see, that at 9 the second's.
    assert join([(0, first), (6, second)]) == [Segment(0, 14, "a")]
    assert join([(0, [Segment(0, 7, "a"), Segment(7, 10, "b")]), (6, [Segment(0, 3, "B"), Segment(3, 8, "c")])]) == [
        Segment(0, 7, "a"),
        Segment(7, 9, "b"),
        Segment(9, 14, "c"),
    ]


def test_a_boundary_on_the_seam_stays():
    halves = [Segment(0, 8, "a"), Segment(8, 10, "b")]
    assert join([(0, halves), (6, [Segment(0, 8, "x")])]) == [Segment(0, 8, "a"), Segment(8, 14, "x")]
    assert join([(0, [Segment(0, 10, "a")]), (6, [Segment(0, 2, "A"), Segment(2, 8, "b")])]) == [
        Segment(0, 8, "a"),
        Segment(8, 14, "b"),
    ]
    assert join([]) == []
    assert join([(0, halves)]) == halves
