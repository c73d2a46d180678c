"""LongMemEval's judge of answers, which says yes or no (methods.md 4.5).

The required contents are those of xiaowu0162/LongMemEval ``src/evaluation/evaluate_qa.py``.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from mnemic.algo.replies import spoken
from mnemic.prompts.data import COMPARED, delimited, version
from mnemic.protocols import Completion, Reply

Rule = Literal["complete", "temporal", "update", "preference", "unanswerable"]

_SYSTEM: Final = """\
You decide whether a model's answer to a question is right.
{data}

{rule}

Reply with one word, yes or no."""
_COMPLETE: Final = """\
Say yes if the answer contains the correct answer, means the same, or holds all the steps that lead to it. Say no
otherwise, and also if it gives only a part of what the correct answer asks for."""
_RULES: Final[dict[Rule, str]] = {
    "complete": _COMPLETE,
    "temporal": f"""\
{_COMPLETE}
A count of days, weeks, months or the like that is off by one is still right: 19 days for 18.""",
    "update": """\
Say yes if the answer contains the correct answer. It may name an earlier state of things too, as long as what it gives
as the current one is the correct answer. Say no otherwise.""",
    "preference": """\
There is no single correct answer, but a rubric of what a personal answer should draw on. Say yes if the answer recalls
and uses the user's personal information rightly; it need not cover every point of the rubric. Say no otherwise.""",
    "unanswerable": """\
The question cannot be answered; an explanation says why. Say yes if the answer recognises that: it may say that the
information is missing or incomplete, or that something else is known but not what was asked. Say no otherwise.""",
}
_GOLD: Final[dict[Rule, str]] = {"preference": "rubric", "unanswerable": "explanation"}
"""The tag of what the answer is compared with, where that is no correct answer."""
_NO = re.compile(r"\bno\b")
TOKENS: Final = 10
"""Limit of a judgement; it is LongMemEval's authors'."""
VERSION: Final = version("\n".join((_SYSTEM, COMPARED, *_RULES.values())), None)


def render(rule: Rule, question: str, gold: str, answer: str, *, max_tokens: int = TOKENS) -> Completion:
    """The request for one judgement."""
    system = _SYSTEM.format(data=COMPARED, rule=_RULES[rule])
    tag = _GOLD.get(rule, "correct_answer")
    said = (delimited("question", question), delimited(tag, gold), delimited("generated_answer", answer))
    return Completion("judge", system, "\n\n".join(said), max_tokens)


def parse(reply: Reply) -> bool | None:
    """The authors' reading: ``yes`` anywhere is yes; None where neither ``yes`` nor ``no`` is said."""
    said = spoken(reply.text).lower()
    if "yes" in said:
        return True
    return False if _NO.search(said) else None
