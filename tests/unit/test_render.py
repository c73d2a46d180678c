from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.algo.parts import Content
from mnemic.algo.render import embedded, line, moment, words
from mnemic.types import Part, Span, Trace, Turn


def turn(text: str, *parts: Part, at: datetime | None = None) -> Turn:
    return Turn("t1", "s1", "user", "Ana", text, at, parts)


@pytest.mark.parametrize(
    ("at", "shown"),
    [
        (datetime(2023, 5, 8, 13, 56, tzinfo=UTC), "2023-05-08 13:56 UTC"),
        (datetime(2023, 5, 8, 13, 56, tzinfo=timezone(timedelta(hours=5, minutes=30))), "2023-05-08 13:56 +05:30"),
        (datetime(2023, 5, 8, 13, 56, tzinfo=timezone(timedelta(hours=-3))), "2023-05-08 13:56 -03:00"),
        (datetime(812, 1, 2, 3, 4, tzinfo=UTC), "0812-01-02 03:04 UTC"),
        (datetime(9999, 12, 31, 23, 59, tzinfo=UTC), "9999-12-31 23:59 UTC"),
        (None, "undated"),
    ],
)
def test_moments(at: datetime | None, shown: str) -> None:
    assert moment(at) == shown


def test_a_line_says_who_when_and_what() -> None:
    said = turn("I love Lisbon.", at=datetime(2023, 5, 8, 13, 56, tzinfo=UTC))
    assert line(said, 2, 14) == "Ana (2023-05-08 13:56 UTC): love Lisbon."
    assert line(turn("Hi"), 0, 2) == "Ana (undated): Hi"


@given(st.text(alphabet=st.characters(codec=None), max_size=30), st.integers(0, 30), st.integers(0, 30))
def test_words_without_parts_are_the_slice_itself(text: str, start: int, end: int) -> None:
    assert words(turn(text), start, end) == text[start:end]


MIXED = turn(
    "Look here\na red bike\nf(1)",
    Part("text", 0, 9),
    Part("image", 10, 20, "http://x/bike.png"),
    Part("tool_call", 21, 25, "f"),
)


@pytest.mark.parametrize(
    ("start", "end", "shown"),
    [
        (0, 25, "Look here\n[image: a red bike]\n[tool call: f(1)]"),
        (0, 9, "Look here"),
        (5, 15, "here\n[image: a red]"),
        (0, 10, "Look here"),
        (10, 20, "[image: a red bike]"),
        (20, 25, "[tool call: f(1)]"),
        (3, 3, ""),
    ],
)
def test_what_is_no_plain_text_stands_in_brackets(start: int, end: int, shown: str) -> None:
    assert words(MIXED, start, end) == shown


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (["Look", {"type": "image_url", "image_url": {"url": "u"}}], "Look\n[image]"),
        ([{"type": "image_url", "image_url": {"url": "u"}}, "Look"], "[image]\nLook"),
        (["Look", {"type": "image_url", "image_url": {"url": "u"}}, "there"], "Look\n[image]\nthere"),
        ([{"type": "image_url", "image_url": {"url": "u"}}], "[image]"),
    ],
)
def test_something_without_words_is_shown_where_it_stood(content: Any, shown: str) -> None:
    given = Content()
    given.add_all(content)
    said = turn(given.text, *given.parts)
    assert words(said, 0, len(said.text)) == shown


def test_what_is_embedded_of_a_trace_is_its_words_alone() -> None:
    trace = Trace("T1", 0, "s1", (Span("t1", 0, 3), Span("t2", 4, 7)), 2)
    assert embedded(trace, {"t1": "one two", "t2": "abc def"}) == "one\ndef"
