"""Hard negatives: near enough to be confused with the answer, and not one themselves."""

import numpy as np

from training.negatives import Mining, Pool, mine
from training.pair import Pair, Passage


def vector(degrees):
    return np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))], np.float32)


# Angles from the query, which is at 0: the answer at 30 (cosine .87).
ANGLES = {
    "query": 0, "the answer itself": 30, "as good as the answer": 20, "says the same": 33, "hard but wrong": -40,
    "far away": 170, "query words, far": 100,
}  # fmt: skip
VECTORS = {text: vector(angle) for text, angle in ANGLES.items()}
PAIR = Pair("memory", "query", Passage("the answer itself", ("right",)), "p")


def passages(*texts):
    return [Passage(text, (text,)) for text in texts]


def mined(pool, **given):
    return mine(PAIR, Pool(pool, VECTORS), VECTORS, Mining(**given), np.random.default_rng(0)).negatives


def test_what_may_answer_too_is_no_negative():
    pool = passages("as good as the answer", "says the same", "hard but wrong", "far away")
    assert [one.text for one in mined(pool, count=1, first=1)] == ["hard but wrong"]
    texts = {one.text for one in mined(pool, count=9)}
    assert texts == {"hard but wrong", "far away"}


def test_the_share_decides_what_is_too_good():
    pool = passages("as good as the answer", "hard but wrong")
    assert [one.text for one in mined(pool, count=9, share=1.0, near=1.0)] == ["hard but wrong"]
    assert mined(pool, count=9, share=0.5) == ()


def test_a_passage_of_the_same_turn_is_no_negative():
    assert mined([Passage("hard but wrong", ("x", "right"))], count=1) == ()


def test_words_bring_in_what_the_vectors_would_not():
    pool = passages("hard but wrong", "far away", "query words, far")
    assert {one.text for one in mined(pool, count=2, depth=1)} == {"hard but wrong", "query words, far"}


def test_none_are_asked_for():
    assert mined(passages("hard but wrong"), count=0) == ()


def test_the_draw_is_among_the_first_and_depends_on_the_generator_alone():
    pool = passages("hard but wrong", "query words, far", "far away")
    drawn = [
        mine(PAIR, Pool(pool, VECTORS), VECTORS, Mining(count=1, first=2), np.random.default_rng(seed)).negatives
        for seed in (*range(20), *range(20))
    ]
    assert drawn[:20] == drawn[20:]
    assert {one.text for (one,) in drawn} == {"hard but wrong", "query words, far"}
