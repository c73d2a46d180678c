"""What a statement claims that its source must bear out: names, numbers, and what it denies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from mnemic.algo.lexical import STOP_WORDS, fold, terms
from mnemic.algo.temporal.words import MONTHS, ORDINALS, WEEKDAYS, words
from mnemic.algo.wordlists import PRONOUNS

_WORD: Final = re.compile(r"[^\W\d_]+(?:['’.&-](?=[^\W\d_])[^\W\d_]+)*")
_ENDS_SENTENCE: Final = ".!?…:\n"
_OPENERS: Final = " \"'“‘(«\t"
_INITIAL: Final = re.compile(r"(?:\A|[\W_])[^\W\d_a-z]\.\Z")
_LOOK_BACK: Final = 8

_ONES: Final = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
}  # fmt: skip
_TENS: Final = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_OTHERS: Final = ORDINALS | {
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "a dozen": 12, "dozen": 12, "a couple": 2, "couple": 2,
    "once": 1, "twice": 2, "double": 2, "triple": 3, "single": 1, "both": 2, "pair": 2, "a": 1, "an": 1,
}  # fmt: skip
_SCALES: Final = {"hundred": 100, "thousand": 1000, "million": 1_000_000, "k": 1000}
# They bear out a number, but hardly ever claim one: "one" is mostly a pronoun, "first" and "second" are times.
_LOOSE: Final = words("one once first second single both pair couple a an") | {"a couple"}


def _any(alternatives: Iterable[str]) -> str:
    return "|".join(sorted(alternatives, key=len, reverse=True))


_NUMBER: Final = re.compile(
    r"(?<![a-z0-9])(?:(?P<digits>\d{1,30}(?:[.,]\d{1,30}){0,4})(?:st|nd|rd|th)?"
    rf"|(?P<tens>{_any(_TENS)})(?:[ -](?P<ones>{_any(_ONES)})(?![a-z]))?|(?P<word>{_any(_ONES | _OTHERS)}))"
    r"(?P<scales>(?:[ -]?(?:hundred|thousand|million)|k(?![a-z0-9]))*)(?![a-z0-9])"
)
_SCALE: Final = re.compile("hundred|thousand|million|k")
_GROUPS: Final = re.compile(r",(?=\d{3}(?!\d))")

_CLAUSE: Final = re.compile(r"[^,;:.!?…—–()\n]+")
_PLAIN_WORD: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?|\d+")
_DENIALS: Final = words(
    "not no nope never nobody none nothing nor neither cannot nowhere dont didnt cant wont isnt wasnt",
)
_LACKS: Final = words(
    "without lack lacks lacked unable fail failed fails stop stopped quit refuse refused avoid hardly barely rarely",
    "seldom few",
)
_ONWARD: Final = words("but and so because though although yet while since plus")
"""Words after which a denial no longer holds."""
_NO_DENIAL: Final = re.compile(
    r"\b(?:can(?:'t|not) (?:wait|help|get enough|believe)|could(?:n't| not) agree more|won't believe|nothing like|"
    r"no (?:doubt|worries|problem|way|matter)|not (?:only|just|to mention)|why (?:not|don't)|"
    r"(?:\w+n't|not|never) (?:ever )?(?:forget|regret))\b"
)
"""Turns of phrase that deny nothing."""
_LIGHT: Final = words("yet ever really actually anymore much too already even quite exactly")
"""Words that are not what is denied."""
_PASTS: Final = {
    "got": "get", "gotten": "get", "went": "go", "gone": "go", "made": "make", "took": "take", "taken": "take",
    "came": "come", "saw": "see", "seen": "see", "gave": "give", "given": "give", "bought": "buy", "met": "meet",
    "won": "win", "lost": "lose", "left": "leav", "ate": "eat", "wrote": "write", "written": "write", "ran": "run",
    "taught": "teach", "told": "tell", "kept": "keep", "began": "begin", "chose": "choos",
}  # fmt: skip
"""Terms of the commonest irregular verbs: the stemmer knows regular ones."""
_REACH: Final = 8
"""So many words after a denial, within its clause, are what it denies."""


@dataclass(frozen=True, slots=True)
class Denial:
    """One word that denies.

    Attributes:
        denied: The terms that follow it in its clause, nearest first; none for "No." or "I haven't yet."
        clause: All terms of the clause.
        alone: Whether nothing but one word is denied, as in "I don't smoke".
        strong: "not" and "never" are; "without" and "hardly" can bear out a denial, but make none.
    """

    denied: tuple[str, ...]
    clause: frozenset[str]
    alone: bool
    strong: bool


def names(text: str) -> Iterator[tuple[int, int]]:
    """Spans of the words that have a capital and need not have one, without a possessive ending.

    No pronouns, months and weekdays; the first word of a sentence only where another such word follows it.
    """
    spans = [(match.start(), match.start() + len(_bare(match.group()))) for match in _WORD.finditer(text)]
    named = [_named(text[start:end]) for start, end in spans] + [False]
    for place, (start, end) in enumerate(spans):
        if named[place] and (not _opens(text, start) or (named[place + 1] and text[end : spans[place + 1][0]] == " ")):
            yield start, end


def _bare(word: str) -> str:
    return word[:-2] if word.endswith(("'s", "’s")) else word


def _named(word: str) -> bool:
    lowered = word.lower()
    plain = lowered in PRONOUNS or lowered in MONTHS or lowered in WEEKDAYS or lowered in STOP_WORDS
    return word[0].isupper() and len(word) > 1 and not plain and not lowered.startswith(("i'", "i’"))


def _opens(text: str, start: int) -> bool:
    before = text[max(0, start - _LOOK_BACK) : start].rstrip(_OPENERS)
    return not before or (before[-1] in _ENDS_SENTENCE and not _INITIAL.search(before))


def numbers(text: str, *, loose: bool = False) -> set[float]:
    """The numbers of a text: 5, five, fifth, twenty-one, two hundred, 5k, 1,000, 2.5.

    Args:
        text: Any; words are read as English.
        loose: Whether words count that are seldom meant as numbers ("one", "first", "a"): in what bears out a claim.
    """
    found: set[float] = set()
    for match in _NUMBER.finditer(fold(text)):
        word = match["word"]
        if word in _LOOSE and not loose and not match["scales"]:
            continue
        value = _digits(match["digits"]) if match["digits"] else float(_in_words(match))
        for scale in _SCALE.findall(match["scales"]):
            value *= _SCALES[scale]
        found.add(value)
    return found


def without_numbers(text: str) -> str:
    """A text, folded, without the numbers that it claims."""
    return _NUMBER.sub(lambda match: match[0] if match["word"] in _LOOSE else " ", fold(text))


def _in_words(match: re.Match[str]) -> int:
    if match["tens"]:
        return _TENS[match["tens"]] + _ONES.get(match["ones"], 0)
    return _ONES.get(match["word"]) or _OTHERS[match["word"]]


def _digits(written: str) -> float:
    plain = _GROUPS.sub("", written).replace(",", ".")
    return float(plain) if plain.count(".") < 2 else float(plain.replace(".", ""))


def denials(text: str) -> list[Denial]:
    """The words of an English text that deny something, in order, each with what it denies."""
    plain = _NO_DENIAL.sub(" ", fold(text).replace("’", "'"))
    return [denial for clause in _CLAUSE.findall(plain) for denial in _in_clause(_PLAIN_WORD.findall(clause))]


def denied(text: str) -> bool:
    """Whether an English text denies what it says."""
    return any(denial.strong for denial in denials(text))


def _in_clause(clause: list[str]) -> Iterator[Denial]:
    for place, word in enumerate(clause):
        strong = word in _DENIALS or word.endswith("n't")
        if strong or word in _LACKS:
            reach = list(takewhile(lambda later: later not in _ONWARD, clause[place + 1 : place + 1 + _REACH]))
            reach = [later for later in reach if later not in _LIGHT]
            yield Denial(tuple(content(" ".join(reach))), frozenset(content(" ".join(clause))), len(reach) == 1, strong)


def content(text: str) -> list[str]:
    """The terms of a text that are no stop words, in order; common irregular verbs as in the present."""
    return [present(term) for term in terms(text) if term not in STOP_WORDS]


def present(term: str) -> str:
    """The term of a common irregular verb, as in the present; any other as it is."""
    return _PASTS.get(term, term)
