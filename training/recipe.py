"""All that decides what a training makes, besides the data and the code."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field

from training.negatives import Mining
from training.pair import Kind
from training.pairs import Sizes
from training.prepare import Preparation


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to train.

    Attributes:
        preparation: Which pairs.
        most: Of a kind of pairs, how many are drawn; of those not named all.
        epochs: How often each is seen.
        batch: Pairs a step, at least 2.
        rate: The highest learning rate of AdamW, after ``warmup`` of the steps; it falls to 0 afterwards.
        decay: AdamW's weight decay.
        temperature: What cosines are divided by.
        pull: Weight of the distance from the base embedder.
        frozen: So many layers from below stay as they are, 0 to 6, and so do the embeddings of words and places; None
            for nothing at all.
        tokens: Of a text that are read in training.
        clip: The longest gradient.
        share: Of what is trained in the result, in (0, 1]; the rest are the base's weights.
        seed: Of dropout and of the order.
        threads: Of torch; sums depend on it.
        check_every: Steps between two looks at the held-out personas, which also leave a checkpoint.
        most_steps: Stop after so many; None for all.
    """

    preparation: Preparation = field(default_factory=lambda: Preparation(Sizes(), Mining()))
    most: tuple[tuple[Kind, int], ...] = (("memory", 1200), ("window", 800), ("cloze", 300))
    epochs: int = 1
    batch: int = 64
    rate: float = 5e-5
    warmup: float = 0.1
    decay: float = 0.01
    temperature: float = 0.05
    pull: float = 0.3
    frozen: int | None = 3
    tokens: int = 96
    clip: float = 1.0
    share: float = 0.7
    seed: int = 0
    threads: int = 1
    check_every: int = 60
    most_steps: int | None = None

    @property
    def fingerprint(self) -> str:
        """Equal exactly for equal recipes."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:16]


FULL = Recipe()
QUICK = Recipe(
    preparation=Preparation(Sizes(questions=250, memories=160, clozes=160, asked=300, distractors=300), Mining()),
    batch=48,
    check_every=20,
    most_steps=40,
)
"""Minutes, to see that everything works and which way it goes."""
