"""Stored text as the inspector shows it, addresses of its pages, and what changed between two texts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.service.inspector import words
from mnemic.service.inspector.differ import Piece, pieces
from mnemic.types import Interval

anything = st.text(st.characters(exclude_categories=()), max_size=40)


@given(anything)
def test_what_is_shown_can_be_sent_to_a_browser(text):
    for found in (words.shown(text), words.named(text), words.short(text, 9)):
        found.encode()  # no lone surrogate
        assert not any(ord(one) < 32 and one not in "\t\n" for one in found)
    assert len(words.short(text, 9)) <= 9


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), max_size=40))
def test_ordinary_words_are_shown_as_they_are(text):
    assert words.shown(text) == text
    assert words.named(text) == text


def test_a_name_cannot_hide_what_it_is():
    assert words.named("a\u202eb\u200bc\nd\ud800") == "a[U+202E]b[U+200B]c[U+000A]d\ufffd"
    assert words.shown("a\x00\x1b[31m\x7f\n") == "a\u2400\u241b[31m\u2421\n"
    assert words.named("x" * 300) == "x" * 199 + "…"


@given(st.dictionaries(st.sampled_from(["user", "session", "turn", "q"]), anything.filter(bool)))
def test_an_address_gives_back_what_went_into_it(given_values):
    address = words.address("timeline", given_values)
    page, _, query = address.partition("?")
    assert page == "timeline"
    assert all(ord(one) < 128 and one not in "<>\"'` " for one in address)
    assert words.asked(query) == given_values


def test_an_address_leaves_out_what_is_not_asked_and_jumps():
    assert words.address("notes", {"user": "a b", "note": None, "kind": ""}, at="t61") == "notes?user=a%20b#t61"


def test_no_address_is_refused():
    assert words.asked("q=a+b&&x&y=%zz%ff&q=c") == {"q": "c", "x": "", "y": "%zz\ufffd"}


def test_times_are_told():
    oslo = datetime(2024, 5, 1, 9, 5, tzinfo=timezone(timedelta(hours=2)))
    assert words.moment(oslo) == "1 May 2024, 09:05 +02:00"
    assert words.moment(datetime(2024, 5, 1, 9, 5, tzinfo=UTC)) == "1 May 2024, 09:05 UTC"
    assert words.moment(None) == "at an unknown time"
    assert words.stretch(Interval(oslo, oslo + timedelta(days=1))) == "1 May 2024 – 2 May 2024"
    assert words.stretch(Interval(oslo, oslo)) == "1 May 2024"
    assert [words.validity(Interval(*ends)) for ends in ((None, None), (oslo, None), (None, oslo), (oslo, oslo))] == [
        "at any time", "since 1 May 2024", "until 1 May 2024", "1 May 2024 – 1 May 2024",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("count", "told"), [(1, "1 byte"), (2048, "2 KiB"), (3 << 20, "3.0 MiB"), (5 << 30, "5.00 GiB")]
)
def test_sizes_are_told(count, told):
    assert words.size(count) == told


def test_changes_are_told_word_by_word():
    assert pieces("Ana lives in Oslo.", "Ana lives in Bergen now.") == (
        Piece("same", "Ana lives in "),
        Piece("gone", "Oslo"),
        Piece("new", "Bergen now"),
        Piece("same", "."),
    )


@given(anything, anything)
def test_pieces_join_to_both_texts(before, after):
    found = pieces(before, after)
    assert "".join(one.text for one in found if one.kind != "new") == before
    assert "".join(one.text for one in found if one.kind != "gone") == after
