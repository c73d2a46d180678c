"""Which pairs are trained on at which step, and how fast: known before the first step, so that a run can be resumed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from training.pair import KINDS, Kind, Pair


def batches(pairs: Sequence[Pair], *, size: int, epochs: int, seed: int) -> list[list[int]]:
    """Places of the pairs of each step: every pair once an epoch, each batch of one kind, in an order drawn anew.

    A rest of fewer than two pairs of a kind is left out of its epoch: it has nothing to be told from.
    """
    by_kind = [np.flatnonzero([pair.kind == kind for pair in pairs]) for kind in KINDS]
    steps: list[list[int]] = []
    for epoch in range(epochs):
        rng = np.random.default_rng((seed, epoch))
        drawn = [rng.permutation(places) for places in by_kind]
        cut = [places[start : start + size].tolist() for places in drawn for start in range(0, len(places), size)]
        kept = [batch for batch in cut if len(batch) > 1]
        steps += [kept[place] for place in rng.permutation(len(kept))]
    return steps


def kept(pairs: Sequence[Pair], most: Sequence[tuple[Kind, int]], *, seed: int) -> list[Pair]:
    """The pairs, of some kinds only so many, drawn at random; in order."""
    limits, rng = dict(most), np.random.default_rng(seed)
    found: list[Pair] = []
    for kind in KINDS:
        own = [pair for pair in pairs if pair.kind == kind]
        found += [own[place] for place in sorted(rng.permutation(len(own))[: limits.get(kind, len(own))].tolist())]
    return found


def rate(step: int, steps: int, *, highest: float, warmup: float) -> float:
    """The learning rate of a step from 0: up to the highest over the warmup's share of the steps, then down to 0."""
    rising = max(1, round(warmup * steps))
    return highest * min((step + 1) / rising, (steps - step) / max(1, steps - rising))
