"""Asking anybody's reranker, whatever it does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mnemic.errors import RerankingFailed
from mnemic.telemetry import span

if TYPE_CHECKING:
    from mnemic.protocols import Reranker


def depth(top_k: int, reranker: Reranker | None) -> int:
    """How many hits a reranker gets to see (methods.md R6); without one, those that are asked for."""
    return top_k if reranker is None else max(3 * top_k, 30)


def scored(query: str, texts: Sequence[str], reranker: Reranker) -> tuple[list[float] | None, tuple[str, ...]]:
    """A score for each text, higher is better; None, and a warning, where it fails."""
    try:
        with span("mnemic.search.rerank", {"mnemic.texts": len(texts)}):
            scores = [float(score) for score in reranker.score(query, texts)]
    except Exception as error:  # noqa: BLE001 - anybody's code; without it the search is still right
        return None, (f"not reranked: {error if isinstance(error, RerankingFailed) else repr(error)}",)
    if len(scores) != len(texts) or not all(map(math.isfinite, scores)):
        return None, (f"not reranked: {reranker.name} gave no finite score for each of {len(texts)} texts",)
    return scores, ()


def order(scores: Sequence[float]) -> list[int]:
    """Places, the best first; equal ones as they were."""
    return sorted(range(len(scores)), key=lambda i: -scores[i])
