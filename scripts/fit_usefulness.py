"""Fits the curves of ``algo.usefulness`` on LoCoMo's development half, and prints them.

    python scripts/fit_usefulness.py [FOLDER]

FOLDER keeps the ingested memories, as ``mnemic bench --keep`` does. A hit is useful when it shows a turn that answers;
of a question that the memory does not answer, none is. The figures beside the curves are cross-validated: each
conversation is judged by a curve fitted to the others.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from unittest import mock

import numpy as np
from scipy.optimize import minimize

from mnemic import retrieve
from mnemic.algo import usefulness
from mnemic.algo.usefulness import Curve
from mnemic.bench.datasets.loading import load
from mnemic.bench.records import DEPTHS
from mnemic.bench.reliability import reliability
from mnemic.bench.systems import Setup, system
from mnemic.config import Environment

PENALTY = 1e-5  # on the weights of what is scaled to unit variance: against none that says nothing


def main(keep: Path | None) -> None:
    """Fit and print."""
    asked = list(collected(keep))
    for level in ("trace", "turn"):
        own = [one for one in asked if one["level"] == level]
        print(level, fitted(own))
        apart = {
            user: fitted([one for one in own if one["user"] != user]) for user in sorted({one["user"] for one in own})
        }
        judged = [
            (
                usefulness.probabilities(one["strengths"], one["lead"], one["standing"], apart[one["user"]]),
                one["useful"],
            )
            for one in own
        ]
        for depth in DEPTHS:
            values, truth = (np.concatenate([each[k][:depth] for each in judged]) for k in (0, 1))
            found = reliability(values, truth)
            print(
                f"  first {depth}: {found.rate:.3f} useful, ECE {found.ece:.3f}, "
                f"Brier {found.brier:.4f} for {found.brier_of_rate:.4f} of the rate"
            )


def collected(keep: Path | None) -> Iterator[dict]:
    """What each question found, and what of it was useful."""
    dataset = load("locomo", "dev", data=Environment.read().data)
    rankings: list[retrieve.Ranking] = []

    def rank(*args: object, **kwargs: object) -> retrieve.Ranking:
        rankings.append(ranked(*args, **kwargs))
        return rankings[-1]

    ranked = retrieve.rank
    with mock.patch.object(retrieve, "rank", rank), closing(system("default", Setup(keep=keep))) as ours:
        for user, conversations in dataset.conversations.items():
            ours.load(user, conversations)
            for question in dataset.questions:
                if question.user_id != user or (question.answerable and not question.gold):
                    continue
                for level in ours.levels:
                    hits = ours.result(question, top_k=max(DEPTHS), level=level).results
                    gold = set(question.gold) if question.answerable else set()
                    yield {
                        "user": user,
                        "level": level,
                        "strengths": np.array([sum(hit.signals.values()) for hit in hits]),
                        "lead": rankings[-1].lead,
                        "standing": rankings[-1].standing,
                        "useful": np.array([not gold.isdisjoint(hit.turn_ids) for hit in hits], np.float64),
                    }


def fitted(asked: list[dict]) -> Curve:
    """The curve of the greatest likelihood."""
    known, useful = [], []
    for one in asked:
        strengths, standing = one["strengths"], one["standing"]
        rows = np.zeros((len(strengths), 6))
        rows[:, 0], rows[:, 1], rows[:, 5] = strengths, strengths[0] - strengths, 1.0
        rows[0, 2] = one["lead"]
        if standing is not None:
            rows[:, 3], rows[:, 4] = standing, 1.0
        known.append(rows)
        useful.append(one["useful"])
    matrix, truth = np.concatenate(known), np.concatenate(useful)
    scale = np.append(matrix[:, :5].std(axis=0), 1.0)
    scaled = matrix / scale

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        odds = scaled @ weights
        value = np.mean(np.logaddexp(0.0, odds) - truth * odds) + PENALTY * float(weights[:5] @ weights[:5])
        slope = scaled.T @ (1.0 / (1.0 + np.exp(-odds)) - truth) / len(truth)
        return value, slope + 2 * PENALTY * np.append(weights[:5], 0.0)

    strength, behind, lead, stands, named, offset = minimize(loss, np.zeros(6), jac=True).x / scale
    return Curve(
        strength=round(float(strength), 3),
        behind=round(float(behind), 3),
        lead=round(float(lead), 3),
        standing=round(float(stands), 3),
        named=round(float(named), 3),
        offset=round(float(offset), 3),
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
