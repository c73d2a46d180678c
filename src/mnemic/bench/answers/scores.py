"""Which scores an answer has on which data set, apart from a judge's."""

from __future__ import annotations

from mnemic.bench.answers import letters, metrics
from mnemic.bench.records import Dataset, Question

_RUBRIC = "single-session-preference"


def asked(dataset: Dataset, *, unanswerable: bool) -> tuple[Question, ...]:
    """The questions that a run asks: those whose answers can be scored.

    Args:
        dataset: LoCoMo's unanswerable questions are left out by both papers. LongMemEval's are always asked: its judge
            has a rule for them.
        unanswerable: Ask LoCoMo's too.
    """
    if dataset.name != "locomo":
        return tuple(question for question in dataset.questions if question.answer is not None)
    return tuple(
        question
        for question in dataset.questions
        if (question.answer is not None if question.answerable else unanswerable)
    )


def of_answer(dataset: Dataset, question: Question, answer: str) -> dict[str, float]:
    """The scores of one answer that need no model.

    LoCoMo: ``f1_mem0``, ``f1_locomo`` and ``bleu1``; of an unanswerable question ``f1_locomo`` alone, its phrase match.
    PersonaMem: ``accuracy`` by HERO's rule of reading the letter, and by two others. LongMemEval has no such score of
    its own: ``f1_mem0`` and ``bleu1`` where the gold is an answer, not a rubric or an explanation.

    Raises:
        MissingExtra: NLTK is not installed.
    """
    gold = question.answer or ""
    if dataset.name == "personamem":
        right = {name: float(rule(answer, gold)) for name, rule in letters.RULES.items()}
        return {"accuracy": right.pop("hero"), **{f"accuracy_{name}": value for name, value in right.items()}}
    scores: dict[str, float] = {}
    if question.answerable and question.category != _RUBRIC:
        scores = {"f1_mem0": metrics.f1_mem0(answer, gold), "bleu1": metrics.bleu1(answer, gold)}
    if dataset.name == "locomo":
        scores["f1_locomo"] = metrics.f1_locomo(answer, gold, question.category)
    return scores
