"""Public ids and the numbers behind them, and long lists of either in pieces that a statement can carry."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Literal, TypeVar

Kind = Literal["T", "N", "O", "E"]
Value = TypeVar("Value")

# Below the smallest limit of variables that any SQLite was built with (999).
_PIECE = 900
_PUBLIC_ID = re.compile(r"([TNOE])([1-9][0-9]{0,17})", re.ASCII)


def public_id(kind: Kind, number: int) -> str:
    """``T7``: the id of trace 7."""
    return f"{kind}{number}"


def number_of(kind: Kind, public_id: str) -> int | None:
    """The number in an id of this kind; None where it is no such id."""
    match = _PUBLIC_ID.fullmatch(public_id)
    return int(match[2]) if match and match[1] == kind else None


def numbers_of(kind: Kind, public_ids: Iterable[str]) -> list[int]:
    """The numbers in ids of this kind, each once; what is no such id is left out."""
    numbers = (number_of(kind, public_id) for public_id in public_ids)
    return list(dict.fromkeys(number for number in numbers if number is not None))


def pieces(values: Iterable[Value]) -> Iterator[list[Value]]:
    """The distinct values in their order, in lists short enough for one statement."""
    distinct = iter(dict.fromkeys(values))
    while piece := list(islice(distinct, _PIECE)):
        yield piece
