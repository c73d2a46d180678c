"""Lines that a statement has words from."""

from __future__ import annotations

import pytest

from mnemic.algo.borrowed import borrowed

LINES = ["I bought a boat called Petrel.", "I painted it red.", "My cat is called Miso.", "I have three hens."]


@pytest.mark.parametrize(
    ("text", "cited", "found"),
    [
        ("Ana painted it red.", [1], []),
        ("Ana painted the Petrel red.", [1], [0]),
        ("Ana painted Petrel and Miso red.", [1], [0, 2]),
        ("Ana has 3 red hens.", [3], [1]),
        ("Ana has 3 cats.", [2], [3]),
        ("Ana painted the Nautilus.", [1], []),
        ("Ana painted Petrel red.", [0, 1], []),
    ],
)
def test_words_of_other_lines_are_found(text, cited, found):
    assert borrowed(text, cited, LINES, speakers=["Ana"]) == found


def test_the_nearest_line_before_counts_and_common_words_do_not():
    assert borrowed("a boat", [3], ["boat one", "boat two", "x", "y", "boat"]) == [1]
    assert borrowed("a boat", [0], ["x", "boat", "boat"]) == [1]
    assert borrowed("a boat", [0], ["x", *["boat"] * 4]) == []
    assert borrowed("Bo left", [0], ["left", "Bo"], speakers=["Bo"]) == []


def test_something_is_cited():
    with pytest.raises(ValueError, match="empty"):
        borrowed("a boat", [], LINES)
