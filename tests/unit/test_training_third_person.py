"""What users say of themselves, told by somebody else."""

import pytest

from training.third_person import agreeing, third_person


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("How long is my daily commute to work?", "How long is Ana's daily commute to work?"),
        ("Where do I keep my old sneakers?", "Where does Ana keep her old sneakers?"),
        ("Which book did I finish?", "Which book did Ana finish?"),
        ("What am I allergic to?", "What is Ana allergic to?"),
        ("Have I told my sister?", "Has Ana told her sister?"),
        ("Don't I own a car?", "Doesn't Ana own a car?"),
        ("I own a car and I still love it.", "Ana owns a car and she still loves it."),
        ("I'm tired. I've slept badly, I'd say.", "Ana is tired. She has slept badly, she would say."),
        ("I walked home and took a bath.", "Ana walked home and took a bath."),
        ("I also really need help", "Ana also really needs help"),
        ("He told me that it is mine; I did it myself.", "He told Ana that it is hers; she did it herself."),
        ("Mine is red.", "Ana's is red."),
        ("We went to Rome, you know.", "We went to Rome, you know."),
        ("I’ll come to Istanbul II in mid-May", "Ana will come to Istanbul II in mid-May"),
        ("i can't, I won't", "Ana can't, she won't"),
        ("", ""),
    ],
)
def test_it_is_told_of_her(said, told):
    assert third_person(said, "Ana", "she") == told


def test_the_pronoun_is_of_the_persons_gender():
    assert third_person("I lost my keys, help me. Mine!", "Bo", "he") == "Bo lost his keys, help him. His!"


@pytest.mark.parametrize(
    ("verb", "agreed"),
    [("work", "works"), ("try", "tries"), ("play", "plays"), ("watch", "watches"), ("go", "goes"), ("bought", "bought"),
     ("need", "needs"), ("wanted", "wanted"), ("must", "must"), ("have", "has"), ("took", "took")],
)  # fmt: skip
def test_a_verb_agrees(verb, agreed):
    assert agreeing(verb) == agreed
