"""How often a memory of a held-out persona finds the turn that it came from, among all of that persona's turns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from training.pair import Pair

DEPTHS = (1, 10)


def recall(pairs: Sequence[Pair], embed: Callable[[Sequence[str]], NDArray[np.float32]]) -> dict[int, float]:
    """The share of pairs whose positive is among the first k of its pool, for each k of ``DEPTHS``.

    Args:
        pairs: At least one; a pool is the positives of its pairs.
        embed: n texts to (n, d) unit rows.
    """
    ranks: list[int] = []
    for pool in dict.fromkeys(pair.pool for pair in pairs):
        own = [pair for pair in pairs if pair.pool == pool]
        passages = list(dict.fromkeys(pair.positive.text for pair in own))
        place = {text: number for number, text in enumerate(passages)}
        scores = embed([pair.query for pair in own]) @ embed(passages).T
        gold = scores[np.arange(len(own)), [place[pair.positive.text] for pair in own]]
        ranks += (scores > gold[:, None]).sum(axis=1).tolist()
    return {depth: float(np.mean([rank < depth for rank in ranks])) for depth in DEPTHS}
