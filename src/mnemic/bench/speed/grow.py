"""Grows a system step by step, and has it measured at each size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from mnemic.bench.peers.system import Peer
from mnemic.bench.peers.wire import PeerFailed
from mnemic.bench.speed.measure import Measured, Measuring
from mnemic.errors import InvalidInput

TURNS_OF_MANY: Final = 100
"""Turns of each user, where users grow."""


@dataclass(frozen=True, slots=True)
class Growth:
    """How far to grow, and how often to measure.

    Attributes:
        turns: Sizes of the one user, ascending; empty to leave that out.
        users: Numbers of users of ``TURNS_OF_MANY`` turns each, ascending, at least 2; empty to leave that out.
        queries: Searches at each size.
        adds: Turns added one by one at each size, each followed by a search.
        limit_s: For one size, growing and measuring together.
        seed: Of the dialogues.
    """

    turns: tuple[int, ...] = (1_000, 10_000, 100_000)
    users: tuple[int, ...] = (10, 100, 1_000)
    queries: int = 50
    adds: int = 20
    limit_s: float = 1800.0
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the ranges. Raises InvalidInput."""
        for what, sizes, least in (("turns", self.turns, 1), ("users", self.users, 2)):
            if list(sizes) != sorted(set(sizes)) or any(size < least for size in sizes):
                raise InvalidInput(f"numbers of {what} must rise, from {least} on: {', '.join(map(str, sizes))}")
        if not (self.turns or self.users):
            raise InvalidInput("there is nothing to grow: give numbers of turns or of users")

    @property
    def total(self) -> int:
        """Turns that one system is given in the end, but for those added one by one."""
        return max(self.turns, default=0) + TURNS_OF_MANY * max(self.users, default=0)


def grow(
    name: str, start: Callable[[], Peer], growth: Growth, *, progress: Callable[[int], None] = lambda _: None
) -> Iterator[Measured]:
    """Grow one user, and then, in a new process, a store of many users; measure at each size.

    Args:
        name: Of the system, for the measurements.
        start: Starts it, empty.
        growth: How far.
        progress: Called with the number of turns added since; may raise to end it.

    Yields:
        A measurement a size, ``{"system", "users", "turns", …}`` with what ``measure.Measuring`` says; ``turns`` are
        those of each user. A size at which the system failed, or that took longer than the limit, has ``"failed"``,
        the reason, instead, and so have those after it.
    """
    one = [(1, turns) for turns in growth.turns]
    many = [(users, TURNS_OF_MANY) for users in growth.users]
    for sizes in (one, many):
        if sizes:
            yield from _one_process(name, start, sizes, growth, progress)


def _one_process(
    name: str,
    start: Callable[[], Peer],
    sizes: Sequence[tuple[int, int]],
    growth: Growth,
    progress: Callable[[int], None],
) -> Iterator[Measured]:
    done = 0
    try:
        with start() as peer:
            measuring = Measuring(
                peer,
                queries=growth.queries,
                adds=growth.adds,
                seed=growth.seed,
                limit_s=growth.limit_s,
                progress=progress,
            )
            for users, turns in sizes:
                measured = measuring.measure(users, turns)
                done += 1
                yield {"system": name, "users": users, "turns": turns, **measured}
    except PeerFailed as error:
        why = str(error)
        for users, turns in sizes[done:]:
            yield {"system": name, "users": users, "turns": turns, "failed": why}
            why = "not tried after it failed at the size before"
