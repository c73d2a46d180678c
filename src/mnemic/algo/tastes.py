"""What somebody likes or dislikes, by the words of a statement, and whether a newer one turns it round."""

from __future__ import annotations

import re
from typing import Final

from mnemic.algo import claims
from mnemic.algo.asserted import hedged
from mnemic.algo.lexical import fold
from mnemic.algo.slots import PAST

_TASTE: Final = re.compile(
    r"\b(?:(?P<likes>likes?|loves?|enjoys?|adores?|(?:is|am|are) (?:fond of|keen on|crazy about|mad about|into))"
    r"|(?P<hates>hates?|dislikes?|detests?|loathes?|despises?)"
    r"|(?P<bears>(?:can ?not|can't|could not|couldn't) (?:stand|bear|stomach|abide)))\s+(?P<what>[^,;.!?()]+)"
)
_SO_FAR: Final = re.compile(r"\b(?:any ?more|any longer|at all|these days|nowadays|now|very much|a lot|so much)\b")
"""What says of a taste only since when it is, or how much."""


def turned(new: str, old: str) -> bool:
    """Whether what is liked in one text is disliked in the other."""
    here, there = _taste(new), _taste(old)
    return here is not None and there is not None and here[0] != there[0] and here[1] == there[1]


def _taste(text: str) -> tuple[bool, frozenset[str]] | None:
    """Whether something is liked, and the terms of what; None where a text does not plainly say it of now."""
    plain = fold(text).replace("’", "'")
    found = _TASTE.search(plain)
    if found is None or (found["hates"] and claims.denied(text)):
        return None
    # "Cannot stand" and "keen on" are no hedges.
    if PAST.search(plain) or hedged(f"{plain[: found.start()]} {plain[found.start('what') :]}"):
        return None
    what = frozenset(claims.content(_SO_FAR.sub(" ", found["what"])))
    return (bool(found["likes"]) and not claims.denied(text), what) if what else None
