from __future__ import annotations

import unicodedata

import pytest

from mnemic.algo.names import named, strip
from yardstick import at_most

PEOPLE = ("Ana Silva", "Bo", "user", "José", "田中", "  ", "J. Smith")


@pytest.mark.parametrize(
    ("question", "who"),
    [
        ("What did Ana Silva say?", {0}),
        ("what does ana like", {0}),
        ("ANA'S cat and Bo’s dog", {0, 1}),
        ("What about Anamaria and Bob?", set()),
        ("What did the user say?", set()),
        ("Where is José?", {3}),
        ("Where is " + unicodedata.normalize("NFD", "José") + "?", {3}),
        ("田中さんは何が好きですか", {4}),
        ("J. Smith or Smith", {6}),
        ("", set()),
    ],
)
def test_whom_a_question_names(question: str, who: set[int]) -> None:
    assert named(question, PEOPLE) == who


def test_two_people_of_one_first_name_are_both_named_by_it() -> None:
    assert named("Is John in?", ("John Doe", "John Roe", "Jane")) == {0, 1}
    assert named("Is John Roe in?", ("John Doe", "John Roe")) == {1}


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("What did Ana Silva say to Bo?", "What did say to ?"),
        ("Ana's cat", "cat"),
        ("What is José’s job", "What is job"),
        ("田中さんは何が好きですか", "さんは何が好きですか"),
        ("Anamaria stays", "Anamaria stays"),
        ("the user stays", "the user stays"),
        ("Ana?", "Ana?"),
        ("Bo", "Bo"),
    ],
)
def test_a_question_without_names(question: str, rest: str) -> None:
    assert strip(question, PEOPLE) == rest


def test_names_are_no_patterns() -> None:
    odd = ("a.c", "(?", "[x", "\\d", "C++")
    assert named("abc 5", odd) == set()
    assert named("a.c and C++", odd) == {0, 4}


def test_a_one_character_name_in_a_script_without_spaces_matches_only_alone() -> None:
    assert named("国王は誰", ("王",)) == set()
    assert named("王 は誰", ("王",)) == {0}


def test_without_speakers_nothing_is_named_or_stripped() -> None:
    assert named("Who is Ana?", ()) == set()
    assert strip("Who is Ana?", ()) == "Who is Ana?"


def test_a_question_of_a_megabyte() -> None:
    with at_most(5):
        strip("Ana's cat " * 100_000, PEOPLE)
        named("a" * 1_000_000, PEOPLE)


@pytest.mark.parametrize(
    ("question", "who", "rest"),
    [
        ("What did Ana say about Bob?", {0}, "What did say about Bob?"),
        ("Tell me about Bob", set(), "Tell me about Bob"),
        ("What does Ana know about Bob's dog?", {0, 1}, "What does know about dog?"),
        ("How about Ana regarding  BOB and Bob", {1}, "How about Ana regarding BOB and"),
    ],
)
def test_whom_others_are_asked_about_is_a_topic(question: str, who: set[int], rest: str) -> None:
    assert named(question, ["Ana", "Bob"]) == who
    assert strip(question, ["Ana", "Bob"]) == rest
