"""A language model as judge of an answer: lenient, strict, and LongMemEval's (methods.md 1.6, 4.2, 4.5).

One judgement a question. What cannot be read as a judgement is a wrong answer, and is counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from mnemic.bench.records import DatasetName, Question
from mnemic.errors import InvalidInput
from mnemic.prompts import judge_label, judge_yes
from mnemic.protocols import Completion, Reply

Judge = Literal["judge_lenient", "judge_strict", "judge_longmemeval"]

JUDGES: Final[Mapping[DatasetName, tuple[Judge, ...]]] = {
    "locomo": ("judge_lenient", "judge_strict"),
    "personamem": (),
    "longmemeval": ("judge_longmemeval",),
}
"""Who judges what; PersonaMem's letters need nobody."""

_RULES: Final[Mapping[str, judge_yes.Rule]] = {
    "single-session-user": "complete",
    "single-session-assistant": "complete",
    "single-session-preference": "preference",
    "multi-session": "complete",
    "temporal-reasoning": "temporal",
    "knowledge-update": "update",
}


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge's reply says.

    Attributes:
        correct: False also where it cannot be read.
        readable: Whether it said either.
    """

    correct: bool
    readable: bool


def judging(judge: Judge, question: Question, gold: str, answer: str, *, max_tokens: int | None = None) -> Completion:
    """The request for one judgement.

    Args:
        judge: Whose rules.
        question: LongMemEval's judge goes by its category and whether it is answerable.
        gold: The correct answer, the rubric, or the explanation why there is none.
        answer: To be judged.
        max_tokens: Of the judgement; None for the page's own.

    Raises:
        InvalidInput: LongMemEval has no such category.
    """
    if judge == "judge_longmemeval":
        return judge_yes.render(_rule(question), question.text, gold, answer, max_tokens=max_tokens or judge_yes.TOKENS)
    rule: judge_label.Rule = "lenient" if judge == "judge_lenient" else "strict"
    return judge_label.render(rule, question.text, gold, answer, max_tokens=max_tokens or judge_label.TOKENS)


def judgement(judge: Judge, reply: Reply) -> Judgement:
    """Read a judge's reply."""
    verdict = (judge_yes if judge == "judge_longmemeval" else judge_label).parse(reply)
    return Judgement(verdict is True, verdict is not None)


def _rule(question: Question) -> judge_yes.Rule:
    if not question.answerable:
        return "unanswerable"
    if question.category not in _RULES:
        raise InvalidInput(f"LongMemEval's judge has no rule for {question.category!r}; it has for {', '.join(_RULES)}")
    return _RULES[question.category]
