"""Does the judge know a wrong answer? It is asked about some that are wrong on purpose, and still on the topic."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mnemic.bench.answers import judge as judges
from mnemic.bench.answers.model import Asked, CachedModel
from mnemic.bench.records import DatasetName, Question

if TYPE_CHECKING:
    from mnemic.bench.answers.records import Settings


@dataclass(frozen=True, slots=True)
class Check:
    """What one judge made of wrong answers.

    Attributes:
        judged: How many it gave a judgement of.
        accepted: How many of these it called right.
    """

    judged: int
    accepted: int


def wrong(questions: Sequence[Question], most: int) -> list[tuple[Question, str]]:
    """Some questions, evenly spread, each with the gold answer of another one of the same user and category.

    Neither answer holds the other, so that what is given is wrong however kindly it is read; questions that no other
    serves are left out.

    Args:
        questions: Those of a run.
        most: How many.
    """
    rivals: dict[tuple[str, str], list[str]] = defaultdict(list)
    for one in questions:
        if one.answerable and one.answer:
            rivals[one.user_id, one.category].append(one.answer)
    found: list[tuple[Question, str]] = []
    for one in questions:
        own = one.answer
        if not (one.answerable and own):
            continue
        others = rivals[one.user_id, one.category]
        begin = others.index(own) + 1
        other = next((each for each in others[begin:] + others[:begin] if _apart(each, own)), None)
        if other is not None:
            found.append((one, other))
    step = max(1, len(found) // max(most, 1))
    return found[::step][:most]


def checked(
    dataset: DatasetName, questions: Sequence[Question], model: CachedModel, settings: Settings
) -> tuple[dict[judges.Judge, Check], list[Asked]]:
    """Ask each judge of a data set about wrong answers.

    Args:
        dataset: Whose judges.
        questions: Those of a run.
        model: Judges.
        settings: How many answers each is asked about, and how.

    Returns:
        What each made of them, and what was asked. A judgement that cannot be read accepts nothing.

    Raises:
        InvalidFile: A reply could not be kept.
    """
    found: dict[judges.Judge, Check] = {}
    asked: list[Asked] = []
    for judge in judges.JUDGES[dataset]:
        requests = [
            judges.judging(judge, question, question.answer or "", answer, max_tokens=settings.judge_tokens)
            for question, answer in wrong(questions, settings.judge_checks)
        ]
        with ThreadPoolExecutor(settings.jobs, thread_name_prefix="mnemic-checks") as pool:
            own = list(pool.map(model.ask, requests))
        replies = [one.reply for one in own if one.reply is not None]
        found[judge] = Check(len(replies), sum(judges.judgement(judge, reply).correct for reply in replies))
        asked += own
    return found, asked


def _apart(one: str, other: str) -> bool:
    first, second = one.casefold(), other.casefold()
    return first not in second and second not in first
