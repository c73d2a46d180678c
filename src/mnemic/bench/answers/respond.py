"""One question: ask for its answer, score it, have it judged."""

from __future__ import annotations

from dataclasses import dataclass

from mnemic.bench.answers import judge as judges
from mnemic.bench.answers import letters
from mnemic.bench.answers.asking import answered, answering
from mnemic.bench.answers.data import Context
from mnemic.bench.answers.model import Asked, CachedModel
from mnemic.bench.answers.records import AnswerRow, Form, Settings
from mnemic.bench.answers.scores import of_answer
from mnemic.bench.records import Dataset, Question
from mnemic.protocols import Completion


@dataclass(frozen=True, slots=True)
class Responder:
    """Answers and judges; several threads may use it.

    Attributes:
        judge: None where nobody judges.
    """

    dataset: Dataset
    settings: Settings
    model: CachedModel
    judge: CachedModel | None

    def row(self, question: Question, context: Context) -> tuple[AnswerRow, tuple[str, ...]]:
        """The row of one question, and why calls failed, if any did.

        Where no answer came the row has no score at all; where a judgement did not come it lacks that one. An empty
        answer is wrong, and no judge is asked about it.

        Raises:
            InvalidFile: A reply could not be kept.
        """
        asked = [self.model.ask(self.request(question, context))]
        scores: dict[str, float] = {}
        form: Form | None = None
        letter, unreadable = None, 0
        if (reply := asked[0].reply) is not None:
            answer, form = answered(self.dataset.name, reply)
            letter = letters.chosen(answer) if self.dataset.name == "personamem" else None
            scores = of_answer(self.dataset, question, answer)
            unreadable = self._judge(question, answer, scores, asked)
        row = AnswerRow(
            question_id=question.question_id,
            user_id=question.user_id,
            half=question.half,
            category=question.category,
            answerable=question.answerable,
            scores=scores,
            letter=letter,
            form=form,
            hits=len(context.entries) + len(context.beside),
            evidence_tokens=context.tokens,
            unreadable=unreadable,
            calls=tuple(one.call for one in asked),
        )
        return row, tuple(one.error for one in asked if one.reply is None)

    def request(self, question: Question, context: Context) -> Completion:
        """The request for the answer of one question."""
        return answering(
            self.dataset.name,
            question,
            context,
            variant=self.settings.variant,
            abstain=self.settings.unanswerable,
            max_tokens=self.settings.answer_tokens,
        )

    def stop(self) -> None:
        """Try nothing again from now on."""
        self.model.stop()
        if self.judge is not None:
            self.judge.stop()

    def _judge(self, question: Question, answer: str, scores: dict[str, float], asked: list[Asked]) -> int:
        """Add the judges' scores, and their calls; returns how many judgements could not be read."""
        unreadable = 0
        if self.judge is None or (self.dataset.name == "locomo" and not question.answerable):
            return unreadable
        for judge in judges.JUDGES[self.dataset.name]:
            if not answer:
                scores[judge] = 0.0
                continue
            request = judges.judging(
                judge, question, question.answer or "", answer, max_tokens=self.settings.judge_tokens
            )
            asked.append(self.judge.ask(request))
            if (reply := asked[-1].reply) is not None:
                judgement = judges.judgement(judge, reply)
                scores[judge] = float(judgement.correct)
                unreadable += not judgement.readable
        return unreadable
