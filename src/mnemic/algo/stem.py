"""English stemming: M. F. Porter, "The English (Porter2) stemming algorithm" (snowballstem.org, 2002)."""

from __future__ import annotations

import re

from mnemic.algo.word_cache import word_cache

_LONGEST = 64
"""Longer runs of letters are no English words; they come back unchanged, which bounds the cache."""

_EXCEPTIONS: dict[str, str | None] = {
    "skis": "ski",
    "skies": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "idly": "idl",
    "gently": "gentl",
    "ugly": "ugli",
    "early": "earli",
    "only": "onli",
    "singly": "singl",
} | dict.fromkeys(("sky", "news", "howe", "atlas", "cosmos", "bias", "andes"))
"""Stems that the rules would get wrong; None: the word itself."""

_KEPT_AFTER_PLURAL = frozenset(
    ("inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed"),
)

_SHAPE = re.compile(r"'?[a-z][a-z']*")
_CONSONANT_Y = re.compile(r"(?:^|(?<=[aeiouy]))y")
_REGION = re.compile(r"[aeiouy][^aeiouy]")
_LONG_PREFIX = re.compile(r"gener|commun|arsen")
_SHORT_END = re.compile(r"(?:[^aeiouy][aeiouy][^aeiouywxY]|^[aeiouy][^aeiouy])\Z")
_DOUBLE_END = re.compile(r"(?:bb|dd|ff|gg|mm|nn|pp|rr|tt)\Z")
_VOWEL = re.compile(r"[aeiouy]")

_STEP_1B = ("ingly", "eedly", "edly", "eed", "ing", "ed")

_STEP_2 = {
    "ational": "ate",
    "ization": "ize",
    "fulness": "ful",
    "ousness": "ous",
    "iveness": "ive",
    "tional": "tion",
    "biliti": "ble",
    "lessli": "less",
    "entli": "ent",
    "ation": "ate",
    "alism": "al",
    "aliti": "al",
    "ousli": "ous",
    "iviti": "ive",
    "fulli": "ful",
    "enci": "ence",
    "anci": "ance",
    "abli": "able",
    "izer": "ize",
    "ator": "ate",
    "alli": "al",
    "bli": "ble",
    "ogi": "og",
    "li": "",
}
_STEP_3 = {
    "ational": "ate",
    "tional": "tion",
    "alize": "al",
    "icate": "ic",
    "iciti": "ic",
    "ative": "",
    "ical": "ic",
    "ness": "",
    "ful": "",
}
_STEP_4: dict[str, str] = dict.fromkeys(
    (
        "ement", "ance", "ence", "able", "ible", "ment",
        "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "ion", "al", "er", "ic",
    ),
    "",
)  # fmt: skip
"""Each table lists longer suffixes first: the longest that fits decides."""


@word_cache(1 << 16)
def _porter2(word: str) -> str:
    word = word.lstrip("'")
    if word in _EXCEPTIONS:
        return _EXCEPTIONS[word] or word
    word = _CONSONANT_Y.sub("Y", word)
    r1, r2 = _regions(word)
    word = _plural(_possessive(word))
    if word in _KEPT_AFTER_PLURAL:
        return word
    word = _final_y(_verb_ending(word, r1))
    word = _replace(word, _STEP_2, r1, r1)
    word = _replace(word, _STEP_3, r1, r2)
    word = _replace(word, _STEP_4, r2, r2)
    return _final_e_or_l(word, r1, r2).replace("Y", "y")


def stem(word: str) -> str:
    """The Porter2 stem of a lower-case English word: ``researching`` and ``researched`` give ``research``.

    A stem is not always a word (``agencies`` gives ``agenc``). What is not a word of at most 64 Latin letters, in
    lower case and perhaps with apostrophes, comes back unchanged, like words of one or two letters.
    """
    if not 2 < len(word) <= _LONGEST or not _SHAPE.fullmatch(word):
        return word
    return _porter2(word)


def _regions(word: str) -> tuple[int, int]:
    """Where R1 and R2 begin: after the first consonant that follows a vowel, and again from there."""
    prefix = _LONG_PREFIX.match(word)
    first = prefix or _REGION.search(word)
    if not first:
        return len(word), len(word)
    second = _REGION.search(word, first.end())
    return first.end(), second.end() if second else len(word)


def _possessive(word: str) -> str:
    """Step 0."""
    for suffix in ("'s'", "'s", "'"):
        if word.endswith(suffix):
            return word[: -len(suffix)]
    return word


def _plural(word: str) -> str:
    """Step 1a."""
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word.endswith("s") and not word.endswith(("us", "ss")) and _VOWEL.search(word, 0, len(word) - 2):
        return word[:-1]
    return word


def _verb_ending(word: str, r1: int) -> str:
    """Step 1b."""
    suffix = next((suffix for suffix in _STEP_1B if word.endswith(suffix)), None)
    if suffix is None:
        return word
    rest = word[: -len(suffix)]
    if suffix.startswith("ee"):
        return rest + "ee" if len(rest) >= r1 else word
    if not _VOWEL.search(rest):
        return word
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if _DOUBLE_END.search(rest):
        return rest[:-1]
    return rest + "e" if len(rest) <= r1 and _SHORT_END.search(rest) else rest


def _final_y(word: str) -> str:
    """Step 1c."""
    if len(word) > 2 and word[-1] in "yY" and word[-2] not in "aeiouy":
        return word[:-1] + "i"
    return word


def _replace(word: str, table: dict[str, str], region: int, inner: int) -> str:
    """Steps 2, 3 and 4: replace the longest suffix of the table, if it lies in the region."""
    suffix = next((suffix for suffix in table if word.endswith(suffix)), None)
    if suffix is None:
        return word
    start = len(word) - len(suffix)
    if start < (inner if suffix == "ative" else region):
        return word
    before = word[start - 1 : start]
    if (
        (suffix == "li" and before not in tuple("cdeghkmnrt"))
        or (suffix == "ogi" and before != "l")
        or (suffix == "ion" and before not in ("s", "t"))
    ):
        return word
    return word[:start] + table[suffix]


def _final_e_or_l(word: str, r1: int, r2: int) -> str:
    """Step 5."""
    start = len(word) - 1
    if word.endswith("e") and (start >= r2 or (start >= r1 and not _SHORT_END.search(word, 0, start))):
        return word[:-1]
    if word.endswith("ll") and start >= r2:
        return word[:-1]
    return word
