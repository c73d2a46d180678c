"""HERO's phases 1 to 3 against a slow reading of methods.md R1 to R3, line by line, in dictionaries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.algo.activation import Activation, anchors, expand, trace_weights
from mnemic.algo.sparse import Sparse

Weights = dict[int, float]


@dataclass
class Case:
    """A small memory: unit vectors, which contexts mention which cues, f(c, t), and the thresholds."""

    entities: np.ndarray
    cues: np.ndarray
    contexts: np.ndarray
    traces: np.ndarray
    query: np.ndarray
    mentions: list[set[int]]
    frequency: dict[tuple[int, int], int]
    tau_init: float
    tau_alias: float
    tau_iter: float
    cap: int | None
    rounds: int
    alpha: float


@st.composite
def cases(draw: st.DrawFn) -> Case:
    random = np.random.default_rng(draw(st.integers(0, 10_000)))
    count = st.integers(3, 9)
    entities, cues, contexts, traces = draw(st.integers(1, 3)), draw(st.integers(5, 12)), draw(count), draw(count)
    share = draw(st.sampled_from([0.2, 0.35]))

    shift = draw(st.sampled_from([0.0, 0.7]))

    def units(n: int) -> np.ndarray:
        rows = random.normal(size=(n, 3)) + shift
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    held = random.random((traces, cues)) < share
    return Case(
        entities=units(entities),
        cues=units(cues),
        contexts=units(contexts),
        traces=units(traces),
        query=units(1)[0],
        mentions=[set(np.flatnonzero(random.random(cues) < share).tolist()) for _ in range(contexts)],
        frequency={(int(c), int(t)): int(random.integers(1, 4)) for t, c in zip(*np.nonzero(held), strict=True)},
        tau_init=draw(st.sampled_from([0.6, 0.8, 0.0])),
        tau_alias=draw(st.sampled_from([0.6, 0.9, 0.97, 2.0])),
        tau_iter=draw(st.sampled_from([-1.0, 0.0, 0.3, 0.6])),
        cap=draw(st.sampled_from([1, 2, None])),
        rounds=draw(st.sampled_from([2, 4, 1, 0])),
        alpha=draw(st.sampled_from([0.0, 1.0, 2.0])),
    )


def cos(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.dot(a, b))


# methods.md, literally -----------------------------------------------------------------------------------


def r1(case: Case) -> Weights:
    """S_0 and W_0. A weight of 0 activates nothing."""
    cosines = [{c: cos(e, v) for c, v in enumerate(case.cues)} for e in case.entities]
    chosen: Weights = {}
    for s_e in cosines:
        passing = {c: s for c, s in s_e.items() if s >= case.tau_init and s > 0}
        best = sorted(passing.items(), key=lambda item: -item[1])[: case.cap]
        for c, s in best:
            chosen[c] = max(chosen.get(c, 0.0), s)
    return chosen


def r2(case: Case, start: Weights) -> tuple[Weights, dict[int, int]]:
    """W and L of all activated cues."""
    weight, level = dict(start), dict.fromkeys(start, 1)
    frontier, used = set(start), set[int]()
    for k in range(1, case.rounds + 1):
        if not frontier:
            break
        carried: Weights = {}
        for c, v in enumerate(case.cues):
            values = [weight[u] * cos(v, case.cues[u]) for u in frontier if cos(v, case.cues[u]) >= case.tau_alias]
            values += [weight[c]] if c in frontier else []
            if values:
                carried[c] = max(values)
        opened = {n for n, cues in enumerate(case.mentions) if cues & carried.keys()} - used
        opened = {n for n in opened if cos(case.contexts[n], case.query) >= case.tau_iter}
        used |= opened
        reached: Weights = {}
        for n in opened:
            for c in case.mentions[n] - weight.keys():
                for c1 in case.mentions[n] & carried.keys():
                    value = carried[c1] * cos(case.contexts[n], case.query)
                    reached[c] = max(reached.get(c, -math.inf), value)
        reached = {c: value for c, value in reached.items() if value > 0}
        weight |= reached
        level |= dict.fromkeys(reached, k + 1)
        frontier = set(reached)
    return weight, level


def r3(case: Case, weight: Weights, level: dict[int, int]) -> list[float]:
    d = [cos(t, case.query) for t in case.traces]
    low, high = min(d), max(d)
    activated = []
    for t, d_t in enumerate(d):
        dn = (d_t - low) / (high - low) if high > low else 1.0
        b = sum(
            w * math.log(1 + case.frequency[c, t]) / level[c] for c, w in weight.items() if (c, t) in case.frequency
        )
        activated.append(case.alpha * dn + math.log(1 + b))
    return activated


# ours ----------------------------------------------------------------------------------------------------


def ours(case: Case, **changes: Any) -> tuple[np.ndarray, Activation]:
    options = {"tau_alias": case.tau_alias, "tau_iter": case.tau_iter, "rounds": case.rounds} | changes
    start = anchors(case.entities @ case.cues.T, tau=case.tau_init, cap=case.cap)
    return start, expand(start, mentions_of(case), case.contexts @ case.query, case.cues, **options)


def mentions_of(case: Case) -> Sparse:
    pairs = [(n, c) for n, cues in enumerate(case.mentions) for c in cues]
    rows, columns = np.array(pairs, np.int64).reshape(-1, 2).T
    return Sparse.from_pairs(rows, columns, np.ones(len(pairs)), (len(case.mentions), len(case.cues)))


def frequency_of(case: Case) -> Sparse:
    pairs = np.array([(t, c) for c, t in case.frequency], np.int64).reshape(-1, 2)
    counts = np.array(list(case.frequency.values()), np.float64)
    return Sparse.from_pairs(pairs[:, 0], pairs[:, 1], counts, (len(case.traces), len(case.cues)))


def nonzero(values: Any) -> dict[int, float]:
    return {int(i): float(values[i]) for i in np.flatnonzero(values)}


@settings(max_examples=200, deadline=None)
@given(cases())
def test_equals_the_specification(case: Case) -> None:
    start, active = ours(case)
    expected_start = r1(case)
    weight, level = r2(case, expected_start)

    assert nonzero(start) == pytest.approx(expected_start)
    assert nonzero(active.weight) == pytest.approx(weight)
    assert nonzero(active.level) == level
    weights = trace_weights(frequency_of(case), active, case.traces @ case.query, alpha=case.alpha)
    assert weights == pytest.approx(r3(case, weight, level))


@settings(max_examples=100, deadline=None)
@given(cases())
def test_every_path_leads_back_to_an_anchor_and_never_gains_weight(case: Case) -> None:
    start, active = ours(case)
    relevance = case.contexts @ case.query
    assert (active.weight <= 1).all()
    for cue in np.flatnonzero(active.level > 1):
        parent, alias, context = active.parent[cue], active.alias[cue], active.context[cue]
        assert active.level[parent] == active.level[cue] - 1
        assert active.weight[cue] <= active.weight[parent]
        assert {int(cue), int(alias)} <= case.mentions[context]
        lent = active.weight[parent] * (1 if alias == parent else cos(case.cues[alias], case.cues[parent]))
        assert active.weight[cue] == pytest.approx(lent * relevance[context])
    for cue in np.flatnonzero(active.level == 1):
        assert (active.parent[cue], active.alias[cue], active.context[cue]) == (-1, -1, -1)
        assert active.weight[cue] == start[cue]


@settings(max_examples=60, deadline=None)
@given(cases())
def test_without_rounds_or_with_a_threshold_above_one_it_is_the_anchors(case: Case) -> None:
    start, none = ours(case, rounds=0)
    _, unreachable = ours(case, tau_iter=1.01)
    for active in (none, unreachable):
        assert active.weight.tolist() == start.tolist()
        assert (active.level == (start > 0)).all()
