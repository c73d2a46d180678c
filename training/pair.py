"""What an embedder is trained on: a query, the passage it should find, and passages it should not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal["question", "sentence", "memory", "memory-sentence", "window", "asked", "asked-sentence", "cloze"]
"""Where a pair comes from; a batch is of one kind, so that its texts are of like length and its negatives alike."""
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Passage:
    """Words that can be found.

    Attributes:
        text: The words.
        groups: The turns they hold, or the question that they answer; passages that share one are never each other's
            negatives.
    """

    text: str
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """One example.

    Attributes:
        kind: Where it comes from.
        query: The words that ask.
        positive: The passage that answers.
        pool: Which passages its hard negatives are taken from: the same conversation's.
        speaker: Whose name the positive begins with; its negatives get the same, so that a name tells nothing.
        negatives: Hard negatives; none before they are mined.
    """

    kind: Kind
    query: str
    positive: Passage
    pool: str
    speaker: str | None = None
    negatives: tuple[Passage, ...] = ()
