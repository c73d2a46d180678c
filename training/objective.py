"""What is made small: the loss of finding the right passage among a batch's, and the distance from the base embedder.

In-batch negatives are of Henderson et al. (arXiv 1705.00652), the temperature of van den Oord et al., InfoNCE
(arXiv 1807.03748).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional


def contrast(queries: Tensor, passages: Tensor, excluded: Tensor, *, temperature: float) -> Tensor:
    """Cross entropy of each query's own passage among all.

    Args:
        queries: (n, d) unit rows.
        passages: (m, d) unit rows, m >= n; the i-th of the first n answers the i-th query.
        excluded: (n, m) booleans, true where a passage is no negative of a query; never true on the diagonal.
        temperature: Above 0; what cosines are divided by.

    Returns:
        The mean over queries, at least 0.
    """
    scores = (queries @ passages.T / temperature).masked_fill(excluded, float("-inf"))
    return functional.cross_entropy(scores, torch.arange(len(queries), device=queries.device))


def excluded(groups: Sequence[Sequence[str]], own: int) -> Tensor:
    """(n, m): which of m passages share a turn with a query's own passage, and so are no negatives of the query.

    Args:
        groups: Of each of the m passages; the first n are the queries' own.
        own: n.
    """
    sets = [frozenset(several) for several in groups]
    return torch.tensor(
        [[row != column and not one.isdisjoint(other) for column, other in enumerate(sets)]
         for row, one in enumerate(sets[:own])]
    )  # fmt: skip


def pull(vectors: Tensor, base: Tensor) -> Tensor:
    """Mean distance ``1 - cosine`` of unit rows (n, d) from the base embedder's of the same texts, 0 to 2."""
    return (1 - (vectors * base).sum(1)).mean()
