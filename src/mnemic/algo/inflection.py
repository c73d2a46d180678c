"""How much of a word is grown onto it, so that ``dogs`` can be merged with ``dog`` where it stands."""

from __future__ import annotations

import re

from mnemic.algo.word_cache import word_cache
from mnemic.algo.wordlists import UNINFLECTED

_ARTICLE = re.compile(r"(?:[وف]?[بك]?ال|[وف]?لل)(?=\w{3})")
_WORD = re.compile(r"[a-z]{4,40}")
_VOWEL = re.compile(r"[aeiouy]")

_PLURAL_IN_ES = re.compile(r"(?:ss|x|ch|sh|zz|[^aeiouh]o)es\Z")
_NO_PLURAL = re.compile(
    r"(?:ss|us|is|[^t]ives|lves|uses|gases"
    r"|(?<!mov)(?<!cook)(?<!hood)(?<!vegg)(?<!self)(?<!brown)(?<!smooth)(?<!food)(?<!calor)(?<!zomb)ies)\Z"
)
_DOUBLED = re.compile(r"(?:bb|dd|gg|mm|nn|pp|rr|tt)\Z")
_WHOLE_STEM = re.compile(
    r"(?:ck|ct|ft|ld|lk|lm|lp|lt|mp|nd|nk|nt|pt|rd|rk|rm|rn|rt|sh|sk|ch|xt|ll|ss|zz|ff|wn|rl|ght|[^tw]est|ost|ist"
    r"|(?:ee|(?<!cr)ea|oo|ou|oi|ai|oa)[dklmnprt]"
    r"|[aeiou][wxy]"
    r"|[^aeiou](?:er|en|el)"
    r"|(?:vis|ed|exhib|cred|aud)it|(?:ment|tut|spons|monit|harb|hon|fav)or)\Z"
)
"""Stems that are words as they stand; of others the ending took a final e (``hik|ing``)."""

_STEM_WITH_E = re.compile(
    r"(?:[cvz]|[^aeo]u|[aeio]s|[^c]us|[nr]s|at|ir|ur|ut|[^o]id|lud|[bcdfgkptz]l|[^aeou]i[bcgmnp]|[^aeo][aiou]k|[^eo]ag"
    r"|[ae]ng|dg|par|(?:pl|st|sc)or|(?:\A|[^aeiou])[^aeiou]a[mpr])\Z"
)
"""Stems that are words with the e that the ending began with (``hik|ed``)."""


@word_cache(1 << 16)
def ending(word: str) -> int:
    """Number of characters at the end of a lower-case word that are a regular plural or verb ending.

    0 where what would remain is not itself a word (``agencies``, ``hiking``), or in doubt.
    """
    if not _WORD.fullmatch(word) or word in UNINFLECTED:
        return 0
    if word.endswith("s"):
        return _plural_ending(word)
    if word.endswith("ing"):
        return _verb_ending(word[:-3], 3)
    if word.endswith("ed"):
        return _verb_ending(word[:-2], 2)
    return 3 if word == "children" else 0


def article(word: str) -> int:
    """Number of characters at the beginning of an Arabic word that are its article, with what is written onto that."""
    match = _ARTICLE.match(word)
    return match.end() if match else 0


def _plural_ending(word: str) -> int:
    if _PLURAL_IN_ES.search(word):
        return 2
    return 0 if _NO_PLURAL.search(word) else 1


def _verb_ending(stem: str, length: int) -> int:
    if len(stem) < 3 or not _VOWEL.search(stem):
        return 0
    if _DOUBLED.search(stem):
        return length + (stem != "add")
    if _WHOLE_STEM.search(stem):
        return length
    return 1 if length == 2 and _STEM_WITH_E.search(stem) else 0
