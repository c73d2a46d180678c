"""What people are told about the memory that is kept of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mnemic.types.sizes import Counts


@dataclass(frozen=True, slots=True)
class Way:
    """How one of a person's rights is met, on each surface."""

    right: Literal["see", "correct", "erase"]
    python: str
    command: str
    rest: str


@dataclass(frozen=True, slots=True)
class Notice:
    """What people may be told.

    Attributes:
        text: Ready to be shown, in plain words.
        keeps: Whether anything is kept about the user; True where none was named.
        counts: What is kept about the user, by kind.
        models: The language models that read what is said; none where nobody does.
        ways: How it is seen, corrected and erased.
    """

    text: str
    keeps: bool
    counts: Counts | None
    models: tuple[str, ...]
    ways: tuple[Way, ...]
