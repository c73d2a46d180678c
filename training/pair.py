"""What an embedder is trained on: a query, the passage it should find, and passages it should not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal["question", "sentence", "memory", "memory-sentence", "window", "cloze"]
"""Where a pair comes from; a batch is of one kind, so that its texts are of like length and its negatives alike."""
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Passage:
    """Words that can be found.

    Attributes:
        text: The words.
        group: The turn they come from; passages of one group are never each other's negatives.
    """

    text: str
    group: str


@dataclass(frozen=True, slots=True)
class Pair:
    """One example.

    Attributes:
        kind: Where it comes from.
        query: The words that ask.
        positive: The passage that answers.
        pool: Which passages its hard negatives are taken from: the same conversation's.
        negatives: Hard negatives; none before they are mined.
    """

    kind: Kind
    query: str
    positive: Passage
    pool: str
    negatives: tuple[Passage, ...] = ()
