"""How far a mean over questions is to be trusted, and whether two systems differ on the same questions.

Seeded, so that equal values give equal answers. The bootstrap is Efron's percentile interval (Efron and Tibshirani, An
Introduction to the Bootstrap, 1993, chapter 13); with clusters it is the two-stage one of Davison and Hinkley
(Bootstrap Methods and their Application, 1997, section 3.8).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import comb

import numpy as np
from numpy.typing import NDArray

from mnemic.errors import InvalidInput

RESAMPLES = 2000
FLIPS = 20_000
SEED = 0
CONFIDENCE = 0.95

_CELLS = 1_000_000
"""Resamples times questions held in memory at once."""
_OUTCOMES = 200_000
"""So many outcomes of a sign-flip test are enumerated; beyond it they are sampled."""
_TIE = 1e-9
"""Differences closer than this are equal: means of fractions differ in their last bits only."""


def resampled(
    n: int, *, clusters: Sequence[object] | None = None, resamples: int = RESAMPLES, seed: int = SEED
) -> Iterator[NDArray[np.float64]]:
    """How often each of n questions is drawn in each bootstrap resample.

    Args:
        n: Questions, at least 1.
        clusters: For each question what it belongs to (its conversation); then as many clusters as there are are drawn
            with replacement, and from each one drawn as many questions as it has, so that a resample has n questions
            only on average. None: n questions are drawn from all.
        resamples: At least 1.
        seed: Of the random numbers.

    Yields:
        Counts ``(r, n)`` of r resamples at a time.

    Raises:
        ValueError: There is no question, or ``clusters`` is not of length n.
    """
    if n < 1 or (clusters is not None and len(clusters) != n):
        raise ValueError(f"{n} questions and {'no' if clusters is None else len(clusters)} clusters to resample")
    members = [np.arange(n)] if clusters is None else _members(clusters)
    rng = np.random.default_rng(seed)
    step = max(1, _CELLS // n)
    for start in range(0, resamples, step):
        yield _counts(rng, members, min(step, resamples - start), n)


def resampled_means(
    values: NDArray[np.float64],
    *,
    clusters: Sequence[object] | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> NDArray[np.float64]:
    """Means of m metrics over each bootstrap resample of the questions, the same resamples for all metrics.

    Args:
        values: ``(n, m)``.
        clusters: See ``resampled``; of length n.
        resamples: B, at least 1.
        seed: Of the random numbers.

    Returns:
        ``(B, m)``.

    Raises:
        ValueError: See ``resampled``.
    """
    drawn = resampled(len(values), clusters=clusters, resamples=resamples, seed=seed)
    return np.concatenate([counts @ values / counts.sum(axis=1, keepdims=True) for counts in drawn])


def intervals(
    values: NDArray[np.float64],
    *,
    clusters: Sequence[object] | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    confidence: float = CONFIDENCE,
) -> NDArray[np.float64]:
    """Percentile bootstrap intervals of the means of m metrics over the questions.

    Args:
        values: ``(n, m)``.
        clusters: See ``resampled``; of length n.
        resamples: At least 1.
        seed: Of the random numbers.
        confidence: Between 0 and 1.

    Returns:
        Lower and upper ends, ``(m, 2)``.

    Raises:
        ValueError: See ``resampled``.
    """
    return percentiles(resampled_means(values, clusters=clusters, resamples=resamples, seed=seed), confidence)


def percentiles(resampled_values: NDArray[np.float64], confidence: float = CONFIDENCE) -> NDArray[np.float64]:
    """The middle part of the resampled values ``(B, m)`` that holds ``confidence`` of them: its ends ``(m, 2)``."""
    tail = (1 - confidence) / 2
    return np.quantile(resampled_values, [tail, 1 - tail], axis=0).T


@dataclass(frozen=True, slots=True)
class Paired:
    """One metric of two systems on the same questions.

    Attributes:
        n: Questions.
        a, b: The two means.
        low, high: Ends of the interval of ``b - a``.
        p: Two-sided: how often a difference at least as large arises where the systems do not differ.
    """

    n: int
    a: float
    b: float
    low: float
    high: float
    p: float

    @property
    def difference(self) -> float:
        """``b - a``."""
        return self.b - self.a


def paired(
    a: Mapping[str, Sequence[float]],
    b: Mapping[str, Sequence[float]],
    *,
    clusters: Mapping[str, object] | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> tuple[Paired, ...]:
    """Compare two systems on the same questions, metric by metric.

    The interval is the bootstrap's over the questions' differences; the p value is of the sign-flip test, which treats
    questions as independent whatever ``clusters`` says.

    Args:
        a: Question id -> the m metrics of one system.
        b: Question id -> the same m metrics of the other.
        clusters: Question id -> what it belongs to; see ``resampled``.
        resamples: Of the bootstrap.
        seed: Of the random numbers.

    Returns:
        One comparison a metric.

    Raises:
        InvalidInput: They did not answer the same questions, or none; the message names some that differ.
    """
    order = same_questions(a, b)
    first = np.array([a[question] for question in order], np.float64)
    second = np.array([b[question] for question in order], np.float64)
    grouped = None if clusters is None else [clusters[question] for question in order]
    ends = intervals(second - first, clusters=grouped, resamples=resamples, seed=seed)
    return tuple(
        Paired(
            len(order), float(one.mean()), float(two.mean()), float(low), float(high), sign_flip(two - one, seed=seed)
        )
        for one, two, (low, high) in zip(first.T, second.T, ends, strict=True)
    )


def same_questions(a: Mapping[str, object], b: Mapping[str, object]) -> list[str]:
    """The questions of both, in one order whatever theirs.

    Raises:
        InvalidInput: One has a question that the other lacks, or there is none.
    """
    if not a and not b:
        raise InvalidInput("no question to compare two systems on")
    if a.keys() != b.keys():
        raise InvalidInput(
            f"the two systems did not answer the same questions: {_some(a.keys() - b.keys())} only by the first, "
            f"{_some(b.keys() - a.keys())} only by the second; run both on the same data set, split and level"
        )
    return sorted(a)


def sign_flip(differences: NDArray[np.float64], *, flips: int = FLIPS, seed: int = SEED) -> float:
    """Two-sided p value of the paired permutation test (Fisher's): each difference is as likely to be its negative.

    Differences of one size are exchangeable, so only the number of negative ones of each size matters, which is
    binomial. All outcomes are enumerated where there are at most 200,000 (always for hits, which differ by 1 only);
    otherwise outcomes are drawn, and the observed one counts among them (Phipson and Smyth 2010).

    Args:
        differences: ``(n,)``, one a question.
        flips: Outcomes drawn.
        seed: Of the random numbers.

    Returns:
        Above 0, at most 1; 1 where nothing differs.
    """
    sizes, times = np.unique(np.abs(differences).round(9), return_counts=True)
    sizes, times = sizes[sizes > 0], times[sizes > 0]
    least = abs(float(differences.sum())) - _TIE * max(1, len(differences))
    outcomes = 1.0
    for n in times:
        outcomes *= float(n) + 1
    if outcomes <= _OUTCOMES:
        sums, weights = _enumerated(sizes, times)
        return min(1.0, float(weights[np.abs(sums) >= least].sum()))
    rng = np.random.default_rng(seed)
    sums = np.zeros(flips)
    for size, n in zip(sizes, times, strict=True):
        sums += size * (2.0 * rng.binomial(n, 0.5, flips) - n)
    return float((1 + np.count_nonzero(np.abs(sums) >= least)) / (1 + flips))


def holm(p: Sequence[float]) -> list[float]:
    """P values adjusted for being looked at together (Holm 1979), in the order given.

    Calling "different" what is at most .05 then errs even once, among all of them, in at most 5 % of such families,
    whatever their dependence.
    """
    adjusted = [0.0] * len(p)
    largest = 0.0
    for place, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        largest = max(largest, min(1.0, (len(p) - place) * p[i]))
        adjusted[i] = largest
    return adjusted


def _members(clusters: Sequence[object]) -> list[NDArray[np.intp]]:
    places: dict[object, list[int]] = {}
    for i, cluster in enumerate(clusters):
        places.setdefault(cluster, []).append(i)
    return [np.array(members, np.intp) for members in places.values()]


def _counts(
    rng: np.random.Generator, members: Sequence[NDArray[np.intp]], resamples: int, n: int
) -> NDArray[np.float64]:
    counts = np.empty((resamples, n))
    drawn = rng.multinomial(len(members), [1 / len(members)] * len(members), size=resamples)
    for cluster, member in enumerate(members):
        size = len(member)
        resample = np.repeat(np.arange(resamples), drawn[:, cluster] * size)
        cells = resample * size + rng.integers(0, size, len(resample))
        counts[:, member] = np.bincount(cells, minlength=resamples * size).reshape(resamples, size)
    return counts


def _enumerated(sizes: NDArray[np.float64], times: NDArray[np.intp]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Every sum that flipping signs can give, with its probability."""
    sums, weights = np.zeros(1), np.ones(1)
    for size, count in zip(sizes, times, strict=True):
        n = int(count)
        sums = np.add.outer(sums, size * (2.0 * np.arange(n + 1) - n)).ravel()
        weights = np.multiply.outer(weights, np.array([comb(n, k) / 2**n for k in range(n + 1)])).ravel()
    return sums, weights


def _some(questions: set[str]) -> str:
    if not questions:
        return "none"
    named = ", ".join(islice(sorted(questions), 3))
    return named if len(questions) <= 3 else f"{named} and {len(questions) - 3} more"
