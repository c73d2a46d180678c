"""Thresholds for an embedder that nobody has calibrated yet, from a sample of what is stored."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import numpy as np

from mnemic.algo.calibrate import calibrate
from mnemic.protocols import Embedder, Store
from mnemic.types import Thresholds, Unit

_QUESTIONS = 40
_CONTEXTS = 400
_TURNS = 400
"""Sizes of the sample: enough for quantiles, and a few seconds of a slow embedder."""


def from_memory(store: Store, embedder: Embedder, users: Sequence[str]) -> Thresholds | None:
    """Calibrate on the sentences of the first of these users who has enough of them.

    Some sentences stand in for questions, with their cues as entities; the others are the contexts.

    Args:
        store: Holds the sentences.
        embedder: Whose thresholds.
        users: Whose sentences.

    Returns:
        The thresholds; None when no user has enough sentences with cues.

    Raises:
        EmbeddingFailed: The embedder failed.
    """
    for user_id in users:
        turns = store.turns(user_id, limit=_TURNS)
        texts = {turn.turn_id: turn.text for turn in turns}
        units = [unit for unit in store.units(user_id, list(texts)) if unit.cues]
        if len(units) >= 2 * _QUESTIONS:
            return _on_sample(units, texts, embedder)
    return None


def _on_sample(units: Sequence[Unit], texts: dict[str, str], embedder: Embedder) -> Thresholds:
    # Every so many sentences one is a question, so that both kinds come from the whole sample.
    step = len(units) // _QUESTIONS
    asking = units[::step][:_QUESTIONS]
    contexts = list(islice((unit for i, unit in enumerate(units) if i % step), _CONTEXTS))
    keys = sorted({key for unit in [*asking, *contexts] for key in unit.cues})
    place = {key: i for i, key in enumerate(keys)}
    questions = embedder.embed([_words(unit, texts) for unit in asking], kind="query")
    passages = embedder.embed([*(_words(unit, texts) for unit in contexts), *keys])
    cues = passages[len(contexts) :]
    return calibrate(
        questions,
        [cues[np.array([place[key] for key in unit.cues])] for unit in asking],
        cues,
        passages[: len(contexts)],
        [[place[key] for key in unit.cues] for unit in contexts],
    )


def _words(unit: Unit, texts: dict[str, str]) -> str:
    return texts[unit.turn_id][unit.start : unit.end]
