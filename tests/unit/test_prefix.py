from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.algo.prefix import overlap, recognise
from yardstick import at_most

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
    with at_most(3):
        n = 200_000
        assert overlap(["a"] * n, ["a"] * (n // 2) + ["b"]) == (n // 2, n // 2)


# with instructions (in capitals) and changed histories -------------------------------------------------

mixed = st.text("abcAB", max_size=10)


def recognised(stored: str, sent: str) -> str:
    """The messages that are new, each in its place; a dot for what is known."""
    places = recognise(stored, sent, standing=str.isupper)
    return "".join(item if place is None else "." for item, place in zip(sent, places, strict=True))


@pytest.mark.parametrize(
    ("stored", "sent", "new"),
    [
        ("Sab", "Sabc", "...c"),
        ("Sab", "Tabc", "T..c"),  # instructions that differ from call to call
        ("SabTc", "Tabcd", "....d"),  # and their repeat
        ("SabT", "Tabc", "...c"),  # what ends the store are instructions, and the dialogue goes on all the same
        ("Sabcd", "Scde", "...e"),  # the oldest part of the dialogue cut, behind its instructions
        ("aRb", "aRbR", "...R"),  # instructions said twice
        ("ab", "axc", ".xc"),  # an answer made anew
        ("abxc", "axcd", "...d"),  # and how that history goes on
        ("ba", "bb", ".b"),
        ("bab", "bb", ".."),  # and its repeat
        ("xbaycb", "by", ".y"),  # might be the end of the store and something new: nothing is lost
        ("abc", "xbc", "xbc"),  # another beginning
        ("", "Sa", "Sa"),
        ("S", "S", "."),
    ],
)
def test_what_is_new_by_hand(stored: str, sent: str, new: str) -> None:
    assert recognised(stored, sent) == new


@given(mixed, mixed)
def test_what_is_known_is_stored_and_counted_once(stored: str, sent: str) -> None:
    places = recognise(stored, sent, standing=str.isupper)
    known = [(item, place) for item, place in zip(sent, places, strict=True) if place is not None]
    assert all(stored[place] == item for item, place in known)
    assert len({place for _, place in known}) == len(known)
    dialogue = [place for item, place in known if item.islower()]
    assert dialogue == sorted(dialogue)


@given(mixed, mixed)
def test_a_history_that_only_grew_has_its_end_as_new(stored: str, new: str) -> None:
    places = recognise(stored, stored + new, standing=str.isupper)
    assert sum(place is not None for place in places) >= len(stored)
    assert recognise(stored, stored, standing=str.isupper) == list(range(len(stored)))


@given(st.lists(st.tuples(mixed, mixed), max_size=5))
def test_sending_a_history_again_adds_nothing(changes: list[tuple[str, str]]) -> None:
    stored = ""
    for head, tail in changes:
        sent = head + tail
        stored += recognised(stored, sent).replace(".", "")
        assert recognised(stored, sent).strip(".") == ""
