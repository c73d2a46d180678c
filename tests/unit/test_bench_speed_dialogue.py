"""Made-up dialogues: the same for the same seed, any part alone, and with the frequencies of real ones."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from mnemic.bench.speed import dialogue, words


def test_any_part_of_a_dialogue_is_the_same_alone():
    whole = list(dialogue.turns("u", 0, 70))
    assert list(dialogue.turns("u", 33, 47)) == whole[33:47]
    assert list(dialogue.turns("u", 0, 70)) == whole


def test_users_and_seeds_have_dialogues_of_their_own():
    first = [turn.text for turn in dialogue.turns("u", 0, 40)]
    assert first != [turn.text for turn in dialogue.turns("v", 0, 40)]
    assert first != [turn.text for turn in dialogue.turns("u", 0, 40, seed=1)]


def test_turns_are_sessions_of_two_speakers_in_the_order_of_time():
    turns = list(dialogue.turns("u", 0, 5 * dialogue.SESSION))
    assert len({turn.turn_id for turn in turns}) == len(turns)
    assert Counter(turn.session_id for turn in turns) == {f"s{n}": dialogue.SESSION for n in range(5)}
    times = [turn.timestamp for turn in turns]
    assert times == sorted(times)
    for number in range(5):
        said = turns[number * dialogue.SESSION : (number + 1) * dialogue.SESSION]
        assert len({turn.speaker for turn in said}) == 2
    assert len({turn.speaker for turn in turns}) > 2


def test_turns_are_as_long_as_those_of_people():
    """LoCoMo's have 2.9 sentences and 28 to 34 words."""
    texts = [turn.text for turn in dialogue.turns("u", 0, 1000)]
    sentences = sum(len(re.findall(r"[.!?](?:\s|$)", text)) for text in texts) / len(texts)
    assert 2.7 < sentences < 3.1
    assert 25 < sum(len(text.split()) for text in texts) / len(texts) < 40


def test_words_are_few_that_are_common_and_many_that_are_rare():
    """As in real text: new words keep coming, and a good part of them comes once."""
    counts = [
        Counter(word for turn in dialogue.turns("u", 0, size) for word in re.findall(r"\w+", turn.text.lower()))
        for size in (400, 1600)
    ]
    assert len(counts[1]) > 1.5 * len(counts[0])
    for count in counts:
        assert sum(times == 1 for times in count.values()) > 0.25 * len(count)
        assert count.most_common(1)[0][1] > 0.03 * count.total()


def test_a_rank_is_as_frequent_as_zipfs_law_says():
    import random

    rng = random.Random(1)
    drawn = Counter(dialogue._zipf(rng, 1000) for _ in range(20_000))
    assert set(drawn) <= set(range(1000))
    # ln 2 / ln 1001 of all draws have the first rank.
    assert drawn[0] / 20_000 == pytest.approx(0.1003, abs=0.01)
    assert drawn[0] > drawn[1] > drawn[3] > drawn[15]


@pytest.mark.parametrize(("word", "ranks"), [(words.topic, 4000), (words.person, 600), (words.place, 600)])
def test_ranks_have_different_words(word, ranks):
    assert len({word(rank) for rank in range(ranks)}) == ranks


def test_questions_are_about_sessions_that_there_were():
    turns = list(dialogue.turns("u", 0, 200))
    asked = dialogue.questions("u", 12, held=200)
    assert len(asked) == 12
    assert asked == dialogue.questions("u", 12, held=200)
    speakers = {turn.speaker for turn in turns}
    text = " ".join(turn.text for turn in turns)
    named = [word for question in asked for word in re.findall(r"\b[A-Z]\w+", question)[1:]]
    assert any(word in speakers for word in named)
    assert any(word in text for word in named)
    assert len(dialogue.questions("u", 3, held=1)) == 3
