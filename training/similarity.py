"""Whether an embedder still finds alike what its base found alike: rank correlation over pairs of sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import spearmanr

from training.pairs import statements

if TYPE_CHECKING:
    from mnemic.protocols import Embedder

PAIRS = 2000


def sentence_pairs(turns: Sequence[str], *, seed: int, together: bool) -> list[tuple[str, str]]:
    """Pairs of different sentences of users' turns, 2,000 or as many as there are.

    Args:
        turns: Not trained on.
        seed: Draws them.
        together: Both sentences of one turn, so that they are about one thing; else any two of all.
    """
    rng = np.random.default_rng(seed)
    split = [list(dict.fromkeys(statements(turn))) for turn in turns]
    if together:
        several = [found for found in split if len(found) > 1]
        chosen = rng.permutation(len(several))[:PAIRS]
        return [(several[place][0], several[place][1]) for place in chosen]
    every = list(dict.fromkeys(sentence for found in split for sentence in found))
    order = rng.permutation(len(every))[: 2 * PAIRS]
    return [(every[a], every[b]) for a, b in zip(order[::2], order[1::2], strict=False)]


def correlation(pairs: Sequence[tuple[str, str]], one: Embedder, other: Embedder) -> float:
    """Spearman's rank correlation of two embedders' cosines of the same pairs, -1 to 1."""
    return float(spearmanr(_cosines(pairs, one), _cosines(pairs, other)).statistic)


def _cosines(pairs: Sequence[tuple[str, str]], embedder: Embedder) -> np.ndarray:
    first, second = (embedder.embed([pair[place] for pair in pairs]) for place in (0, 1))
    return np.einsum("nd,nd->n", first, second)
