"""Retrieval metrics of one question, from the ranks of what answers it.

Everything here works on ``Row.ranks``: for each gold turn the rank of the first hit that shows it within the first 20,
None where there is none. Ranks count from 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import log2

import numpy as np
from numpy.typing import NDArray

from mnemic.bench.records import DEPTHS, DatasetName, Level, Row

Ranks = Sequence[int | None]

NDCG_DEPTH = 10
LONGMEMEVAL_DEPTHS = (5, 10)


def fraction(ranks: Ranks, k: int) -> float:
    """Share of the gold turns that the first k hits show, 0 to 1 (methods.md 4.3; HERO's traces, LoCoMo's turns).

    Raises:
        ValueError: There is no gold turn.
    """
    return sum(_within(ranks, k)) / _count(ranks)


def hit_any(ranks: Ranks, k: int) -> float:
    """1 where the first k hits show at least one gold turn, else 0. LongMemEval's ``recall_any``."""
    _count(ranks)
    return float(any(_within(ranks, k)))


def hit_all(ranks: Ranks, k: int) -> float:
    """1 where the first k hits show every gold turn, else 0. LongMemEval's ``recall_all``."""
    _count(ranks)
    return float(all(_within(ranks, k)))


def reciprocal_rank(ranks: Ranks) -> float:
    """One divided by the rank of the first hit that shows any gold turn; 0 where none of the first 20 does."""
    _count(ranks)
    return max((1 / rank for rank in ranks if rank is not None), default=0.0)


def ndcg(ranks: Ranks, k: int = NDCG_DEPTH) -> float:
    """Normalised discounted cumulative gain of the first k hits, gains 0 and 1, discount log2(rank + 1).

    A hit counts once, however many gold turns it shows first, and only where it is the first to show one of them.
    The best possible list shows at the top, one after the other, as many such hits as there are: those that were found
    within the first 20, and one for each gold turn that was not found. At turn level these are the gold turns, and the
    measure is the usual one. At trace level a system is thus neither punished nor rewarded for gold turns that share a
    trace, where it found that trace.

    Returns:
        0 to 1; 1 exactly where all gold is found and the hits that show it come before all others.

    Raises:
        ValueError: There is no gold turn.
    """
    return _normalised(ranks, k, lambda rank: 1 / log2(rank + 1))


def ndcg_any(ranks: Ranks, k: int) -> float:
    """LongMemEval's ``ndcg_any``: like ``ndcg``, but ranks 1 and 2 weigh the same.

    Its authors' code (``eval_utils.dcg``) adds the first gain to the others divided by log2(2), log2(3), … so that the
    discount begins at rank 3 with log2(3).

    Raises:
        ValueError: There is no gold.
    """
    return _normalised(ranks, k, lambda rank: 1 / log2(max(rank, 2)))


def of_question(row: Row, dataset: DatasetName) -> dict[str, float]:
    """Every retrieval metric of one question at its level: ``fraction@5``, ``mrr``, ``ndcg@10``.

    At turn level of LongMemEval there are its authors' ``ndcg_any@5`` and ``@10`` too; their ``recall_any`` and
    ``recall_all`` are ``hit_any`` and ``hit_all``.

    Raises:
        ValueError: The question has no gold turn.
    """
    shares = (("fraction", fraction), ("hit_any", hit_any), ("hit_all", hit_all))
    values = {f"{name}@{k}": share(row.ranks, k) for name, share in shares for k in DEPTHS}
    values["mrr"] = reciprocal_rank(row.ranks)
    values[f"ndcg@{NDCG_DEPTH}"] = ndcg(row.ranks)
    if dataset == "longmemeval" and row.level == "turn":
        values |= {f"ndcg_any@{k}": ndcg_any(row.ranks, k) for k in LONGMEMEVAL_DEPTHS}
    return values


def of_sessions(row: Row) -> dict[str, float]:
    """LongMemEval's metrics of one question over distinct sessions, in the order of their best hit.

    The sessions are those of the first 20 hits. Where these hold fewer than k sessions, a system that was asked for
    more hits might have found more: the values are then lower bounds. Its authors' code scores a list of turns by
    sessions too, but lets one session count several times in ``ndcg_any``; here it counts once.

    Raises:
        ValueError: The question has no gold session.
    """
    shares = (("recall_any", hit_any), ("recall_all", hit_all), ("ndcg_any", ndcg_any))
    return {f"{name}@{k}": share(row.session_ranks, k) for name, share in shares for k in LONGMEMEVAL_DEPTHS}


def with_gold(rows: Iterable[Row], level: Level) -> tuple[Row, ...]:
    """The rows of a level that recall is defined for: answerable, with at least one gold turn (methods.md 4.3)."""
    return tuple(row for row in rows if row.level == level and row.answerable and row.ranks)


def with_gold_sessions(rows: Iterable[Row], level: Level) -> tuple[Row, ...]:
    """The rows of a level that the session metrics are defined for: not ``_abs``, and a gold session is named."""
    return tuple(row for row in rows if row.level == level and row.answerable and row.session_ranks)


def official_fraction(rows: Sequence[Row], k: int) -> float:
    """Mean over the questions of ``fraction``, a question without evidence counting 1, as LoCoMo's own code has it.

    Args:
        rows: Answerable questions of one level, at least one.
        k: Hits that count.

    Raises:
        ValueError: There is no question.
    """
    if not rows:
        raise ValueError("no question to take the mean over")
    return sum(fraction(row.ranks, k) if row.ranks else 1.0 for row in rows) / len(rows)


def table(
    rows: Sequence[Row], measure: Callable[[Row], Mapping[str, float]]
) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """The metrics of many questions side by side.

    Args:
        rows: At least one; n of them.
        measure: Gives the same m names for each.

    Returns:
        The names, and the values, ``(n, m)``.
    """
    measured = [measure(row) for row in rows]
    names = tuple(measured[0])
    return names, np.array([[values[name] for name in names] for values in measured], np.float64)


def _within(ranks: Ranks, k: int) -> list[bool]:
    return [rank is not None and rank <= k for rank in ranks]


def _count(ranks: Ranks) -> int:
    if not ranks:
        raise ValueError("no gold: recall is not defined")
    return len(ranks)


def _normalised(ranks: Ranks, k: int, gain: Callable[[int], float]) -> float:
    _count(ranks)
    found = sorted({rank for rank in ranks if rank is not None})
    relevant = len(found) + sum(rank is None for rank in ranks)
    # One sum for both, in the order of the ranks, so that a perfect list gives exactly 1.
    ideal = sum(gain(rank) for rank in range(1, min(relevant, k) + 1))
    return sum(gain(rank) for rank in found if rank <= k) / ideal
