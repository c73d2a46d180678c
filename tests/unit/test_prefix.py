from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.algo.prefix import overlap

items = st.text("ab", max_size=12)


def brute_force(stored: str, sent: str) -> tuple[int, int]:
    """The first place where all of it is; else the longest beginning that ends what is stored."""
    for start in range(len(stored) - len(sent) + 1):
        if sent and stored[start : start + len(sent)] == sent:
            return start, len(sent)
    for length in range(min(len(stored), len(sent)), -1, -1):
        if stored.endswith(sent[:length]):
            return len(stored) - length, length
    raise AssertionError


@pytest.mark.parametrize(
    ("stored", "sent", "expected"),
    [
        ("abc", "abcd", (0, 3)),  # the whole history and something new
        ("abcd", "cdef", (2, 2)),  # its oldest part cut
        ("abcd", "bc", (1, 2)),  # a repeat of an earlier call
        ("abcd", "xy", (4, 0)),  # something new only
        ("abcd", "xbcd", (4, 0)),  # a history that was rewritten
        ("", "ab", (0, 0)),
        ("ab", "", (2, 0)),
        ("aab", "aaab", (3, 0)),
        ("aaa", "aaaa", (0, 3)),
        ("abab", "ababab", (0, 4)),
    ],
)
def test_overlaps_by_hand(stored: str, sent: str, expected: tuple[int, int]) -> None:
    assert overlap(stored, sent) == expected


@given(items, items)
def test_equals_a_search_through_all_places(stored: str, sent: str) -> None:
    assert overlap(stored, sent) == brute_force(stored, sent)


@given(items, items, st.integers(0, 12))
def test_what_overlaps_is_equal(stored: str, new: str, cut: int) -> None:
    sent = stored[cut:] + new
    start, length = overlap(stored, sent)
    assert stored[start : start + length] == sent[:length]
    assert length >= min(len(sent), len(stored) - cut)


def test_a_long_history_takes_linear_time() -> None:
    started = time.process_time()
    n = 200_000
    assert overlap(["a"] * n, ["a"] * (n // 2) + ["b"]) == (n // 2, n // 2)
    assert time.process_time() - started < 3
