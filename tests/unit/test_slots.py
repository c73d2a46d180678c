"""What has one value at a time, and the reasons that words give."""

from __future__ import annotations

import pytest

from mnemic.algo.reasons import reasons
from mnemic.algo.sentences import split
from mnemic.algo.slots import begins, conflict, may_replace


@pytest.mark.parametrize(
    ("new", "old", "how"),
    [
        ("I moved to Lisbon last week.", "I live in Hamburg.", "changed"),
        ("I moved to Lisbon last week.", "I live in Lisbon.", None),
        ("I live in Lisbon.", "I live in Hamburg.", None),  # it does not say that anything has changed
        ("I would have moved to Lisbon.", "I live in Hamburg.", None),
        ("I no longer work at Azul.", "I work at Azul.", None),
        ("I just started working at Azul as a designer.", "I work at Nordlicht.", "changed"),
        ("I moved to Lisbon.", "I work at Nordlicht.", None),
        ("Sorry, I mistyped that: my birthday is on May 13.", "My birthday is on May 3.", "corrected"),
        ("Sorry, I mistyped that: my birthday is on May 3.", "My birthday is on May 3.", None),
        ("My favourite tea is now oolong.", "My favourite tea is rooibos.", "changed"),
        ("My favourite tea is now oolong.", "My favourite band is Can.", None),
    ],
)
def test_a_statement_takes_the_place_of_another_by_its_own_words(new, old, how):
    assert conflict(new, old) == how
    assert how is None or may_replace(new)


def test_what_begins_is_told_from_what_happened():
    assert begins("I moved to Lisbon last week.")
    assert not begins("I visited Lisbon last week.")


@pytest.mark.parametrize(
    ("text", "stated", "why"),
    [
        (
            "I moved, because the rent doubled. Then I ate soup with some friends.",
            "I moved",
            ["I moved, because the rent doubled."],
        ),
        ("I quit jazz. It felt too loud. I ate soup.", "I quit jazz", ["It felt too loud."]),
        ("I quit jazz. I ate soup.", "I quit jazz", []),
    ],
)
def test_reasons_are_sentences_that_say_why(text, stated, why):
    start = text.index(stated)
    found = reasons(text, split(text), start, start + len(stated))
    assert [text[slice(*span)].strip() for span in found] == why
