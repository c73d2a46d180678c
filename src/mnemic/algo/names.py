"""The participants' names in a question: whom it asks about, and the question without them.

Names drown the meaning of a short question in a sentence embedding; left out before embedding they raise
LoCoMo's R@10 by .12 (docs/decisions/0003-retrieval.md). They still say whose words are asked for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

_ROLES = frozenset(("user", "assistant", "system", "tool"))
_BLANKS = re.compile(r"\s+")


def named(question: str, speakers: Sequence[str]) -> frozenset[int]:
    """Positions in ``speakers`` of those whom the question names, by full or first name, in any case."""
    words = {match.group("name").casefold() for match in _pattern(tuple(speakers)).finditer(question)}
    return frozenset(i for i, speaker in enumerate(speakers) if words & {form.casefold() for form in _forms(speaker)})


def strip(question: str, speakers: Sequence[str]) -> str:
    """The question without the speakers' names and their possessive endings; itself when nothing else is left."""
    rest = _BLANKS.sub(" ", _pattern(tuple(speakers)).sub(" ", question)).strip()
    return rest if any(character.isalnum() for character in rest) else question


def _forms(speaker: str) -> list[str]:
    """A name as people write it: whole, and its first word if that is no initial; no form for a mere role."""
    whole = speaker.strip()
    if not whole or whole.casefold() in _ROLES:
        return []
    first = whole.split()[0]
    return [whole, first] if len(first) > 2 and first != whole else [whole]


@lru_cache(maxsize=256)
def _pattern(speakers: tuple[str, ...]) -> re.Pattern[str]:
    forms = sorted({form for speaker in speakers for form in _forms(speaker)}, key=len, reverse=True)
    if not forms:
        return re.compile(r"(?P<name>(?!))")
    return re.compile(rf"(?<!\w)(?P<name>{'|'.join(map(re.escape, forms))})(?:['’]s)?(?!\w)", re.IGNORECASE)
