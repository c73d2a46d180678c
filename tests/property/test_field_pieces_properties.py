"""A field read while its object is being written: what comes out does not depend on how the text is cut."""

from __future__ import annotations

import json
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from mnemic.algo.field_pieces import FieldPieces
from mnemic.algo.replies import field

WORDS = st.text(
    st.sampled_from(list('a"\\/\n\t\x00 \u2003u1d8}é朋😀\ud83d\ude00')) | st.characters(),
    max_size=12,
)
SIMPLE = st.none() | st.booleans() | st.integers() | WORDS
OTHERS = st.dictionaries(st.text(max_size=3), SIMPLE | st.sampled_from([{"answer": "inner"}, [1, "]"]]), max_size=2)
AROUND = st.sampled_from([("", ""), ("```json\n", "\n```"), ('<think>{"answer": "no"}</think>\n', ""), ("  ", " bye")])


def pieces(text, cuts):
    """A text cut before each of some places."""
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    return [text[a:b] for a, b in pairwise(places)]


def read(parts):
    reader = FieldPieces("answer")
    return [reader.feed(part) for part in parts]


@given(WORDS, OTHERS, OTHERS, AROUND, st.booleans(), st.sampled_from([None, 2]), st.lists(st.integers(0, 400)))
@example("\U0001f600\ud83d", {}, {}, ("", ""), True, None, list(range(60)))
@example(' "quoted" \\ud83d ', {"n": 12}, {}, ("", ""), True, None, list(range(60)))
def test_the_pieces_are_the_words_however_the_text_is_cut(words, before, after, around, ascii, indent, cuts):
    before, after = ({key: value for key, value in some.items() if key != "answer"} for some in (before, after))
    body = json.dumps({**before, "answer": words, **after}, ensure_ascii=ascii, indent=indent)
    text = f"{around[0]}{body}{around[1]}"
    assert "".join(read(pieces(text, cuts))) == json.loads(body)["answer"].strip()


@given(st.text(st.sampled_from('{}[]"\\:, answer<think>/u1d8`\n'), max_size=60), st.lists(st.integers(0, 60)))
@example('{"answer": "a \\u12zz b"}', [12, 14, 15])
@example('{"answer": "He said "no" twice"}', [])
@example('{"answer": 5}', [])
def test_of_any_text_the_same_comes_out_however_it_is_cut(text, cuts):
    whole = "".join(read([text]))
    assert "".join(read(pieces(text, cuts))) == whole
    assert "".join(read(list(text))) == whole


@given(WORDS, st.integers(0, 80))
def test_of_a_cut_text_the_beginning_comes_out(words, cut):
    text = json.dumps({"answer": words, "sources": []})
    assert json.loads(text)["answer"].strip().startswith("".join(read(list(text[:cut]))))


def test_words_come_as_soon_as_they_are_there():
    assert read(['{"answer": "We', "st ", "Fjord", 's."', "}"]) == ["We", "st", " Fjord", "s.", ""]


def test_what_a_reader_of_whole_replies_finds_begins_with_it():
    text = '{"answer": "She said "yes" twice", "sources": [1]}'
    assert read([text]) == ["She said"]
    assert field(text, "answer").startswith("She said ")


def test_nothing_comes_of_prose_or_of_reasoning_that_never_ends():
    for text in ("The answer is blue.", '<think>{"answer": "blue"}', '[{"answer": "blue"}]', '{"reply": "blue"}', ""):
        assert "".join(read(list(text))) == ""
