"""What says that a conversation begins anew."""

from __future__ import annotations

import pytest

from mnemic.algo.openings import openings, opens


@pytest.mark.parametrize(
    "text",
    [
        "Hi there! I could use some guidance.",
        "hey, are you free?",
        "  *Hello* again",
        "Good morning! Slept well?",
        "Long time no see!",
        "Since our last chat, I've been reading.",
        "A lot has changed since we last spoke.",
        "I've done it since the last time we talked.",
        "After our previous conversation I called her.",
        "Nothing new since we met.",
    ],
)
def test_a_greeting_and_a_word_about_the_last_time_open(text):
    assert opens(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "High time that we spoke of it.",
        "Hi-fi sets are back.",
        "This is the last time I go there.",
        "I said hello to her.",
        "At last. We talked for hours.",
        "On a different note, I found a trail.",
        "x" * 240 + " since our last chat",
    ],
)
def test_other_words_do_not(text):
    assert not opens(text)


def test_an_answer_to_a_greeting_opens_nothing():
    texts = ["Hi Jo!", "Hey Mel!", "How are you?", "Hello again, it is me.", "Hi!", "Fine.", "Good evening!"]
    assert openings(texts).tolist() == [False, False, False, True, False, False, True]
    assert openings(["So.", "Hello Jo!"]).tolist() == [False, False]
    assert openings([]).tolist() == []


def test_a_long_hostile_text_is_quick():
    assert not opens("since " * 100_000)
