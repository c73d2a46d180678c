"""What is read from a reply: answers, labels, yes and no, PersonaMem's letters."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.bench.answers import letters, replies
from mnemic.protocols import Reply

FENCED = 'Here it is:\n```json\n{"reasoning": "a {b}", "answer": "20 May 2023"}\n```\nAnything else?'


def reply(text, finish="stop"):
    return Reply(text, finish, 1, 1)


@pytest.mark.parametrize(
    ("text", "finish", "wanted"),
    [
        ('{"reasoning": "x", "answer": " a necklace "}', "stop", ("a necklace", "formatted")),
        (FENCED, "stop", ("20 May 2023", "formatted")),
        ('{"answer": "first"} no: {"answer": "second"}', "stop", ("second", "formatted")),
        ('{"answer": 7}', "stop", ("7", "formatted")),
        ('{"answer": ["a", "b", 3]}', "stop", ("a, b, 3", "formatted")),
        ('{"reasoning": "two\nlines", "answer": "x"}', "stop", ("x", "formatted")),
        ('{"reasoning": "no brace", "answer": "say \\"hi\\""', "stop", ('say "hi"', "formatted")),
        ('{"answer": "done", "more": "cut he', "length", ("done", "truncated")),
        ('{"reasoning": "it was in Ma', "length", ("", "truncated")),
        ("A necklace, I think.", "stop", ("A necklace, I think.", "prose")),
        ("```\nA necklace\n```", "stop", ("A necklace", "prose")),
        ("I cannot help with that.", "refusal", ("I cannot help with that.", "refused")),
        ("", "refusal", ("", "refused")),
        ("", "stop", ("", "prose")),
        ('{"answer": null}', "stop", ('{"answer": null}', "prose")),
        ('{"answer": true}', "stop", ('{"answer": true}', "prose")),
        ('{"a":' * 3000, "stop", ('{"a":' * 3000, "prose")),
    ],
)
def test_the_answer_in_a_reply(text, finish, wanted):
    assert replies.answer(reply(text, finish)) == wanted


@settings(max_examples=60)
@given(st.text(alphabet='{}[]":,\\answer x1\n', max_size=60), st.sampled_from(["stop", "length", "refusal"]))
def test_any_reply_gives_a_text_and_a_form(text, finish):
    answer, form = replies.answer(reply(text, finish))
    assert isinstance(answer, str)
    assert form in {"stop": ("formatted", "prose"), "length": ("truncated",), "refusal": ("refused",)}[finish]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('{"label": "CORRECT"}', True),
        ('{"reasoning": "differs", "label": "WRONG"}', False),
        ('```json\n{"label": "correct"}\n```', True),
        ('It agrees, so {"label": "CORRECT"}. Not WRONG.', True),
        ("CORRECT", None),
        ('{"label": "CORRECT or WRONG"}', None),
        ('{"label": true}', None),
        ("[1, 2", None),
        ("", None),
    ],
)
def test_a_label_is_read_from_json_alone(text, wanted):
    assert replies.label(text) is wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("Yes.", True), ("no", False), ("No, but yes in part", True), ("I know nothing", None), ("", None)],
)
def test_longmemevals_yes_is_yes_anywhere(text, wanted):
    assert replies.yes(text) is wanted


@pytest.mark.parametrize(
    ("text", "hero", "personamem", "evermemos", "chosen"),
    [
        ("Reasons.\nAnswer: (b)", True, True, True, "b"),
        ("(a) is wrong, (c) too.\nAnswer: (b)", True, False, False, "b"),
        ("(a) is wrong.\n<final_answer> (b)</final_answer>", False, True, False, None),
        ("Answer: B", True, True, False, "b"),
        ("**Answer**: (B).", True, True, True, "b"),
        ("Answer: (a) or (b)", False, False, False, None),
        ("Answer: (a)", False, False, False, "a"),
        ("The Answer is (a). Answer: unsure. All of (b)", True, False, False, "b"),
        ("b", True, True, False, "b"),
        ("I refuse.", False, False, False, None),
        ("", False, False, False, None),
        ("Answer:\n\n(b) That fits a person like you", True, True, True, "b"),
    ],
)
def test_letters_by_the_three_rules(text, hero, personamem, evermemos, chosen):
    assert letters.hero(text, "(b)") is hero
    assert letters.personamem(text, "(b)") is personamem
    assert letters.evermemos(text, "(b)") is evermemos
    assert letters.chosen(text) == chosen


def test_the_gold_letter_may_be_bare():
    assert all(rule("Answer: (c)", "C") for rule in letters.RULES.values())
