"""Whether an embedder still finds alike what its base found alike: rank correlation over pairs of sentences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import spearmanr

from training.pairs import statements

if TYPE_CHECKING:
    from mnemic.protocols import Embedder

PAIRS = 2000


def sentence_pairs(turns: Sequence[str], *, seed: int, together: bool) -> list[tuple[str, str]]:
    """Pairs of different sentences of users' turns: 2,000, or as many as there are in one turn each.

    Args:
        turns: Not trained on.
        seed: Draws them.
        together: Neighbours in one turn, so that they are about one thing; else any two of all, of which there must be
            two.
    """
    rng = np.random.default_rng(seed)
    split = [list(dict.fromkeys(statements(turn))) for turn in turns]
    if together:
        beside = [pair for found in split for pair in pairwise(found)]
        return [beside[place] for place in rng.permutation(len(beside))[:PAIRS]]
    every = list(dict.fromkeys(sentence for found in split for sentence in found))
    first, step = rng.integers(len(every), size=PAIRS), rng.integers(1, len(every), size=PAIRS)
    return [(every[a], every[(a + by) % len(every)]) for a, by in zip(first, step, strict=True)]


def correlation(pairs: Sequence[tuple[str, str]], one: Embedder, other: Embedder) -> float:
    """Spearman's rank correlation of two embedders' cosines of the same pairs, -1 to 1."""
    return float(spearmanr(_cosines(pairs, one), _cosines(pairs, other)).statistic)


def _cosines(pairs: Sequence[tuple[str, str]], embedder: Embedder) -> np.ndarray:
    first, second = (embedder.embed([pair[place] for pair in pairs]) for place in (0, 1))
    return np.einsum("nd,nd->n", first, second)
