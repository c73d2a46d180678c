"""Hard negatives: what a search would confuse with the answer, and what is none.

Candidates are the first of BM25 and of the base embedder among the passages of the same conversation. Those that may
answer too are left out as in Moreira et al., "NV-Retriever" (arXiv 2407.15831, TopK-PercPos): a candidate is too good
to be wrong where its cosine with the query is above 95 % of the positive's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mnemic.algo.bm25 import BM25
from mnemic.algo.lexical import content_terms, terms
from training.pair import Pair, Passage
from training.people import spoken

Vectors = Mapping[str, NDArray[np.float32]]
"""Text -> its unit vector under the base embedder."""


@dataclass(frozen=True, slots=True)
class Mining:
    """How negatives are chosen.

    Attributes:
        count: A pair at most, 0 or more.
        depth: Of each of the two rankings.
        share: A candidate's cosine with the query must be below this share of the positive's, in (0, 1].
        near: A candidate's cosine with the positive must be below this, in (0, 1]: above it they say the same.
        first: They are drawn from so many of the hardest that are left.
    """

    count: int = 1
    depth: int = 30
    share: float = 0.95
    near: float = 0.9
    first: int = 8


class Pool:
    """The passages of one conversation, ranked by words and by vectors.

    Args:
        passages: At least one.
        vectors: Of each of their texts.
    """

    def __init__(self, passages: Sequence[Passage], vectors: Vectors) -> None:
        self.passages = tuple(passages)
        self.groups = [frozenset(passage.groups) for passage in passages]
        self.vectors = np.stack([vectors[passage.text] for passage in passages])
        self._words = BM25()
        self._words.add_all([terms(passage.text) for passage in passages])

    def ranked(self, query: str, vector: NDArray[np.float32], depth: int) -> list[int]:
        """Places of the first ``depth`` by words and by cosine, taken in turn, each once."""
        by_words = self._words.scores(content_terms(query))
        by_cosine = self.vectors @ vector
        orders = [np.argsort(-scores, kind="stable")[:depth].tolist() for scores in (by_words, by_cosine)]
        return list(dict.fromkeys(place for both in zip(*orders, strict=True) for place in both))


def mine(pair: Pair, pool: Pool, vectors: Vectors, mining: Mining, rng: np.random.Generator) -> Pair:
    """The pair with hard negatives; with fewer than asked for, or none, where nothing is both hard and wrong.

    Args:
        pair: Its query and positive have vectors.
        pool: Of its conversation.
        vectors: Of all texts.
        mining: How.
        rng: Draws among the hardest.
    """
    query, positive = vectors[pair.query], vectors[pair.positive.text]
    limit = mining.share * float(query @ positive)
    left = [
        place
        for place in pool.ranked(pair.query, query, mining.depth)
        if pool.groups[place].isdisjoint(pair.positive.groups)
        and float(pool.vectors[place] @ query) < limit
        and float(pool.vectors[place] @ positive) < mining.near
    ][: mining.first]
    chosen = rng.choice(len(left), size=min(mining.count, len(left)), replace=False) if left else []
    found = (pool.passages[left[place]] for place in sorted(int(i) for i in chosen))
    return replace(pair, negatives=tuple(_said(passage, pair.speaker) for passage in found))


def _said(passage: Passage, speaker: str | None) -> Passage:
    return passage if speaker is None else replace(passage, text=spoken(passage.text, speaker))
