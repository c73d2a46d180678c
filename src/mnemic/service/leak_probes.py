"""What the leak test plants, and what its surfaces ask for: users, ids and questions that may be another tenant's."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

QUERIES: Final = ("secret", "*", "%", "", " ", "Who has a secret?", "xylophone", "' OR 1=1 --", "tenant/", ".*")
"""Questions and ids that would match everything, were they patterns."""


@dataclass(frozen=True, slots=True)
class Planted:
    """What a tenant has: its secret words, the user's own id and the stored one, and the ids of all things."""

    secret: str
    user_id: str
    stored: str
    ids: tuple[str, ...]


class Surface(Protocol):
    """One way to read: for each read path and argument what it was, and what came back, as text."""

    def __call__(self, key: str, own: Planted, other: Planted, chance: random.Random) -> Iterator[tuple[str, str]]:
        """Read with a key whatever may be another tenant's: first what only reads, then what changes or erases."""
        ...


def users(own: Planted, other: Planted, chance: random.Random) -> Sequence[str]:
    """User ids: one's own, the other tenant's as it is stored, and one that might be read as that."""
    stored = other.stored
    odd = (
        f"../{stored}",
        f"{own.user_id}\0{stored}",
        stored.replace("/", "%2F"),
        stored.upper(),
        f" {stored}",
        "*",
        "%",
    )
    return own.user_id, stored, chance.choice(odd)


def ids(other: Planted, chance: random.Random) -> Sequence[str]:
    """Ids of the other tenant's things, and random ones of all kinds."""
    made = (f"{kind}{chance.randrange(1, 40)}" for kind in "TNEO")
    return (*chance.sample(other.ids, min(5, len(other.ids))), *made, f"E:{other.ids[0]}")


def questions(chance: random.Random, count: int) -> Sequence[str]:
    """What to search for."""
    return QUERIES[0], *chance.sample(QUERIES[1:], min(count, len(QUERIES) - 1))


def unquoted(came: str, *given: str) -> str:
    """A reply without what was asked: to hear one's own words is no leak."""
    for one in given:
        for written in {one, repr(one)[1:-1], json.dumps(one)[1:-1]}:
            if written.strip():
                came = came.replace(written, "")
    return came
