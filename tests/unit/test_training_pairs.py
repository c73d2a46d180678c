"""Pairs to train on: what a query is, what it should find, and that the same seed makes the same."""

import numpy as np
import pytest

from mnemic.bench.datasets.split import LOCOMO
from training.asking import Put
from training.data import Asked, Corpus, Remembered
from training.pair import Pair, Passage
from training.pairs import Sizes, cloze, excerpt, make, of_asked, of_memories, of_question, statements
from training.people import NAMES, Person, nameless, of_user

TURN = "I got a new bike. It is red and I ride it to work. Do you like bikes? My sister has one too."


def first(query, sentences):
    return 0


def silent(turns, people):
    """No questions are made of any turn."""
    return [()] * len(turns)


def rng():
    return np.random.default_rng(3)


def corpus():
    return Corpus(
        questions=(Asked("Where do I ride my bike?", (TURN, "I ride it to work.")),),
        turns=(TURN, "Thanks!", "I like tea a lot. I drink it daily. My aunt sends it over."),
        memories=(
            Remembered("The user has a red bike.", TURN, 0),
            Remembered("Tea is for mornings.", "Tea, in the morning. I never have coffee then.", 0),
            Remembered("User lives in Lagos.", "I am from Lagos.", 1),
        ),
        dropped={},
    )


def test_a_question_is_asked_three_ways_of_every_turn_and_once_of_its_sentence():
    asked, named, unnamed, sentence = list(of_question(Asked("Where do I ride my bike?", (TURN,)), "g", first, rng()))
    assert asked.query == "Where do I ride my bike?"
    assert asked.positive == Passage(TURN, ("g",))
    name = named.query.split()[2]
    assert name in NAMES["she"] + NAMES["he"]
    assert named.query == f"Where does {name} ride {'her' if name in NAMES['she'] else 'his'} bike?"
    assert named.positive.text == f"{name}: {TURN}"
    assert unnamed.query == named.query.replace(f" {name}", "")
    assert (sentence.kind, sentence.query, sentence.positive.text) == ("sentence", unnamed.query, "I got a new bike.")


def test_the_sentence_is_the_one_that_was_chosen():
    pairs = of_question(Asked("Who has one?", (TURN,)), "g", lambda _, found: len(found) - 1, rng())
    assert [pair.positive.text for pair in pairs if pair.kind == "sentence"] == ["My sister has one too."]


def test_of_a_long_turn_an_excerpt_about_as_long_as_a_message_is_found():
    turn = " ".join(f"Here is number {n} of the many things that I wanted to tell you about." for n in range(9))
    own = statements(turn)[4]
    assert excerpt(turn, own, most=13) == own
    assert excerpt(turn, own, most=30) == f"{own} {statements(turn)[5]}"
    assert excerpt(turn, own, most=45) == " ".join(statements(turn)[4:7])
    assert excerpt(turn, statements(turn)[8], most=45) == " ".join(statements(turn)[6:9])
    assert excerpt(turn, own, most=1000) == turn
    assert excerpt(turn, own, most=1) == own


def test_what_is_made_of_a_turn_asks_for_its_sentence_and_for_what_stands_around_it():
    said = "I got a new bike. I ride it to work in Lagos."
    put = [Put("Where does Ana ride it?", 18, len(said))]
    (pair,) = of_asked(said, put, Person("Ana", "she"), rng())
    assert (pair.kind, pair.query, pair.positive) == ("asked", "Where does ride it?", Passage(said, (said,)))
    both = list(of_asked(said, put * 2, Person("Ana", "she"), rng()))
    assert [(pair.kind, pair.positive.text) for pair in both] == [("asked", said), ("asked-sentence", said[18:])]
    assert list(of_asked(said, [], Person("Ana", "she"), rng())) == []


def test_a_memory_finds_its_turn_its_sentence_and_its_turn_with_the_one_before_of_the_same_persona():
    pairs = list(of_memories(corpus().memories, first, rng()))
    as_is = [pair for pair in pairs if pair.kind == "memory" and pair.speaker is None]
    assert [pair.query for pair in as_is] == [each.memory for each in corpus().memories]
    named = [pair for pair in pairs if pair.kind == "memory" and pair not in as_is]
    assert len(named) == 2  # the memory of tea names no user
    assert all("ser" not in pair.query.split()[0] for pair in named)
    (window,) = [pair for pair in pairs if pair.kind == "window"]
    before, after = window.positive.text.split("\n")
    name = before.partition(":")[0]
    assert (before, after) == (f"{name}: My sister has one too.", f"{name}: {corpus().memories[1].turn}")
    assert window.positive.groups == (TURN, corpus().memories[1].turn)
    assert {pair.pool for pair in pairs} == {"persona-0", "persona-1"}


def test_a_cloze_takes_its_sentence_out_of_the_turn_and_never_asks_with_a_question():
    seen = set()
    left_in = 0
    for seed in range(300):
        (pair,) = cloze(TURN, "g", np.random.default_rng(seed))
        assert "?" not in pair.query
        left_in += pair.positive.text == TURN
        seen.add(pair.positive.text)
    assert seen == {
        TURN,
        "It is red and I ride it to work. Do you like bikes? My sister has one too.",
        "I got a new bike. Do you like bikes? My sister has one too.",
        "I got a new bike. It is red and I ride it to work. Do you like bikes?",
    }
    assert 10 < left_in < 60  # one in ten


def test_a_turn_of_two_statements_has_no_cloze():
    assert list(cloze("I got a bike. It is red. Is it yours?", "g", rng())) == []


def test_the_same_seed_makes_the_same_pairs_and_another_seed_others():
    made = [make(corpus(), Sizes(), first, silent, seed=seed) for seed in (1, 1, 2)]
    assert made[0] == made[1] != made[2]
    assert all(isinstance(pair, Pair) for pair in made[0])


def test_sizes_bound_what_is_made():
    made = make(corpus(), Sizes(questions=0, memories=1, clozes=1), first, silent, seed=0)
    assert [pair.kind for pair in made].count("cloze") == 1
    assert {pair.positive.groups for pair in made if pair.kind == "memory"} == {(TURN,)}
    assert not [pair for pair in made if pair.kind in ("question", "sentence")]


def test_clozes_are_of_the_last_turns_and_named_by_their_place():
    made = [pair for pair in make(corpus(), Sizes(clozes=1), first, silent, seed=0) if pair.kind == "cloze"]
    assert [pair.positive.groups for pair in made] == [("turn-2",)]


@pytest.mark.parametrize(
    ("memory", "told"),
    [("User's loan: 5", "Ana's loan: 5"), ("The user likes tea.", "Ana likes tea."), ("Users of tea", "Users of tea")],
)
def test_the_user_gets_a_name(memory, told):
    assert of_user(memory, "Ana") == told


def test_a_query_loses_the_name_as_in_a_search():
    assert nameless("What did Ana's aunt send Ana?", "Ana") == "What did aunt send ?"


def test_statements_leave_questions_out_unless_there_is_nothing_else():
    assert statements("Is it so? I think it is so.") == ["I think it is so."]
    assert statements("Is it really so? Are you sure about it?") == ["Is it really so?", "Are you sure about it?"]


def test_nobody_is_called_as_in_locomo(locomo):
    people = {sample["conversation"][who] for sample in locomo for who in ("speaker_a", "speaker_b")}
    assert len(locomo) == len(LOCOMO)
    assert people.isdisjoint(NAMES["she"] + NAMES["he"])
