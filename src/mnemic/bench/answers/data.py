"""What a language model is shown of a memory for one question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mnemic.algo import select, tokens


@dataclass(frozen=True, slots=True)
class Context:
    """What a language model is shown of a memory for one question.

    Attributes:
        entries: The texts of a system's hits, best first.
        beside: The texts of a second system's hits, shown apart as original dialogue (HERO, figure 2); empty for none.
    """

    entries: tuple[str, ...]
    beside: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        """Size of all texts by ``algo.tokens.count``, without the delimiters."""
        return sum(map(tokens.count, (*self.entries, *self.beside)))


def within(texts: Sequence[str], max_tokens: int | None) -> tuple[str, ...]:
    """The texts that fit a budget, whole and in order: one too large is passed over. None: all of them."""
    if max_tokens is None:
        return tuple(texts)
    return tuple(texts[place] for place in select.within_budget([tokens.count(text) for text in texts], max_tokens))
