"""Thresholds by quantile: the shares that the docstring promises, counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from mnemic.algo.calibrate import calibrate
from mnemic.models.windows import unit_rows


def sample(*, questions=40, cues=200, contexts=300, dim=16, shift=0.0, seed=1):
    """Random unit vectors; ``shift`` pulls all of them together, as an anisotropic model does."""
    random = np.random.default_rng(seed)

    def vectors(count):
        rows = random.standard_normal((count, dim)) + shift
        return unit_rows(rows.astype(np.float32))

    mentions = [random.choice(cues, size=3, replace=False).tolist() for _ in range(contexts)]
    return (
        vectors(questions),
        [vectors(1 + i % 3) for i in range(questions)],
        vectors(cues),
        vectors(contexts),
        mentions,
    )


@pytest.mark.parametrize("shift", [0.0, 2.0])
def test_the_promised_shares_pass(shift):
    questions, entities, cues, contexts, mentions = sample(shift=shift)
    chosen = calibrate(questions, entities, cues, contexts, mentions)

    anchors = [{c for c in range(len(cues)) if max(own @ cues[c]) >= chosen.tau_init} for own in entities]
    assert np.mean([len(found) for found in anchors]) == pytest.approx(8, abs=0.2)

    aliases = (cues @ cues.T >= chosen.tau_alias) & ~np.eye(len(cues), dtype=bool)
    assert aliases.sum(axis=1).mean() == pytest.approx(0.35, abs=0.02)

    shares = []
    for question, found in zip(questions, anchors, strict=True):
        reached = found | {c for c in range(len(cues)) if any(aliases[c, f] for f in found)}
        candidates = [contexts[i] for i, own in enumerate(mentions) if reached & set(own)]
        if candidates:
            shares.append(np.mean([question @ context >= chosen.tau_iter for context in candidates]))
    assert np.mean(shares) == pytest.approx(0.15, abs=0.01)

    assert np.mean((questions @ contexts.T).max(axis=1) < chosen.relevance) <= 0.025


def test_thresholds_follow_the_models_scale():
    wide, narrow = calibrate(*sample()), calibrate(*sample(shift=2.0))
    assert narrow.tau_init > wide.tau_init
    assert narrow.tau_iter > wide.tau_iter
    assert narrow.relevance > wide.relevance


def test_a_few_cues_let_a_tenth_pass():
    questions, entities, cues, contexts, _ = sample(cues=10)
    chosen = calibrate(questions, entities, cues, contexts, [[i % 10] for i in range(len(contexts))])
    passing = [np.count_nonzero((own @ cues.T).max(axis=0) >= chosen.tau_init) for own in entities]
    assert np.mean(passing) == pytest.approx(1, abs=0.1)


def test_questions_without_entities_count_for_relevance_only():
    questions, entities, cues, contexts, mentions = sample()
    silent = [np.empty((0, 16), dtype=np.float32), *entities[1:]]
    dropped = calibrate(questions[1:], entities[1:], cues, contexts, mentions)
    kept = calibrate(questions, silent, cues, contexts, mentions)
    assert (kept.tau_init, kept.tau_alias, kept.tau_iter) == (dropped.tau_init, dropped.tau_alias, dropped.tau_iter)


def test_contexts_without_mentions_are_all_candidates():
    questions, entities, cues, contexts, _ = sample()
    chosen = calibrate(questions, entities, cues, contexts, [[] for _ in contexts])
    assert np.mean(questions @ contexts.T >= chosen.tau_iter) == pytest.approx(0.15, abs=0.01)


def test_too_little_or_mismatched_input_is_refused():
    questions, entities, cues, contexts, mentions = sample()
    for bad in (
        (questions, entities[1:], cues, contexts, mentions),
        (questions, entities, cues, contexts, mentions[1:]),
        (questions, entities, cues[:1], contexts, mentions),
        (questions, entities, cues, contexts[:0], []),
        (questions, [np.empty((0, 16), dtype=np.float32)] * len(questions), cues, contexts, mentions),
    ):
        with pytest.raises(ValueError, match="question"):
            calibrate(*bad)
