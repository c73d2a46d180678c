"""Rows and outcomes of systems that never ran, for tests of what is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mnemic.bench.provenance import Provenance
from mnemic.bench.records import Built, Outcome, Row

MADE = Provenance("c0ffee", "2024-06-03T18:05:00+00:00", {"mnemic": "0.1.0"})


def row(question_id: str = "conv-1/0", ranks: Sequence[int | None] = (1,), **given: Any) -> Row:
    """A row of an answerable question at trace level, unless told otherwise."""
    fields: dict[str, Any] = {
        "question_id": question_id,
        "user_id": question_id.split("/")[0],
        "half": "dev",
        "category": "single-hop",
        "answerable": True,
        "level": "trace",
        "ranks": tuple(ranks),
        "session_ranks": (),
        "tokens": {1: 100, 5: 500, 10: 1000, 20: 2000},
        "hits": 20,
        "relevance": None,
        "nothing_relevant": None,
        "wall_ms": 3.0,
        "cpu_ms": 5.0,
        "embedding_cpu_ms": 4.0,
    }
    return Row(**{**fields, **given})


def outcome(rows: Sequence[Row], **given: Any) -> Outcome:
    """What ``default`` did on LoCoMo, unless told otherwise."""
    fields: dict[str, Any] = {
        "dataset": "locomo",
        "split": "all",
        "system": "default",
        "configuration": {"unit": 1.0, "cue_extractor": "rules"},
        "checksum": "79fa87",
        "gold": "original",
        "rows": tuple(rows),
        "built": {"conv-1": Built(2.0, 1.5, stages={"cues": 0.5}, bytes_on_disk=100, counts={"turns": 7})},
        "rss_mb": 120.5,
    }
    return Outcome(**{**fields, **given})


def run(found: float, *, n: int = 120, seed: int = 1, noise: int = 2, **given: Any) -> Outcome:
    """An outcome over n questions with two gold turns each, and n // 4 unanswerable ones.

    Args:
        found: About this share of the gold turns is found.
        n: Answerable questions, of two categories, in four conversations, two in each half.
        seed: What is hard is the same for equal seeds, so that two runs are paired.
        noise: Seed of what differs between runs.
        given: Fields of the outcome.
    """
    hard = np.random.default_rng(seed).random((n, 2))
    rng = np.random.default_rng(noise)
    rows: list[Row] = []
    for i in range(n + n // 4):
        answerable = i < n
        kind = ("multi-hop", "single-hop")[i % 3 == 0] if answerable else "adversarial"
        relevance = (0.5 if answerable else 0.4) + float(rng.normal(0, 0.1))
        for level in ("trace", "turn"):
            rows.append(
                row(
                    f"conv-{i % 4}/{i}",
                    _ranks(hard[i] + rng.normal(0, 0.02, 2) < found, rng) if answerable else (),
                    level=level,
                    half=("dev", "test")[i % 4 // 2],
                    category=kind,
                    answerable=answerable,
                    relevance=relevance,
                    nothing_relevant=relevance < 0.35,
                )
            )
    return outcome(rows, **given)


def _ranks(reached: np.ndarray, rng: np.random.Generator) -> list[int | None]:
    places = rng.permutation(12)[:2] + 1
    return [int(place) if there else None for there, place in zip(reached, places, strict=True)]
