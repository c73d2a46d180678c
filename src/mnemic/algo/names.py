"""The participants' names in a question: whom it asks about, and the question without them.

Names drown the meaning of a short question in a sentence embedding; left out before embedding they raise
LoCoMo's R@10 by .12 (docs/decisions/0003-retrieval.md). They still say whose words are asked for.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from mnemic.algo.scripts import UNSPACED
from mnemic.algo.word_cache import word_cache

_ROLES = frozenset(("user", "assistant", "system", "tool"))
_BLANKS = re.compile(r"\s+")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_TOPIC = re.compile(r"\b(?:about|regarding|concerning)\s+\Z", re.IGNORECASE)
_LONGEST_PREPOSITION = 16


def named(question: str, speakers: Sequence[str]) -> frozenset[int]:
    """Positions in ``speakers`` of those whom the question names, by full or first name, in any case.

    Somebody whom others are asked *about* ("What did Ana say about Bob?") is a topic, not a speaker, and not named.
    """
    matches = _pattern(tuple(speakers)).finditer(question)
    words = {_folded(match.group("name")) for match in matches if not _is_topic(match)}
    return frozenset(i for i, speaker in enumerate(speakers) if words & set(map(_folded, _forms(speaker))))


def strip(question: str, speakers: Sequence[str]) -> str:
    """The question without the speakers' names and their possessive endings; itself when nothing else is left.

    Names that are its topic stay.
    """
    kept = _pattern(tuple(speakers)).sub(lambda match: match.group() if _is_topic(match) else " ", question)
    rest = _BLANKS.sub(" ", kept).strip()
    return rest if any(character.isalnum() for character in rest) else question


def _is_topic(match: re.Match[str]) -> bool:
    """Whether a name follows "about" or the like, and is not there to say whose something is."""
    before = match.string[max(0, match.start() - _LONGEST_PREPOSITION) : match.start()]
    return match.end() == match.end("name") and _TOPIC.search(before) is not None


def _forms(speaker: str) -> list[str]:
    """A name as people write it: whole, and its first word if that is no initial; no form for a mere role."""
    whole = speaker.strip()
    if not whole or whole.casefold() in _ROLES:
        return []
    first = whole.split()[0]
    return [whole, first] if len(first) > 2 and first != whole else [whole]


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


@word_cache(256)
def _pattern(speakers: tuple[str, ...]) -> re.Pattern[str]:
    forms = {form for speaker in speakers for form in _forms(speaker)}
    written = {unicodedata.normalize(shape, form) for form in forms for shape in ("NFC", "NFD")} | forms
    if not written:
        return re.compile(r"(?P<name>(?!))")
    longest_first = sorted(written, key=lambda form: (-len(form), form))
    return re.compile(rf"(?P<name>{'|'.join(map(_bounded, longest_first))})(?:['’]s(?!\w))?", re.IGNORECASE)


def _bounded(form: str) -> str:
    """A pattern for a name that does not match inside a longer word, in scripts that have word boundaries."""
    before = "" if len(form) > 1 and _UNSPACED.match(form[0]) else r"(?<!\w)"
    after = "" if len(form) > 1 and _UNSPACED.match(form[-1]) else r"(?!\w)"
    return before + re.escape(form) + after
