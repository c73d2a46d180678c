"""True notes made false by rules."""

from __future__ import annotations

import pytest

from mnemic.bench.alterations import alter
from mnemic.bench.datasets.notes import GivenNote

SPEAKERS = ("Ana", "Bo")
SAID = "I went to Oslo with Tom last week; we saw two castles."


def altered(text, said=SAID, names=("Oslo", "Turin"), about="Ana"):
    found = alter(GivenNote("talk", about, text, ("D1:1",)), said, SPEAKERS, names)
    return {one.kind: (one.note.about, one.note.text) for one in found}


def test_a_note_is_altered_in_every_way_it_allows_and_each_by_itself():
    assert altered("Ana went to Oslo last week and saw two castles with Bo.") == {
        "name": ("Ana", "Ana went to Turin last week and saw two castles with Bo."),
        "number": ("Ana", "Ana went to Oslo last week and saw three castles with Bo."),
        "date": ("Ana", "Ana went to Oslo last year and saw two castles with Bo."),
        "speaker": ("Bo", "Bo went to Oslo last week and saw two castles with Ana."),
        "subject": ("Ana", "Bo went to Oslo last week and saw two castles with Ana."),
        "negation": ("Ana", "Ana never went to Oslo last week and saw two castles with Bo."),
    }


def test_what_a_note_does_not_claim_is_not_altered():
    assert altered("Painting is fun.") == {}


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("Ana is not tired.", "Ana is tired."),
        ("Ana never smokes.", "Ana smokes."),
        ("Ana can't have dairy.", "Ana can have dairy."),
        ("Ana hasn't been to Oslo.", "Ana has been to Oslo."),
        ("Ana recently was ill.", "Ana recently was not ill."),
        ("Ana and Tom own a boat.", "Ana and Tom never own a boat."),
    ],
)
def test_a_negation_is_taken_out_or_put_in(text, negated):
    assert altered(text)["negation"] == ("Ana", negated)


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        ("Ana left on Friday.", "Ana left on Sunday."),
        ("Ana left in May 2021.", "Ana left in August 2021."),
        ("Ana left in 2021.", "Ana left in 2020."),
        ("Ana left Yesterday.", "Ana left Last year."),
    ],
)
def test_a_date_is_moved(text, moved):
    assert altered(text)["date"] == ("Ana", moved)


def test_numbers_within_dates_times_and_prices_are_left_alone():
    for text in ("Ana left at 5:30.", "Ana left on 5 May-6.", "Ana paid $5.", "Ana paid 1,200.", "Ana likes R2D2."):
        found = altered(text)
        assert "number" not in found or found["number"][1] != text
    assert altered("Ana has 12 cats.")["number"] == ("Ana", "Ana has 19 cats.")
