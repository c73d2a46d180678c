"""What changed between two texts, word by word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, Literal

_WORDS: Final = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of words that both texts have, or one of them."""

    kind: Literal["same", "gone", "new"]
    text: str


def pieces(before: str, after: str) -> tuple[Piece, ...]:
    """The pieces in reading order: those that are not ``new`` join to ``before``, those not ``gone`` to ``after``."""
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    return tuple(_merged(old, new))


def _merged(old: list[str], new: list[str]) -> Iterator[Piece]:
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield Piece("same", "".join(old[a:b]))
            continue
        if gone := "".join(old[a:b]):
            yield Piece("gone", gone)
        if added := "".join(new[c:d]):
            yield Piece("new", added)
