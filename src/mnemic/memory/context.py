"""From what a search found to a block for a prompt."""

from __future__ import annotations

from mnemic import retrieve
from mnemic.memory.search import check_count
from mnemic.types import SearchResult

_TOKENS_A_HIT = 32
"""A trace that fits a quarter of its longest is rare: hits enough to fill the budget."""


def depth(max_tokens: int) -> int:
    """How many hits to search for. Raises InvalidQuery for what is no budget."""
    check_count(max_tokens, "max_tokens")
    return max(1, max_tokens // _TOKENS_A_HIT)


def block(found: SearchResult, max_tokens: int) -> str:
    """The hits within the budget; an empty string when nothing is relevant or nothing fits."""
    return "" if found.nothing_relevant else retrieve.block(found.results, max_tokens)
