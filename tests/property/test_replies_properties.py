"""Any text whatever gives items or a named failure; of a reply that was cut anywhere, what was whole before is kept."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.algo import replies
from mnemic.algo.lenient_json import containers
from mnemic.protocols import Reply

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
)
CONTAINERS = st.lists(VALUES, max_size=5) | st.dictionaries(st.text(max_size=5), VALUES, max_size=5)
JSONISH = st.text(alphabet="{}[]\"':,\\ntrue1.9 \n<think/>`uD8facts", max_size=80)
FINISHES = st.sampled_from(["stop", "length", "refusal"])
WORDS = st.text(min_size=1, max_size=12).filter(lambda text: replies.statement(text) == text)
ITEMS = st.lists(
    st.fixed_dictionaries({"text": WORDS, "from": st.lists(st.integers(0, 99), max_size=3), "sure": st.booleans()}),
    max_size=3,
)


def item(value):
    if isinstance(value, str):
        return replies.statement(value)
    if isinstance(value, dict) and "text" in value and "sure" in value:
        return replies.statement(value["text"])
    return None


def read(text, finish="stop", keys=("facts", "notes")):
    return replies.items(Reply(text, finish, 1, 1), keys, item)


@settings(max_examples=200)
@given(st.text() | JSONISH, FINISHES)
def test_any_text_gives_items_or_a_named_failure(text, finish):
    parsed = read(text, finish)
    assert parsed.failure is None or parsed.failure in get_args(replies.Failure)
    assert all(isinstance(one, str) for one in parsed.items)
    assert parsed.dropped >= 0
    if not text.strip() or ("[" not in text and "{" not in text):
        assert parsed.failure is not None
    assert replies.field(text, "facts") is None or isinstance(replies.field(text, "facts"), str)


@settings(max_examples=100)
@given(CONTAINERS, st.sampled_from([None, 2]), st.booleans())
def test_well_formed_json_is_read_as_json_reads_it(value, indent, ascii_only):
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    [found] = containers(text)
    assert (found.value, found.start, found.end, found.broken, found.cut) == (value, 0, len(text), 0, False)


@settings(max_examples=25)
@given(ITEMS, st.sampled_from([None, 1]), st.sampled_from(["", "<think>one [ two</think>\n", "Here it is:\n```json\n"]))
def test_what_was_whole_before_a_cut_is_kept(items, indent, before):
    text = before + json.dumps({"facts": items}, indent=indent)
    ends = []
    at = len(before)
    for one in items:
        at = text.index(json.dumps(one["text"]), at)
        at = next(containers(text[text.rindex("{", 0, at) :])).end + text.rindex("{", 0, at)
        ends.append(at)
    for cut in range(len(text)):
        parsed = read(text[:cut], "length")
        whole = [one["text"] for one, end in zip(items, ends, strict=True) if end <= cut]
        assert [*parsed.items] == whole, text[:cut]
        assert parsed.failure == "truncated"
    parsed = read(text)
    assert [*parsed.items] == [one["text"] for one in items]
    assert parsed.failure is None


@settings(max_examples=40)
@given(st.lists(WORDS, min_size=1, max_size=4), st.integers(0, 3))
def test_a_list_of_words_may_be_cut_anywhere_too(words, indent):
    text = json.dumps({"facts": words}, indent=indent or None)
    for cut in range(text.index("[") + 1, len(text)):
        parsed = read(text[:cut])
        assert [*parsed.items] == words[: len(parsed.items)]
        assert parsed.failure == "truncated"


@pytest.mark.parametrize(
    "piece", ['{"a":', "[", '["', "</think>", '{"', "[x", '"a" "b', "\\", '{"a":"', "[{}", "x: [1, "]
)
def test_reading_takes_time_in_proportion_to_the_length(piece):
    # Quadratic time would be minutes here.
    parsed = read(piece * (100_000 // len(piece)), "length")
    assert parsed.failure == "truncated"
