"""Replies as they were seen in the wild, and what is kept of each."""

from __future__ import annotations

import json

import pytest

from mnemic.algo import replies
from mnemic.algo.lenient_json import containers
from mnemic.protocols import Reply


def text_of(value):
    return replies.statement(value["text"]) if isinstance(value, dict) and "text" in value else replies.statement(value)


def object_of(value):
    return value["text"] if isinstance(value, dict) and isinstance(value.get("text"), str) else None


def read(text, finish="stop", item=text_of, keys=("facts",)):
    parsed = replies.items(Reply(text, finish, 1, 1), keys, item)
    return [*parsed.items], parsed.failure


TEA = '{"facts": ["Ana likes tea.", "Bo sings."]}'
BOTH = ["Ana likes tea.", "Bo sings."]


@pytest.mark.parametrize(
    "text",
    [
        TEA,
        f"```json\n{TEA}\n```",
        f"```\n{TEA}",
        f"Sure! Here are the facts:\n\n{TEA}\n\nLet me know if I can help.",
        f"I found [2] facts about {{both}}:\n{TEA}",
        f"<think>Tea, and {{singing}}.</think>\n{TEA}",
        f"Tea and singing.</think>{TEA}",
        f"<think>never print </think> early</think>{TEA}",
        f"<thinking>\n{TEA[:20]}\n</thinking>\n{TEA}",
        '["Ana likes tea.", "Bo sings."]',
        '{"memories": ["Ana likes tea.", "Bo sings."]}',
        '{"result": {"facts": ["Ana likes tea.", "Bo sings."]}}',
        '[{"facts": ["Ana likes tea.", "Bo sings."]}]',
        '[{"facts": ["Ana likes tea."]}, {"facts": ["Bo sings."]}]',
        '{"0": "Ana likes tea.", "1": "Bo sings."}',
        '{"facts": {"0": "Ana likes tea.", "1": "Bo sings."}}',
        '{"facts": {"first": "Ana likes tea.", "second": "Bo sings."}}',
        '{"facts": [{"text": "Ana likes tea."}, {"text": "Bo sings."}]}',
        '{"text": "Ana likes tea."}\n{"text": "Bo sings."}',
        '{"facts": ["Ana likes tea."], "facts": ["Bo sings."]}',
        '{"facts": "Ana likes tea.", "facts": "Bo sings."}',
        '{"Facts": ["Ana likes tea.", "Bo sings.",],}',
        '{"facts": ["Ana likes tea." "Bo sings."]}'.replace('" "', '"\n "'),
        "{'facts': ['Ana likes tea.', 'Bo sings.']}",
        '{facts: ["Ana likes tea.", "Bo sings."]}',
        json.dumps(TEA),
        json.dumps([{"type": "text", "text": TEA}]),
        json.dumps([{"type": "text", "text": TEA[:15]}, {"type": "text", "text": TEA[15:]}]),
        '{"facts": "[\\"Ana likes tea.\\", \\"Bo sings.\\"]"}',
        TEA + '\nRESULT {"status": "ok"}',
        TEA + '\nUser: {"facts": ["Invented."]}',
        "[]\n" + TEA,
        '{"facts": ["Ana likes tea.", "Bo sings."], "notes": null}',
        '\ufeff{"facts": ["Ana likes\\n tea.", " Bo sings. "]}',
    ],
)
@pytest.mark.fault("B004")
@pytest.mark.fault("B009")
@pytest.mark.fault("B010")
@pytest.mark.fault("B012")
@pytest.mark.fault("B013")
def test_whatever_it_is_wrapped_in(text):
    assert read(text) == (BOTH, None)


@pytest.mark.parametrize(
    ("text", "items", "failure"),
    [
        ('{"facts": []}', [], None),
        ("[]", [], None),
        ('{"facts": null}', [], None),
        ('{"facts": "Ana likes tea."}', ["Ana likes tea."], None),
        ('{"text": "Ana likes tea."}', ["Ana likes tea."], None),
        ("", [], "empty"),
        (" \n\t", [], "empty"),
        ("<think>Hm.</think>\n", [], "empty"),
        ("<think>Hm, {", [], "empty"),
        ("null", [], "prose"),
        ("Ana likes tea.", [], "prose"),
        ("I cannot do that.", [], "refused"),
        ("I'm sorry, but I can't help with that request.", [], "refused"),
        ("{}", [], "wrong_shape"),
        ('{"status": "ok", "count": 0}', [], "wrong_shape"),
        ('{"a": ["x"], "b": ["y"]}', [], "wrong_shape"),
        ('{"facts": [1, true, null, {}]}', [], "wrong_shape"),
        ('{"facts": ["Ana likes tea.", 7]}', ["Ana likes tea."], "unfit"),
        ('{"facts": [{"text": "Ana likes tea."}, oops, {"text": "Bo sings."}]}', BOTH, "unfit"),
        ('{"facts": [{"text": "Ana likes tea."', [], "truncated"),
        ('{"facts": ["Ana likes tea.", "Bo si', ["Ana likes tea."], "truncated"),
        ('{"text": "Ana likes tea.", "kind": "fa', [], "truncated"),
        ('{"0": {"text": "Ana likes tea."}, "1": {"text": "Bo sings.", "ki', ["Ana likes tea."], "truncated"),
        ('{"facts": ["She said "hello" to Bo."]}', ['She said "hello" to Bo.'], None),
        ("{'facts': ['Ana doesn't like tea.']}", ["Ana doesn't like tea."], None),
        ('{"facts": ["a </think> b"]}', ["a </think> b"], None),
        ('Facts: {"facts": ["a </think> b"]}', ["a </think> b"], None),
        ('<think>x</think>{"facts": ["a </think> b [1]"]}', ["a </think> b [1]"], None),
        ('{"facts": ["C:\\dir", "caf\\u00e9", "\\ud83d\\ude00", "tab\\tx"]}', ["C:\\dir", "café", "😀", "tab x"], None),
        ('{"facts": ["I am sorry, I cannot do that.", "Bo sings."]}', ["Bo sings."], "unfit"),
        ('{"facts": ["{\\"facts\\": []}", "Bo sings."]}', ["Bo sings."], "unfit"),
        ('{"facts": ["I am afraid of heights, says Ana."]}', ["I am afraid of heights, says Ana."], None),
    ],
)
@pytest.mark.fault("B005")
@pytest.mark.fault("B008")
@pytest.mark.fault("B043")
def test_what_is_kept_and_what_is_wrong(text, items, failure):
    assert read(text) == (items, failure)


@pytest.mark.fault("B005")
def test_the_example_of_the_fault_catalogue():
    text = '{"cues":[{"t":"tea"},{"t":"rain"},{"t":"lan'
    tea = replies.items(Reply(text, "length", 1, 1), ("cues",), lambda value: value.get("t"))
    assert (tea.items, tea.failure) == (("tea", "rain"), "truncated")


def test_a_refusal_of_the_provider_is_one_even_with_a_beginning():
    assert read('{"facts": ["Ana likes tea."', "refusal") == (["Ana likes tea."], "refused")
    assert read("", "refusal") == ([], "refused")


def test_a_limit_that_was_reached_is_named_only_where_something_is_lost():
    assert read("", "length") == ([], "truncated")
    assert read("<think>Let me see", "length") == ([], "truncated")
    assert read(TEA + " And now", "length") == (BOTH, None)
    assert read('{"text": "Ana likes tea."}\n{"text": "Bo sings."}', "length") == (BOTH, "truncated")


def test_objects_in_strings_where_objects_are_wanted():
    text = json.dumps({"facts": [json.dumps({"text": "Ana likes tea."}), json.dumps({"other": 1})]})
    assert read(text, item=object_of) == (["Ana likes tea."], "unfit")


def test_items_dropped_are_counted():
    parsed = replies.items(Reply('{"facts": ["Ana likes tea.", 7, x, null]}', "stop", 1, 1), ("facts",), text_of)
    assert parsed.dropped == 3


def test_several_keys_are_all_taken():
    text = '{"facts": ["Ana likes tea."], "traits": ["Bo sings."], "more": ["x"]}'
    assert read(text, keys=("facts", "traits")) == (BOTH, None)


@pytest.mark.parametrize(
    ("text", "name", "wanted"),
    [
        ('{"answer": "first"} no: {"answer": "second"}', "answer", "second"),
        ('{"answer": "first"} {"other": 1}', "answer", "first"),
        ('[{"answer": "listed"}]', "answer", "listed"),
        ('<think>{"answer": "draft"}</think>{"answer": "final"}', "answer", "final"),
        ('{"answer": "done", "more": "cut he', "answer", "done"),
        ('{"answer": "cut he', "answer", None),
        ('{"answer": true}', "answer", None),
        ('{"answer": ["a", 3]}', "answer", "a, 3"),
    ],
)
def test_fields(text, name, wanted):
    assert replies.field(text, name) == wanted


@pytest.mark.parametrize(
    ("value", "wanted"),
    [(3, 3), (3.0, 3), ("3", 3), (" [3]. ", 3), ("#12", 12), (True, None), (3.5, None), ("x", None), (None, None),
     ("9" * 30, None), ("²", None), (float("inf"), None), (-1, -1)],
)  # fmt: skip
def test_numbers(value, wanted):
    assert replies.number(value) == wanted


@pytest.mark.fault("B073")
def test_only_numbers_that_were_offered():
    assert replies.numbers([3, "1", 99, 3, None, "two"], range(4)) == (3, 1)
    assert replies.numbers("2", range(4)) == (2,)
    assert replies.numbers(None, range(4)) == ()


@pytest.mark.fault("B076")
@pytest.mark.parametrize("value", ["keep", " KEEP ", '"Keep".', "**keep**"])
def test_a_choice_in_any_case(value):
    assert replies.choice(value, ("keep", "drop")) == "keep"
    assert replies.choice("keep or drop", ("keep", "drop")) is None
    assert replies.choice(7, ("keep",)) is None


def test_a_container_says_where_it_stands():
    [first, second] = containers('a {"x": 1} b [2, ')
    assert (first.start, first.end, first.cut) == (2, 10, False)
    assert (second.value, second.cut) == ([2], True)


def test_more_depth_than_a_person_would_write():
    assert read("[" * 3000 + '"x"' + "]" * 3000)[1] in ("wrong_shape", "unfit", "prose")
