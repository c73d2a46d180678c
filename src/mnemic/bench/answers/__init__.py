"""Answering the questions of the benchmark with a language model, and judging the answers.

Used only where a model is configured: retrieval is measured without (``bench.metrics``). ``answer`` asks the questions
of one system, ``answer_beside`` shows the evidence of another one too, ``summarise`` gives the numbers.
Prompts are in ``prompts`` and ``judge``, scores in ``metrics`` and ``letters``, what leaves the machine in ``model``.
"""

from mnemic.bench.answers.cache import ReplyCache
from mnemic.bench.answers.model import Models
from mnemic.bench.answers.records import AnswerOutcome, AnswerRow, Settings
from mnemic.bench.answers.run import answer, answer_beside
from mnemic.bench.answers.summary import summarise

__all__ = [
    "AnswerOutcome",
    "AnswerRow",
    "Models",
    "ReplyCache",
    "Settings",
    "answer",
    "answer_beside",
    "summarise",
]
