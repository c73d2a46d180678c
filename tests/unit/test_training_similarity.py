"""Rank correlation of two embedders on pairs of sentences."""

import pytest

from mnemic.models.doubles import HashEmbedder
from training.similarity import correlation, sentence_pairs

TURNS = [f"I bought {n} red apples. They cost {n} euros at most. Is that dear?" for n in range(30)]


class Turned(HashEmbedder):
    """Nothing is as it was: far is near."""

    def embed(self, texts, *, kind="passage"):
        rows = super().embed(texts, kind=kind)
        rows[:, ::2] *= -1 if texts[0].startswith("I") else 1
        rows[:, 1::2] *= -1 if texts[0].startswith("I") else 1
        return rows


def test_pairs_are_of_different_sentences_that_do_not_ask():
    apart = sentence_pairs(TURNS, seed=0, together=False)
    assert len(apart) == 2000
    assert len({one for pair in apart for one in pair}) == 60
    assert not [pair for pair in apart if pair[0] == pair[1]]
    together = sentence_pairs(TURNS, seed=0, together=True)
    assert len(together) == 30
    assert all(a.split()[2] == b.split()[2] for a, b in together)
    assert not [one for pair in apart + together for one in pair if one.endswith("?")]


def test_pairs_depend_on_the_seed_alone():
    assert sentence_pairs(TURNS, seed=1, together=False) == sentence_pairs(TURNS, seed=1, together=False)
    assert sentence_pairs(TURNS, seed=1, together=False) != sentence_pairs(TURNS, seed=2, together=False)


def test_an_embedder_agrees_with_itself_and_not_with_its_opposite():
    pairs = [(f"I like word{n} word1 word2", " ".join(f"word{i}" for i in range(n + 1))) for n in range(12)]
    assert correlation(pairs, HashEmbedder(), HashEmbedder()) == pytest.approx(1)
    assert correlation(pairs, HashEmbedder(), Turned()) == pytest.approx(-1)
