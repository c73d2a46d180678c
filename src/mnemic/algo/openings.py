"""Turns whose own words begin a conversation anew: a greeting, or a word about the last time that one spoke.

Such cue phrases mark the parts of a discourse (Grosz and Sidner, Attention, intentions and the structure of discourse,
1986; Hirschberg and Litman, Empirical studies on the disambiguation of cue phrases, 1993). English only: of other
languages nothing is found.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

_HEAD: Final = 240
"""Characters in which an opening stands."""

_SPOKE: Final = "spoke|talked|chatted|caught up|met|saw each other"
_TALK: Final = "talk|chat|conversation|discussion|session|meeting|call|catch-up"
_GREETING: Final = re.compile(
    r"\W*(?:hi|hiya|hey|hello|greetings|good (?:morning|afternoon|evening)|long time no (?:see|talk|chat))\b(?!-)",
    re.IGNORECASE,
)
_LAST_TIME: Final = re.compile(
    rf"\b(?:since|after|from|during|in|at)\b[^.!?]{{0,40}}?\b(?:last|previous)\s+(?:time\s+)?"
    rf"(?:(?:we|i)\s+(?:{_SPOKE})|(?:{_TALK}|{_SPOKE})\b)|\bsince\s+we(?:\s+last)?\s+(?:{_SPOKE})\b",
    re.IGNORECASE,
)


def opens(text: str) -> bool:
    """Whether a turn greets, or speaks of the last time that one spoke, in its first 240 characters."""
    head = text[:_HEAD]
    return _GREETING.match(head) is not None or _LAST_TIME.search(head) is not None


def openings(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Which turns of a session begin a conversation anew.

    The first turn begins one anyway, and a greeting right after an opening returns it: neither is marked.

    Args:
        texts: Of n turns, in order.

    Returns:
        (n,) marks.
    """
    return beginnings(np.array([opens(text) for text in texts], np.bool_))


def beginnings(opening: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The same, where it is known of each turn of a session whether it ``opens``; (n,) to (n,)."""
    said = opening.copy()
    said[:1] = True
    marks = said.copy()
    marks[1:] &= ~said[:-1]
    marks[:1] = False
    return marks
