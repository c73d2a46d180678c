"""Sentences, traces and cues over any text: hostile, in all scripts, of any length."""

from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.algo import sentences, tokens
from mnemic.algo.cues import mentions, normalise
from mnemic.algo.pack import pack, repack
from mnemic.algo.sentences import MAX_CHARS, MIN_WORDS
from mnemic.types import Trace, Turn

FRAGMENTS = [
    *("the ", "dog", " ran home", "Dr. ", "U.S. ", "e.g. ", "3.5", "v1.2 ", "file.py ", "https://a.b/c?d ", "don't "),
    *(
        ". ",
        "... ",
        "?! ",
        "。",
        "؟ ",
        "। ",
        "…",
        ', "',
        "”",
        ")",
        "\n",
        "\r\n",
        "\n\n- ",
        "\t",
        "   ",
        " " * 40,
        "\u2028",
    ),
    *(
        "昨日公园",
        "りんごを",
        "ピアノ",
        "공원에서 ",
        "สวนช้าง",
        "नमस्ते ",
        "مرحبا ",
        "שלום ",
        "Собака ",
        "e\u0301",
        "\u0301",
    ),
    *(
        "😀",
        "👨‍👩‍👧",
        "🇫🇮",
        "\x00",
        "\ud800",
        "\u200f",
        "\u200b",
        "x" * 300,
        "_",
        "a_b",
        "C++ ",
        "#tag ",
        "$20 ",
        "7 May ",
    ),
    *("John", "john's ", "New York ", "İ", "ß", "ﬁ", "１２", "Ⅳ", "½", "'", "’s"),
]
ANY_TEXT = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=60),
    st.lists(st.sampled_from(FRAGMENTS), max_size=60).map("".join),
    st.tuples(st.sampled_from(FRAGMENTS), st.integers(1, 700)).map(lambda pair: pair[0] * pair[1]),
)


def visible(text: str) -> str:
    return "".join(text.split())


@given(ANY_TEXT)
@settings(max_examples=150, deadline=None)
def test_sentences_cover_a_text_once_and_in_order(text: str) -> None:
    spans = sentences.split(text)

    assert visible("".join(text[start:end] for start, end in spans)) == visible(text)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    for start, end in spans:
        assert text[start:end] == text[start:end].strip() != ""
        assert end - start <= MAX_CHARS


@given(st.lists(st.sampled_from(["we ", "go", "home ", "it's ", ". ", "! ", "\n", "?"]), max_size=60).map("".join))
@settings(max_examples=150, deadline=None)
def test_sentences_are_not_short_unless_alone(text: str) -> None:
    spans = sentences.split(text)
    words = [len(re.findall(r"[\w']+", text[start:end])) for start, end in spans]

    assert len(spans) < 2 or min(words) >= MIN_WORDS


@st.composite
def dialogues(draw: st.DrawFn) -> list[Turn]:
    texts = draw(st.lists(ANY_TEXT, max_size=12))
    return [
        Turn(
            f"t{number}",
            session_id=f"s{draw(st.integers(number // 4, number // 4 + 1))}",
            role="user",
            speaker=draw(st.sampled_from(["", "Ana", "a name of so many words " * 9])),
            text=text,
            agent_id=draw(st.sampled_from([None, None, "agent"])),
        )
        for number, text in enumerate(texts)
    ]


@given(dialogues(), st.integers(32, 200))
@settings(max_examples=50, deadline=None)
def test_traces_hold_every_word_once_within_the_budget(turns: list[Turn], budget: int) -> None:
    traces = pack(turns, budget=budget)
    by_id = {turn.turn_id: turn for turn in turns}

    said = [(span.turn_id, by_id[span.turn_id].text[span.start : span.end]) for trace in traces for span in trace.spans]
    for turn in turns:
        assert visible("".join(words for turn_id, words in said if turn_id == turn.turn_id)) == visible(turn.text)
    assert all(words.strip() for _, words in said)
    places = [(int(span.turn_id[1:]), span.start, span.end) for trace in traces for span in trace.spans]
    assert places == sorted(places)
    for trace in traces:
        assert trace.spans
        assert trace.tokens <= budget
        assert {(by_id[span.turn_id].session_id, by_id[span.turn_id].agent_id) for span in trace.spans} == {
            (trace.session_id, by_id[trace.spans[0].turn_id].agent_id)
        }
        assert sum(tokens.count(by_id[s.turn_id].text[s.start : s.end]) for s in trace.spans) < trace.tokens
    assert pack(turns, budget=budget) == traces


@given(dialogues(), st.sets(st.integers(0, 11).map("t{}".format)))
@settings(max_examples=50, deadline=None)
def test_repacking_leaves_what_is_not_erased(turns: list[Turn], erased: set[str]) -> None:
    remaining = {turn.turn_id: turn for turn in turns if turn.turn_id not in erased}
    for trace in pack(turns):
        left = repack(Trace("T1", 7, trace.session_id, trace.spans, trace.tokens), erased, remaining)
        spans = tuple(span for span in trace.spans if span.turn_id in remaining)
        if spans == trace.spans:
            assert left is not None
            assert (left.trace_id, left.tokens) == ("T1", trace.tokens)
        elif spans:
            assert left is not None
            assert (left.trace_id, left.ordinal, left.spans) == ("", 7, spans)
            assert 0 < left.tokens < trace.tokens
        else:
            assert left is None


@given(ANY_TEXT)
@settings(max_examples=200, deadline=None)
def test_a_key_is_its_own_key(surface: str) -> None:
    key = normalise(surface)

    assert normalise(key) == key
    assert key == " ".join(key.split())
    assert key == key.lower()


@given(ANY_TEXT, st.sets(st.sampled_from(["John", "Ana Dog", "公园", "C++", "", "\ud800", "(", "New York"])))
@settings(max_examples=150, deadline=None)
def test_mentions_are_slices_under_their_keys(text: str, names: set[str]) -> None:
    found = mentions(text, names)

    for mention in found:
        assert text[mention.start : mention.end] == mention.surface
        assert mention.key == normalise(mention.surface) != ""
        assert mention.key not in {normalise(name) for name in names}
    assert [(m.start, -m.end) for m in found] == sorted({(m.start, -m.end) for m in found})
