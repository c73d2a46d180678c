"""What a statement claims: its names, its numbers, and what it denies."""

from __future__ import annotations

import pytest

from mnemic.algo import claims
from mnemic.algo.asserted import hedged, manners


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ana met Tom's boss in New York.", ["Tom", "New", "York"]),
        ("Painting is fun.", []),
        ("Harry Potter is fun.", ["Harry", "Potter"]),
        ("We left on Monday in May, I'm sure.", []),
        ('She said: "Paris is big." Oslo too.', []),
        ("The LGBTQ group and J.K. Rowling", ["LGBTQ", "J.K", "Rowling"]),
        ("", []),
    ],
)
def test_names(text, found):
    assert [text[slice(*span)] for span in claims.names(text)] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("two dogs and 3 cats", {2, 3}),
        ("the third of twenty-one", {3, 21}),
        ("twenty people, five chairs", {20, 5}),
        ("two hundred and 5k and 1,500 and 2.5 and 2 million", {200, 5000, 1500, 2.5, 2_000_000}),
        ("a hundred", {100}),
        ("the 7th, COVID-19, R2D2", {7, 19}),
        ("one of a kind, at first, twice", {2}),
        ("someone, tennis, often, canine", set()),
        ("٣ and ５", {3, 5}),
        ("9" * 400, set()),
    ],
)
def test_numbers(text, found):
    assert claims.numbers(text) == found


def test_numbers_that_only_bear_out_a_claim():
    assert claims.numbers("one dog, a couple of cats, the first day", loose=True) == {1, 2}


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("I don't smoke.", [("smoke",)]),
        ("I have never been to Oslo, but I like Rome", [("oslo",)]),
        ("No, I didn't.", [(), ()]),
        ("I can't wait to see it. No worries!", []),
        ("I'll never forget Oslo", []),
        ("Ana is not a doctor and lives in Rome", [("doctor",)]),
        ("I went without shoes", [("shoe",)]),
    ],
)
def test_denials(text, denied):
    assert [denial.denied for denial in claims.denials(text)] == denied


def test_only_strong_words_deny_by_themselves():
    assert [denial.strong for denial in claims.denials("I hardly sleep. I do not sleep.")] == [False, True]


def test_irregular_verbs_are_one_term():
    assert claims.content("She went and bought it") == claims.content("go, buy")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I moved to Rome. Should I stay there?", ["stated", "question"]),
        ("I moved to Rome, if you must know.", ["stated", "hypothetical"]),
        ("It calms you down, right?", ["stated"]),
        ('He told me "I moved to Rome" again.', ["stated", "quotation"]),
        ('I read "The Two Towers" twice.', ["stated"]),
        ("I bought a castle in Spain. Just kidding, of course!", ["joke", "joke"]),
    ],
)
def test_manners(text, found):
    assert [manner for _, manner in manners(text)] == found


def test_a_note_may_tell_of_a_wish_itself():
    assert hedged("Ana hopes to move to Rome.")
    assert not hedged("Ana moved to Rome.")
