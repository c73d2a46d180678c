"""The ``hero`` configuration: the paper's phase 3, restart vector and PageRank (methods.md R3 to R6)."""

from __future__ import annotations

import numpy as np

from mnemic.algo import activation, ppr
from mnemic.algo.graph import Doubles
from mnemic.config import Hero
from mnemic.retrieve.matched import Matched, linked, transition


def scores(matched: Matched, config: Hero) -> Doubles:
    """(traces,) a(t); without PageRank, or with nothing to restart from, W(t)."""
    frequency, active = matched.candidates.frequency, matched.active
    weights = activation.trace_weights(frequency, active, matched.traces, alpha=config.alpha)
    restart = np.concatenate((linked(matched), config.trace_restart * weights))
    if not config.ppr or not restart.sum() > 0:
        return weights
    rank = ppr.pagerank(transition(matched, directed=config.directed), restart, follow=config.follow)
    return rank[len(active.weight) :]
