"""Which of several times a question means: the last one, or the first."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from mnemic.algo.candidates import Doubles

Which = Literal["first", "last"]

_VERB = r"(?!(?:of|place|name|prize|aid|class|hand|minute|resort|straw|word)\b)[a-z]+"
_PATTERNS: tuple[tuple[Which, str], ...] = (
    ("last", r"\b(?:the|my|his|her|their|our|your|'s) (?:very )?last times?\b|\bthe (?:most recent|latest|newest)\b"),
    ("last", r"\bmost recently\b|\b(?:my|his|her|their|our|your|'s) (?:most recent|latest|newest)\b"),
    (
        "last",
        rf"\b(?:when|where|what|who|whom|which|how)\b[^.?!]*\b(?:did|was|were|have|has|had)\b[^.?!]*\blast {_VERB}",
    ),
    ("first", r"\b(?:the|my|his|her|their|our|your|'s) (?:very )?first times?\b|\bthe (?:earliest|oldest)\b"),
    ("first", r"\b(?:originally|initially)\b"),
    ("first", rf"\b(?:when|where|how)\b[^.?!]*\b(?:did|was|were)\b[^.?!]*\bfirst {_VERB}"),
)
_RULES: list[tuple[Which, re.Pattern[str]]] = [
    (which, re.compile(pattern, re.IGNORECASE)) for which, pattern in _PATTERNS
]
_PERIOD = re.compile(
    r"\blast (?:night|evening|week|weekend|month|year|spring|summer|fall|autumn|winter|season|decade|century|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october|"
    r"november|december|christmas|easter|thanksgiving|few|couple|\d+|two|three|four|five|six)\b",
    re.IGNORECASE,
)
"""Times of their own, which ``algo.temporal`` reads."""


def wanted(question: str) -> Which | None:
    """Whether a question asks for the last or the first of several times; None for neither or for both.

    "When did I last water the fern?", "the most recent", "my latest" and "for the first time" do; "last week", "first
    place" and "first name" do not.
    """
    text = _PERIOD.sub(" ", question)
    found: set[Which] = {which for which, rule in _RULES if rule.search(text)}
    return found.pop() if len(found) == 1 else None


def place(times: Doubles, which: Which) -> Doubles:
    """How late, or how early, each of n times is among them.

    Args:
        times: (n,) seconds since the epoch; NaN where unknown.
        which: The end that is wanted.

    Returns:
        (n,) in [0, 1]: the share of the other different times that it is behind or, for the first, before; 0 where it
        is unknown, and 1 where there is no other.
    """
    known = ~np.isnan(times)
    different, order = np.unique(times[known], return_inverse=True)
    found = np.zeros(len(times))
    share = order / max(len(different) - 1, 1) if len(different) > 1 else np.ones(len(order))
    found[known] = share if which == "last" or len(different) == 1 else 1.0 - share
    return found
