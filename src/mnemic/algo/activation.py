"""HERO's iterative cue activation (paper section 3.3, phases 1 to 3; methods.md R1 to R3).

Matrices over cues are CSR: ``mentions`` (contexts, cues) says which unit or note mentions which cue, and
``frequency`` (traces, cues) in how many units of a trace a cue occurs, f(c, t).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mnemic.algo.sparse import Sparse
from mnemic.algo.vectors import dots

Ints = NDArray[np.int64]
Floats = NDArray[np.floating]
Doubles = NDArray[np.float64]


class Relevance(Protocol):
    """(contexts,) cos(n, q), as an array or worked out for the contexts that are asked for."""

    def __getitem__(self, contexts: Ints, /) -> Floats: ...


@dataclass(frozen=True, slots=True)
class Activation:
    """The activated cues.

    Attributes:
        weight: (cues,) W(c) in [0, 1]; 0 where not activated.
        level: (cues,) L(c): 1 for an anchor, k + 1 for a cue reached in round k, 0 where not activated.
        context: (cues,) the unit or note that reached the cue with most weight; -1 for anchors.
        parent: (cues,) the cue, one level below, that this context was reached from; -1 for anchors.
        alias: (cues,) the cue that the context mentions: the parent or a near-synonym of it; -1 for anchors.
    """

    weight: Doubles
    level: Ints
    context: Ints
    parent: Ints
    alias: Ints


def anchors(similarity: Floats, *, tau: float, cap: int | None = 10) -> Doubles:
    """Phase 1: S_0 and its weights W_0(c) = max_e cos(e, c) for the cues whose best cosine reaches tau.

    Args:
        similarity: (entities, cues) cosines.
        tau: tau_init, in [-1, 1].
        cap: Only so many cues per entity, the best, and those that equal the last of them; None for the paper's
            literal set (A9).

    Returns:
        (cues,) weights in [0, 1]; 0 for cues that are no anchors. Cosines below 0 never make an anchor.
    """
    cues = similarity.shape[1]
    weights = np.zeros(cues)
    for cosines in similarity:
        near = np.flatnonzero(cosines >= tau) if tau > 0 else np.flatnonzero(cosines > 0)
        # Stored vectors are rounded: their cosines can exceed 1 by a little, and weights must not.
        passing: Floats = np.minimum(cosines[near], 1.0)
        if cap is not None and cap < len(near):
            kept = passing >= np.partition(passing, len(near) - cap)[len(near) - cap]
            near, passing = near[kept], passing[kept]
        weights[near] = np.maximum(weights[near], passing)
    return weights


def expand(
    start: Floats,
    mentions: Sparse,
    relevance: Relevance,
    cue_vectors: Floats,
    *,
    tau_alias: float,
    tau_iter: float,
    rounds: int,
) -> Activation:
    """Phase 2: from cue to near-synonym to unit or note to the other cues mentioned there, ``rounds`` times.

    A context is used at most once, and opens its other cues with weight W'(c') * cos(n, q), the largest over
    the paths; a near-synonym c' of u carries W'(c') = W(u) * cos(c', u).

    Args:
        start: (cues,) W_0, from ``anchors``.
        mentions: (contexts, cues) CSR; any non-zero is a mention.
        relevance: (contexts,) cos(n, q).
        cue_vectors: (cues, dim) unit rows.
        tau_alias: Threshold between cues, in [-1, 1]; above 1 no aliases are followed.
        tau_iter: Threshold for a context's relevance; a value above 1 equals ``rounds=0``.
        rounds: K >= 0.
    """
    cues = len(start)
    weight = np.array(start, np.float64)
    level = (weight > 0).astype(np.int64)
    context, parent, alias = np.full((3, cues), -1)
    used = np.zeros(mentions.shape[0], np.bool_)
    frontier = np.flatnonzero(weight)
    for k in range(1, rounds + 1):
        if not len(frontier):
            break
        carried, origin = _aliases(weight, frontier, cue_vectors, tau_alias)
        mentioning = np.flatnonzero(mentions.rows_with(np.flatnonzero(carried > 0)) & ~used)
        cosines = relevance[mentioning]
        rows, cosines = mentioning[cosines >= tau_iter], cosines[cosines >= tau_iter]
        used[rows] = True
        counts, reached = mentions.slice_rows(rows)
        best, via = _best_cue(carried[reached], counts, reached)
        # Pairs (context, cue) in ascending order of value: of several assignments to one cue the last, largest, stays.
        value = np.repeat(best * np.minimum(cosines, 1.0), counts)
        order = np.argsort(value, kind="stable")
        order = order[(level[reached[order]] == 0) & (value[order] > 0)]
        cue = reached[order]
        weight[cue] = value[order]
        context[cue] = np.repeat(rows, counts)[order]
        alias[cue] = np.repeat(via, counts)[order]
        parent[cue] = origin[alias[cue]]
        frontier = np.unique(cue)
        level[frontier] = k + 1
    return Activation(weight, level, context, parent, alias)


def _aliases(weight: Doubles, frontier: Ints, vectors: Floats, tau: float) -> tuple[Doubles, Ints]:
    """(cues,) W'(c), and the cue u of the frontier that it comes from.

    W'(c) is W(u) * cos(c, u) for a cue within tau of u, and a cue of the frontier has at least its own weight.
    """
    carried = np.zeros(len(weight))
    origin = np.full(len(weight), -1)
    if tau <= 1:
        cosines = np.minimum(dots(vectors, vectors[frontier]), 1.0)
        values = np.where(cosines >= tau, cosines * weight[frontier], 0.0)
        carried, origin = values.max(axis=1), frontier[values.argmax(axis=1)]
    own = frontier[carried[frontier] <= weight[frontier]]
    carried[own], origin[own] = weight[own], own
    return carried, origin


def _best_cue(carried: Floats, counts: Ints, reached: Ints) -> tuple[Floats, Ints]:
    """For each context, whose cues are concatenated in ``reached``: the largest W' among them, and whose it is."""
    if not len(counts):
        return np.zeros(0), counts
    firsts = np.cumsum(counts) - counts
    best = np.maximum.reduceat(carried, firsts)
    hits = np.flatnonzero(carried == np.repeat(best, counts))
    owner = np.repeat(np.arange(len(counts)), counts)
    via = np.empty(len(counts), np.int64)
    via[owner[hits]] = reached[hits]
    return best, via


def trace_weights(frequency: Sparse, activation: Activation, similarity: Floats, *, alpha: float) -> Doubles:
    """Phase 3: W(t) = alpha * minmax(cos(t, q)) + ln(1 + B_t), B_t = sum_c W(c) ln(1 + f(c, t)) / L(c).

    Args:
        frequency: (traces, cues) counts f(c, t).
        activation: From ``expand``.
        similarity: (traces,) cos(t, q), NaN for traces that take no part; scaled to [0, 1] over the others, to 1
            when constant (A17).
        alpha: Weight of the similarity, >= 0.

    Returns:
        (traces,) weights >= 0; 0 for traces that take no part.
    """
    taking_part = ~np.isnan(similarity)
    weights = np.zeros(len(similarity))
    weights[taking_part] = alpha * minmax(similarity[taking_part])
    return weights + np.log1p(bridge(frequency, activation)) * taking_part


def bridge(frequency: Sparse, activation: Activation) -> Doubles:
    """(traces,) B_t, what the activated cues lend to each trace."""
    return frequency.map(np.log1p) @ (activation.weight / np.maximum(activation.level, 1))


def inverse_frequency(frequency: Sparse, traces: int) -> Doubles:
    """(cues,) ln(1 + (T - n_c + 1/2) / (n_c + 1/2)), n_c of T traces mentioning the cue: hubs lend little.

    Args:
        frequency: (traces, cues) counts f(c, t).
        traces: T; rows of traces that take no part are not counted.
    """
    mentioning = frequency.column_counts
    return np.log1p((traces - mentioning + 0.5) / (mentioning + 0.5))


def minmax(values: Floats) -> Doubles:
    """Scale to [0, 1]; 1 everywhere when constant, and for no values nothing."""
    if not len(values):
        return np.zeros(0)
    low, high = float(values.min()), float(values.max())
    return (np.asarray(values, np.float64) - low) / (high - low) if high > low else np.ones(len(values))
