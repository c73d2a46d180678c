from __future__ import annotations

import pytest

from mnemic.algo.tokens import count, ends


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        (" \n\t", 0),
        ("word", 1),
        ("two words", 2),
        ("Hello, world!", 4),
        ("don't", 2),
        ("don’t we'll", 4),
        ("snake_case 3.14", 4),
        ("internationally", 1),
        ("a" * 16, 1),
        ("a" * 17, 2),
        ("a" * 8000, 999),
        ("wow!!!", 4),
        (" " * 15, 0),
        (" " * 160, 10),
        ("昨日公园", 4),
        ("りんごを食べた", 7),
        ("공원에서", 4),
        ("สวน", 3),
        ("API配置", 3),
        ("नमस्ते दुनिया", 2),
        ("مرحبا بك", 2),
        ("cafe\u0301", 1),
        ("😀👍🏽❤️", 3),
        ("👨‍👩‍👧", 1),
        ("\x00\ud800", 2),
    ],
)
def test_counts(text: str, tokens: int) -> None:
    assert count(text) == tokens


def test_no_long_run_is_one_token() -> None:
    for text in ("a" * 10**5, "QUJD" * 25_000, "é" * 10**5, "e\u0301" * 50_000):
        assert count(text) >= 10**5 / 17


def test_ends_are_where_a_text_can_be_cut() -> None:
    text = "I don't know: " + "x" * 20 + " e\u0301 👨‍👩‍👧!"
    places = list(ends(text, 0, len(text)))

    assert places[:5] == [1, 5, 7, 12, 13]
    assert len(places) == count(text)
    assert places[-1] == len(text)
    for first in range(len(places)):
        for last in range(first, len(places)):
            assert count(text[places[first] : places[last]]) <= last - first


def test_ends_of_a_slice_are_places_in_the_whole_text() -> None:
    assert list(ends("one two three", 4, 13)) == [7, 13]
