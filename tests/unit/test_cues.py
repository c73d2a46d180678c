from __future__ import annotations

import pytest

from mnemic.algo.cues import mentions, mentions_at, normalise
from yardstick import at_most


def keys(text: str, *names: str) -> list[str]:
    return [mention.key for mention in mentions(text, names)]


@pytest.mark.parametrize(
    ("surface", "key"),
    [
        ("Living_Space", "living space"),
        ("self-care", "self care"),
        ("  The  LGBTQ   support group! ", "lgbtq support group"),
        ("all of my dogs", "of my dogs"),
        ("my mother's house", "mother's house"),
        ("the dog's", "dog"),
        ("Levi’s", "levi"),
        ("“Becoming Nicole”", "becoming nicole"),
        ("#LoveWins", "lovewins"),
        ("ＡＰＩ", "api"),
        ("ﬁsh", "fish"),
        ("cafe\u0301", "café"),
        ("\u200fשלום\u200f", "שלום"),
        ("soft\u00adware", "software"),
        ("❤️", "❤"),
        ("C++", "c++"),
        ("C#,", "c#"),
        ("$20.50.", "$20.50"),
        ("(50%)", "50%"),
        ("20 °C", "20 °c"),
        ("AB-358", "ab 358"),
        ("नमस्ते।", "नमस्ते"),
        ("3 dogs", "3 dogs"),
        ("James_Bond 007", "james bond 007"),
    ],
)
def test_keys(surface: str, key: str) -> None:
    assert normalise(surface) == key


@pytest.mark.parametrize(
    "surface",
    ["", " ", "42", "1,234.5", "2023-05-07", "½", "three", "The", "of the", "I", "you", "User", "ASSISTANT", "it's",
     "don’t", "...", "?!", "--", "\x00", "\ud800", "\u200b", "a", "나"],
)  # fmt: skip
def test_what_is_no_cue(surface: str) -> None:
    assert normalise(surface) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What did Caroline research?", {"research"}),
        (
            "Researching adoption agencies.",
            {"research", "adoption", "adoption agencies", "researching adoption agencies"},
        ),
        ("I studied at the University of Oregon.", {"university of oregon", "oregon"}),
        ("We saw Lord of the Rings in New York", {"lord of the rings", "new york"}),
        ("New York is far away.", {"new york"}),
        ("my friend Hope called", {"hope"}),
        ("Our last trip was on 7 May 2023.", {"7 may", "may 2023", "trip"}),
        ("It was May 7th, or the 7th of July", {"may 7", "7th of july"}),
        ("I ran 5 km with 3 dogs for $20, 50% uphill at 20°C", {"5 km", "3 dogs", "$20", "50%", "20°c", "dog"}),
        ('Have you read "The Great Gatsby" yet?', {"great gatsby"}),
        ("I read 《红楼梦》 again", {"红楼梦", "红楼"}),
        ("#LoveWins @ana_b https://www.github.com/x?y=1 a.b@c.org", {"lovewins", "ana b", "github.com", "a.b@c.org"}),
        ("Run foo_bar in src/main.py with C++ for AB-358", {"foo bar", "src/main.py", "c++", "ab 358"}),
        ("two turtles, hiked and camped", {"turtle", "hike", "camp"}),
        ("John's support group", {"support group", "support", "group"}),
        ("great party 😀 👨‍👩‍👧 🇫🇮", {"party", "😀", "👨\u200d👩\u200d👧", "🇫🇮"}),
    ],
)
def test_mentions(text: str, expected: set[str]) -> None:
    assert expected <= set(keys(text, "Caroline", "John"))


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("昨日公园里有三只白鹭", "白鹭"),
        ("昨日公园里有三只白鹭", "公园"),
        ("请检查API配置", "API"),
        ("猫とりんごを食べました", "りんご"),
        ("東京タワーに行きました", "タワー"),
        ("나는 공원에서 백로를 봤어요", "백로"),
        ("공원에서 놀았다", "공원"),
        ("가을이 좋다", "가을"),
        ("ฉันเห็นช้างในสวน", "ช้าง"),
        ("الكتاب على الطاولة", "كتاب"),
        ("הכלב רץ בפארק", "הכלב"),
        ("Я видел большую собаку", "собаку"),
        ("कल दिल्ली में हाथी देखा", "हाथी"),
        ("we met at the cafe\u0301", "café"),
        ("🎉", "🎉"),
        ("she is RESEARCHING owls", "research on an owl"),
    ],
)
def test_what_was_said_meets_what_is_asked(said: str, asked: str) -> None:
    assert set(keys(said)) & set(keys(asked))


def test_participants_are_no_cues() -> None:
    text = "john, JOHN'S mother and John’s Mary Smith met Mary; 田中さんは白鹭"
    assert keys(text, "John", "Mary Smith", "田中") == ["mother", "met", "白鹭"]
    assert "johnny" in keys("Johnny was here", "John")
    assert keys("the user asked the assistant", "user", "assistant") == []


def test_names_may_be_hostile() -> None:
    assert keys("dogs (and cats)", "", " ", "(", "\ud800", "[a-", "\\") == ["dog", "cat"]


def test_names_in_decomposed_form_are_recognised() -> None:
    assert keys("Jose\u0301 likes whales", "José") == keys("José likes whales", "Jose\u0301") == ["whale"]


def test_longer_ones_come_first_and_none_twice() -> None:
    found = mentions('I love "dance studio" music')
    assert [(m.start, m.surface) for m in found] == [(8, "dance studio"), (8, "dance"), (14, "studio"), (22, "music")]


def test_shouting_makes_no_names() -> None:
    assert "quick brown fox jumped over" not in keys("THE QUICK BROWN FOX JUMPED OVER DOGS")
    assert {"fox", "dog"} <= set(keys("THE QUICK BROWN FOX JUMPED OVER DOGS"))


def test_names_are_cut_out_of_given_spans() -> None:
    text = "We saw John's mother and the old house"
    found = mentions_at(text, [(7, 20), (7, 13), (25, 38), (25, 38), (0, 2)], {"john"})
    assert [(m.key, m.surface) for m in found] == [("mother", "mother"), ("old house", "the old house")]


@pytest.mark.parametrize(
    "pattern",
    ["a", "a.", "a_", "_", "a@", "a@b.", '"', '"a', "“a", "#", "1.", "$1", "Aa ", "Aa of the ", "John ",
     "http://", "www.", "the ", "'s", "x!", "漢", "漢字が", "を", "ช", "가", "😀", "👨\u200d",
     "e\u0301", "\ud800", "ab1-", "7 May "],
)  # fmt: skip
def test_time_is_linear(pattern: str) -> None:
    text = "x" + pattern * (100_000 // len(pattern)) + "x"
    with at_most(3):
        mentions(text, {"John", "Mary Ann", "田中"})
        normalise(text)
