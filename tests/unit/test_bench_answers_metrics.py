"""Answer metrics by arithmetic, and against NLTK's own BLEU."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.bench.answers import words
from mnemic.bench.answers.metrics import bleu1, f1_locomo, f1_mem0, says_unavailable

pytest.importorskip("nltk", reason="the extra bench is not installed")

WORDS = ("a", "the", "Cat", "cats,", "dog.", "dogs!", "it's", "isn't", "5", "U.S.", "running")
TEXTS = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)


def test_the_check_values_of_the_specification():
    assert f1_mem0("A shell necklace", "shell necklace") == pytest.approx(0.8)
    assert f1_locomo("A shell necklace", "shell necklace", "single-hop") == 1.0
    assert bleu1("a b", "a b c") == pytest.approx(math.exp(1 - 3 / 2))


@pytest.mark.parametrize(
    ("said", "gold", "score"),
    [
        ("yes yes yes", "Yes.", 1.0),  # sets: how often does not matter
        ("a,b", "a b", 1.0),
        ("well-known", "well known", 0.0),  # a hyphen stays
        ("two dogs", "two cats", 0.5),
        ("", "two cats", 0.0),
        ("...", "two cats", 0.0),
        ("two cats", "?!", 0.0),
    ],
)
def test_f1_of_mem0_is_over_sets_of_words(said, gold, score):
    assert f1_mem0(said, gold) == pytest.approx(score)


@pytest.mark.parametrize(
    ("said", "gold", "category", "score"),
    [
        ("researching agencies", "researched agency", "single-hop", 1.0),  # stems
        ("yes yes", "yes", "temporal", 2 / 3),  # multisets
        ("The sun and a moon", "sun, moon", "single-hop", 1.0),  # articles, "and", commas
        ("well-known", "wellknown", "single-hop", 1.0),  # marks vanish, they do not split
        ("", "yes", "single-hop", 0.0),
        ("the", "a", "single-hop", 0.0),  # nothing is left of either
        ("pottery, camping", "camping, pottery, painting", "multi-hop", 2 / 3),
        ("camping pottery", "camping, pottery", "multi-hop", 2 / 3),  # one part against each of two
        ("camping pottery", "camping, pottery", "single-hop", 1.0),
        ("likely no", "Likely no; she has other plans", "open-domain", 1.0),
        ("likely no", "Likely no; she has other plans", "single-hop", 1 / 2),
        ("That is not mentioned.", "gold that does not count", "adversarial", 1.0),
        ("gold that does not count", "gold that does not count", "adversarial", 0.0),
    ],
)
def test_f1_of_locomo_follows_the_category(said, gold, category, score):
    assert f1_locomo(said, gold, category) == pytest.approx(score)


def test_the_two_phrases_of_unanswerable_questions():
    assert says_unavailable("There is NO information available, sorry") == 1.0
    assert says_unavailable("It was Not mentioned") == 1.0
    assert says_unavailable("I do not know") == 0.0


@pytest.mark.parametrize(
    ("said", "gold", "score"),
    [
        ("b a", "a b", 1.0),  # no order
        ("a a a", "a b", 1 / 3),  # clipped
        ("a b c d", "a b", 1 / 2),  # longer: no penalty
        ("c", "a b", 0.0),
        ("", "a", 0.0),
        ("a", "", 0.0),
        ("Paws. OK", "paws . ok", 1.0),
    ],
)
def test_bleu1_by_hand(said, gold, score):
    assert bleu1(said, gold) == pytest.approx(score)


@settings(max_examples=60)
@given(TEXTS, TEXTS.filter(bool))
def test_bleu1_is_nltks(said, gold):
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    tokens = words.tokenize(said.lower())
    by_nltk = sentence_bleu(
        [words.tokenize(gold.lower())],
        tokens,
        weights=(1, 0, 0, 0),
        smoothing_function=SmoothingFunction().method1,
    )
    assert bleu1(said, gold) == pytest.approx(by_nltk)


@settings(max_examples=40)
@given(TEXTS, TEXTS)
def test_f1s_are_symmetric_and_at_most_one(said, gold):
    for score in (f1_mem0, lambda a, b: f1_locomo(a, b, "single-hop")):
        assert score(said, gold) == pytest.approx(score(gold, said))
        assert 0 <= score(said, gold) <= 1


def test_sentences_end_where_nltk_ends_them():
    assert words.tokenize("he left. dr. dre, j. k. rowling can't stay in the u.s. today. ok") == [
        *("he", "left", ".", "dr.", "dre", ",", "j.", "k.", "rowling", "ca", "n't", "stay"),
        *("in", "the", "u.s.", "today", ".", "ok"),
    ]


@pytest.mark.parametrize(("word", "stem"), [("dies", "die"), ("news", "news"), ("fairly", "fairli"), ("sky", "sky")])
def test_stems_are_of_nltks_dialect_of_porter(word, stem):
    # Porter's paper has "di", "new", "fairli" and "sky"; Porter2 "die", "news", "fair" and "sky".
    assert words.stem(word) == stem


def test_every_gold_answer_of_locomo_scores_itself(locomo):
    golds = [str(one["answer"]) for sample in locomo for one in sample["qa"] if one["category"] != 5]
    assert len(golds) == 1540
    assert {f1_locomo(gold, gold, "single-hop") for gold in golds} == {1.0}
    assert {f1_locomo(gold, gold, "multi-hop") for gold in golds if not gold.endswith(",")} == {1.0}
    assert {f1_mem0(gold, gold) for gold in golds} == {1.0}
    assert {bleu1(gold, gold) for gold in golds} == {1.0}
