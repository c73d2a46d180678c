"""Does the memory know when it does not hold the answer?

Positive are the questions that the memory answers: those with usable evidence. Negative are those it does not: LoCoMo's
category 5, LongMemEval's ``_abs``. Answerable questions without usable evidence are neither, and left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnemic.bench.records import Row
from mnemic.bench.statistics import RESAMPLES, SEED, Paired, percentiles, resampled, same_questions


@dataclass(frozen=True, slots=True)
class Abstention:
    """How well a system tells unanswerable questions from answerable ones.

    Attributes:
        answerable, unanswerable: How many questions of each.
        auroc: The chance that an answerable question has the higher relevance of a random pair, a tie counting one
            half; None where the system gives no relevance.
        interval: Its 95 % bootstrap interval over questions.
        precision: Of the questions that ``nothing_relevant`` flags, the share that is unanswerable; None where it flags
            none, or the system gives no verdict.
        recall: Of the unanswerable questions, the share that it flags; None where the system gives no verdict.
        flagged: How many questions it flags; None where the system gives no verdict.
        without_relevance: Questions left out of ``auroc`` because the system gave no relevance for them.
    """

    answerable: int
    unanswerable: int
    auroc: float | None
    interval: tuple[float, float] | None
    precision: float | None
    recall: float | None
    flagged: int | None
    without_relevance: int


def abstention(rows: Sequence[Row]) -> Abstention | None:
    """Measure it on the rows of one level.

    Returns:
        None where the questions are not of both kinds.
    """
    positive = [row for row in rows if row.answerable and row.ranks]
    negative = [row for row in rows if not row.answerable]
    if not positive or not negative:
        return None
    scores = [np.array([row.relevance for row in side if row.relevance is not None]) for side in (positive, negative)]
    area = interval = None
    if all(map(len, scores)):
        area = auroc(*scores)
        low, high = percentiles(resampled_auroc(*scores)[:, None])[0]
        interval = (float(low), float(high))
    precision, recall, flagged = _verdicts(positive, negative)
    return Abstention(
        len(positive),
        len(negative),
        area,
        interval,
        precision,
        recall,
        flagged,
        len(positive) + len(negative) - sum(map(len, scores)),
    )


def auroc(positive: NDArray[np.float64], negative: NDArray[np.float64]) -> float:
    """Area under the ROC curve: the Mann-Whitney statistic divided by the number of pairs.

    Args:
        positive: Scores that should be high, ``(n,)``, at least one.
        negative: Scores that should be low, ``(m,)``, at least one.

    Returns:
        The share of the pairs in which the positive score is higher, ties counting one half.

    Raises:
        ValueError: One of them is empty.
    """
    if not len(positive) or not len(negative):
        raise ValueError("AUROC needs scores of both kinds")
    ordered = np.sort(negative)
    lower = np.searchsorted(ordered, positive, "left") + np.searchsorted(ordered, positive, "right")
    return float(lower.sum() / 2 / (len(positive) * len(negative)))


def resampled_auroc(
    positive: NDArray[np.float64], negative: NDArray[np.float64], *, resamples: int = RESAMPLES, seed: int = SEED
) -> NDArray[np.float64]:
    """AUROC in each bootstrap resample; positive and negative questions are resampled apart.

    Args:
        positive: ``(n,)``, at least one.
        negative: ``(m,)``, at least one.
        resamples: B.
        seed: Of the random numbers; equal seeds draw the same questions.

    Returns:
        ``(B,)``.
    """
    wins = (positive[:, None] > negative) + (positive[:, None] == negative) / 2
    # Another seed for the other side: with the same one, sides of equal size would be drawn in step.
    one = np.concatenate(list(resampled(len(positive), resamples=resamples, seed=seed)))
    other = np.concatenate(list(resampled(len(negative), resamples=resamples, seed=seed + 1)))
    return ((one @ wins) * other).sum(axis=1) / (len(positive) * len(negative))


def paired_auroc(a: Sequence[Row], b: Sequence[Row]) -> Paired | None:
    """Compare the AUROC of two systems on the same questions, by a paired bootstrap.

    The p value is the bootstrap's: twice the share of resamples in which the difference has the other sign, or none.

    Args:
        a: Rows of one level of one system.
        b: Rows of the same level of the other.

    Returns:
        None where the questions are not of both kinds, or a system gives no relevance for one of them.

    Raises:
        InvalidInput: They did not answer the same questions.
    """
    first, second = _by_question(a), _by_question(b)
    order = same_questions(first, second) if first or second else []
    if any(rows[question].relevance is None for rows in (first, second) for question in order):
        return None
    positive = [question for question in order if first[question].answerable]
    negative = [question for question in order if not first[question].answerable]
    if not positive or not negative:
        return None
    sides = [(_scores(rows, positive), _scores(rows, negative)) for rows in (first, second)]
    moved = resampled_auroc(*sides[1]) - resampled_auroc(*sides[0])
    low, high = percentiles(moved[:, None])[0]
    fewer = min(np.count_nonzero(moved <= 0), np.count_nonzero(moved >= 0))
    p = min(1.0, 2 * (1 + float(fewer)) / (1 + len(moved)))
    return Paired(len(order), auroc(*sides[0]), auroc(*sides[1]), float(low), float(high), p)


def _by_question(rows: Sequence[Row]) -> dict[str, Row]:
    return {row.question_id: row for row in rows if row.ranks or not row.answerable}


def _scores(rows: Mapping[str, Row], questions: Sequence[str]) -> NDArray[np.float64]:
    return np.array([rows[question].relevance for question in questions], np.float64)


def _verdicts(positive: Sequence[Row], negative: Sequence[Row]) -> tuple[float | None, float | None, int | None]:
    if any(row.nothing_relevant is None for row in (*positive, *negative)):
        return None, None, None
    caught = sum(bool(row.nothing_relevant) for row in negative)
    flagged = caught + sum(bool(row.nothing_relevant) for row in positive)
    return caught / flagged if flagged else None, caught / len(negative), flagged
