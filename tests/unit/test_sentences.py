from __future__ import annotations

import pytest

from mnemic.algo.sentences import MAX_CHARS, split
from yardstick import at_most


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split(text)]


@pytest.mark.parametrize(
    "parts",
    [
        ["We met at noon.", "Then it began to rain.", "Nobody had an umbrella!"],
        ["Dr. Smith joined the U.S. Army at 5 p.m.", "Then he left for home."],
        ["Use it, e.g. like this, i.e. with care.", "It costs 3.5 million in v1.2 today."],
        ["We met J. K. Rowling in the U.S.", "It was a lovely day."],
        ["Plan B worked very well.", "I was born in 1990.", "Now I am old."],
        ["She earned a Ph.D. in 2001.", "He is called John Jr. by friends."],
        ["He lives at No. 5 on that street.", "I say so."],
        ["See https://a.b/c.html?d=e.f!", "It is a great page."],
        ["Open file.py and my_module.run now.", "Mail me at a.b@c.com please."],
        ["Well... maybe we should go there."],
        ["It ended badly...", "Then we all went home."],
        ["You said what?!", "I really meant it."],
        ['"Are you really sure?" she asked me.', "He nodded at her."],
        ['Our piece is called "Finding Freedom."', "It was very powerful."],
        ["He said: “I will go.”", "Then he left us."],
        ["i went home early.", "then i slept very well"],
        ["1. Buy some milk today", "2. Buy some eggs today", "- bread is good here"],
        ["First line of chat", "second line of it", "third one is here"],
        ["That was so cool 😀", "When will you come again?"],
        ["def f(x):", "return x.y.z + x.w", "print(f(3), f(4))"],
        ["今天天气很好。", "我们去公园吧！"],
        ["これは“最初の文です。”", "次の文もあります！"],
        ["هل أنت بخير اليوم؟", "نعم أنا بخير جدا."],
        ["मैं घर जा रहा हूँ।", "तुम कहाँ जा रहे हो।"],
        ["Как твои дела сегодня?", "Всё очень хорошо, спасибо."],
    ],
)
def test_sentences(parts: list[str]) -> None:
    separator = "\n" if parts[0][0] in "1Fd" else " "
    assert sentences(separator.join(parts)) == parts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hi Mel! Good to see you! How are you?", ["Hi Mel! Good to see you!", "How are you?"]),
        ("I went home early. Really? Yes.", ["I went home early. Really? Yes."]),
        ("Hi! Ok. Yes.", ["Hi! Ok. Yes."]),
        ("Wow", ["Wow"]),
        ("It was great! 😀 Then we left again.", ["It was great! 😀", "Then we left again."]),
        ("", []),
        (" \n\t ", []),
        ("?!", ["?!"]),
    ],
)
def test_short_sentences_are_glued(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_a_wrapped_paragraph_is_one_sentence() -> None:
    wrapped = "This is a line of text that a mail program broke at some seventy characters\nand that goes on here."
    assert sentences(wrapped + "\nThe next one is here.") == [wrapped, "The next one is here."]


def test_a_long_sentence_is_cut_at_clauses_else_at_blanks() -> None:
    clause = "and then we saw the sea again"
    at_clauses = sentences(", ".join([clause] * 100))
    at_blanks = sentences(" ".join([clause] * 100))

    for pieces in (at_clauses, at_blanks):
        assert all(MAX_CHARS / 2 <= len(piece) <= MAX_CHARS for piece in pieces[:-1])
    assert all(piece.endswith("again,") for piece in at_clauses[:-1])
    assert {word for piece in at_blanks for word in piece.split()} == set(clause.split())


def test_a_cut_spares_combining_sequences() -> None:
    pieces = sentences("ab" + "e\u0301" * 2000)
    assert len(pieces) > 3
    assert not any(piece.startswith("\u0301") for piece in pieces)


@pytest.mark.parametrize(
    "pattern",
    ["a", ".", ". ", "a. ", "1. ", "Dr. ", '."', "a\n", "\n \t", "a b ", "。", "😀", "\ud800", "e\u0301", ".)x"],
)
def test_time_is_linear(pattern: str) -> None:
    text = "x" + pattern * (250_000 // len(pattern)) + "x"
    with at_most(3):
        spans = split(text)
    assert max(end - start for start, end in spans) <= MAX_CHARS
