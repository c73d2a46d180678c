"""Whether rounded weights find what the weights before rounding find."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mnemic.protocols import Embedder
    from training.pair import Pair

_FIRST = 10


@dataclass(frozen=True, slots=True)
class Parity:
    """How alike two embedders are.

    Attributes:
        cosine: Mean over all texts, of each text's two vectors.
        lowest: The least of them.
        same: Share of queries with the same first ten passages, in whatever order.
        shared: Mean share of the first ten that both have.
    """

    cosine: float
    lowest: float
    same: float
    shared: float


def parity(one: Embedder, other: Embedder, pairs: Sequence[Pair]) -> Parity:
    """Compare two embedders on the queries of some pairs, each asked among the passages of its pool.

    Args:
        one: An embedder.
        other: Another, of as many dimensions.
        pairs: Each pool of more than ten passages.
    """
    cosines: list[np.ndarray] = []
    shares: list[float] = []
    for pool in dict.fromkeys(pair.pool for pair in pairs):
        queries = list(dict.fromkeys(pair.query for pair in pairs if pair.pool == pool))
        passages = list(dict.fromkeys(pair.positive.text for pair in pairs if pair.pool == pool))
        asked = [each.embed(queries) for each in (one, other)]
        found = [each.embed(passages) for each in (one, other)]
        cosines += [(first * second).sum(axis=1) for first, second in (asked, found)]
        tens = [np.argsort(-(q @ p.T), axis=1, kind="stable")[:, :_FIRST] for q, p in zip(asked, found, strict=True)]
        shares += [len(np.intersect1d(*both)) / _FIRST for both in zip(*tens, strict=True)]
    every = np.concatenate(cosines)
    return Parity(
        cosine=float(every.mean()),
        lowest=float(every.min()),
        same=float(np.mean([share == 1 for share in shares])),
        shared=float(np.mean(shares)),
    )
