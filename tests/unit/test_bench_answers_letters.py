"""Which of PersonaMem's options a reply chooses."""

from __future__ import annotations

import pytest

from mnemic.bench.answers import letters


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
