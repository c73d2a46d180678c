"""Adding up what language models took."""

from __future__ import annotations

from collections.abc import Iterable

from mnemic.types import Purpose, Spent


def summed(each: Iterable[Spent]) -> tuple[Spent, ...]:
    """What was spent, by purpose, in the order of the purposes' names."""
    sums: dict[Purpose, Spent] = {}
    for more in each:
        so_far = sums.get(more.purpose, Spent(more.purpose, 0, 0, 0, 0.0, 0))
        sums[more.purpose] = Spent(
            more.purpose,
            so_far.calls + more.calls,
            so_far.tokens_in + more.tokens_in,
            so_far.tokens_out + more.tokens_out,
            so_far.cost + more.cost,
            so_far.unpriced + more.unpriced,
        )
    return tuple(sums[purpose] for purpose in sorted(sums))
