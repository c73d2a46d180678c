"""The metrics of two systems on one data set side by side, each with a test of its difference.

From rows: paired, question by question. From summaries alone: by their bootstrap intervals, as if the questions were
not the same, which sees less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import erfc, sqrt
from statistics import fmean
from typing import Literal

from mnemic.bench import metrics
from mnemic.bench.abstention import paired_auroc
from mnemic.bench.records import DatasetName, Row
from mnemic.bench.statistics import Paired, paired
from mnemic.bench.summary import LEVELS, Summary
from mnemic.types import Json

Verdict = Literal["better", "worse", "noise", "untested"]

OVERALL = "all"
"""The category of a change over all questions."""
RETRIEVAL = ("fraction@5", "fraction@10", "hit_any@5", "hit_any@10", "mrr", "ndcg@10")
SESSION = ("recall_any@5", "recall_all@10", "ndcg_any@10")
ABSTENTION = "auroc"

_FEWEST = 20
"""Below so many questions a bootstrap interval is too narrow to be compared with another."""
_NORMAL_95 = 1.959964


@dataclass(frozen=True, slots=True)
class Change:
    """One metric of one category, in A and in B.

    Attributes:
        level: ``trace``, ``turn``, ``session/trace`` (sessions in the order of their best trace), ``abstention``.
        category: ``all``, or the data set's name of it.
        metric: ``fraction@5``.
        n: Questions.
        a, b: The two values.
        low, high: 95 % interval of ``b - a``, not adjusted; None where untested.
        p: Two-sided p value, not adjusted; None where untested.
        p_holm: The same, adjusted for all that was tested beside it; None where untested.
        verdict: Of B; ``noise`` where ``p_holm`` is over .05, ``untested`` where summaries alone cannot tell.
    """

    level: str
    category: str
    metric: str
    n: int
    a: float
    b: float
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_holm: float | None = None
    verdict: Verdict = "untested"

    @property
    def difference(self) -> float:
        """``b - a``."""
        return self.b - self.a


def by_rows(a: Sequence[Sequence[Row]], b: Sequence[Sequence[Row]], dataset: DatasetName) -> list[Change]:
    """Compare question by question.

    Args:
        a: The rows of each trial of one system; trials are averaged question by question.
        b: The same of the other.
        dataset: Whose metrics.

    Returns:
        Changes by level, then category, then metric. Abstention is of the first trials.

    Raises:
        InvalidInput: They did not answer the same questions at a level that both were asked at.
    """
    changes: list[Change] = []
    for level in LEVELS:
        own, other = ([_at_level(rows, level) for rows in side] for side in (a, b))
        if not all(own) or not all(other):
            continue
        changes += _paired(own, other, level, RETRIEVAL, lambda row: metrics.of_question(row, dataset), _has_gold)
        if dataset == "longmemeval":
            changes += _paired(own, other, f"session/{level}", SESSION, metrics.of_sessions, _has_gold_session)
    first = next((level for level in LEVELS if all(_at_level(side[0], level) for side in (a, b))), None)
    if first and (found := paired_auroc(_at_level(a[0], first), _at_level(b[0], first))):
        changes.append(_change("abstention", OVERALL, ABSTENTION, found))
    return changes


def by_intervals(a: Sequence[Summary], b: Sequence[Summary]) -> list[Change]:
    """Compare the means and bootstrap intervals of summaries.

    The difference of two independent means with intervals of half width h and g has one of half width sqrt(h^2 + g^2).

    Args:
        a: The summaries of each trial of one system; means and ends of intervals are averaged.
        b: The same of the other.

    Returns:
        Changes by level, then category, then metric.
    """
    categories = [OVERALL, *(name for name in _names(a[0], "by_category") if name in _names(b[0], "by_category"))]
    changes: list[Change] = []
    for level, path, names in _places():
        for category in categories:
            at = path if category == OVERALL else ("by_category", category, *path)
            changes += _unpaired(a, b, level, category, at, names)
    area = _estimate(a, ("abstention",), ABSTENTION), _estimate(b, ("abstention",), ABSTENTION)
    if area[0] and area[1]:
        changes.append(_by_widths("abstention", OVERALL, ABSTENTION, area[0], area[1]))
    return changes


def mean_at(summaries: Sequence[Summary], path: Sequence[str]) -> float | None:
    """The mean over summaries of the number at a path; None where one of them has none there."""
    found = [value for summary in summaries if isinstance(value := _at(summary, path), (int, float))]
    return fmean(found) if len(found) == len(summaries) else None


def _at_level(rows: Sequence[Row], level: str) -> list[Row]:
    return [row for row in rows if row.level == level]


def _has_gold(row: Row) -> bool:
    return row.answerable and bool(row.ranks)


def _has_gold_session(row: Row) -> bool:
    return row.answerable and bool(row.session_ranks)


def _paired(
    a: Sequence[Sequence[Row]],
    b: Sequence[Sequence[Row]],
    level: str,
    names: Sequence[str],
    measure: Callable[[Row], Mapping[str, float]],
    counts: Callable[[Row], bool],
) -> Iterator[Change]:
    one, other = ([[row for row in rows if counts(row)] for rows in side] for side in (a, b))
    categories = sorted({row.category for side in (one, other) for rows in side for row in rows})
    for category in [OVERALL, *categories] if categories else []:
        first, second = (_values(side, category, names, measure) for side in (one, other))
        for name, found in zip(names, paired(first, second), strict=True):
            yield _change(level, category, name, found)


def _values(
    trials: Sequence[Sequence[Row]], category: str, names: Sequence[str], measure: Callable[[Row], Mapping[str, float]]
) -> dict[str, list[float]]:
    by_question: dict[str, list[Mapping[str, float]]] = {}
    for row in (row for rows in trials for row in rows if category in (OVERALL, row.category)):
        by_question.setdefault(row.question_id, []).append(measure(row))
    return {
        question: [fmean(values[name] for values in measured) for name in names]
        for question, measured in by_question.items()
    }


def _change(level: str, category: str, metric: str, found: Paired) -> Change:
    return Change(level, category, metric, found.n, found.a, found.b, found.low, found.high, found.p)


def _places() -> Iterator[tuple[str, tuple[str, ...], Sequence[str]]]:
    for level in LEVELS:
        yield level, (level,), RETRIEVAL
        yield f"session/{level}", ("session", level), SESSION


def _unpaired(
    a: Sequence[Summary], b: Sequence[Summary], level: str, category: str, at: tuple[str, ...], names: Sequence[str]
) -> Iterator[Change]:
    for name in names:
        first, second = _estimate(a, at, *name.split("@")), _estimate(b, at, *name.split("@"))
        if first and second:
            yield _by_widths(level, category, name, first, second)


@dataclass(frozen=True, slots=True)
class _Estimate:
    """A mean of n questions with the half width of its 95 % interval."""

    n: int
    mean: float
    half: float


def _estimate(summaries: Sequence[Summary], at: tuple[str, ...], *metric: str) -> _Estimate | None:
    mean = mean_at(summaries, (*at, *metric))
    # Of AUROC there is one interval; of the others one for each metric.
    path = (*at, "interval") if metric == (ABSTENTION,) else (*at, "interval", *metric)
    ends = [value for summary in summaries if isinstance(value := _at(summary, path), list)]
    widths = [float(end[1]) - float(end[0]) for end in map(_numbers, ends) if len(end) == 2]
    n = mean_at(summaries, (*at, "n"))
    if n is None and metric == (ABSTENTION,):
        n = sum(mean_at(summaries, (*at, kind)) or 0 for kind in ("n_answerable", "n_unanswerable"))
    if mean is None or n is None or len(widths) != len(summaries):
        return None
    return _Estimate(round(n), mean, fmean(widths) / 2)


def _by_widths(level: str, category: str, metric: str, a: _Estimate, b: _Estimate) -> Change:
    n = min(a.n, b.n)
    if n < _FEWEST:
        return Change(level, category, metric, n, a.mean, b.mean)
    half = sqrt(_half(a) ** 2 + _half(b) ** 2)
    difference = b.mean - a.mean
    p = erfc(abs(difference) / half * _NORMAL_95 / sqrt(2))
    return Change(level, category, metric, n, a.mean, b.mean, difference - half, difference + half, p)


def _half(estimate: _Estimate) -> float:
    """The half width; where all questions agree, so that the bootstrap gives none, Agresti and Coull's."""
    if estimate.half > 0:
        return estimate.half
    n = estimate.n + 4
    share = (estimate.mean * estimate.n + 2) / n
    return _NORMAL_95 * sqrt(share * (1 - share) / n)


def _names(summary: Summary, key: str) -> list[str]:
    inner = summary.get(key)
    return list(inner) if isinstance(inner, dict) else []


def _at(value: Json, path: Sequence[str]) -> Json:
    for name in path:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def _numbers(values: Sequence[Json]) -> list[float]:
    return [float(value) for value in values if isinstance(value, (int, float))]
