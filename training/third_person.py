"""What a user says of themselves, as somebody else would say it: rules over words.

"How long is my commute?" is what a user asks their assistant, "How long is Ana's commute?" what is asked about Ana.
"We" stays, for it is about others too, and of several verbs of one "I" the first alone agrees with the name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, Literal

from mnemic.algo.wordlists import IRREGULAR_PASTS

Gender = Literal["she", "he"]

_PIECE = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|\s+|.", re.DOTALL)
_AROUND: Final = " \t\"“”'()*_"
_ENDS: Final = (*".!?…\n", "")
_AUXILIARY = """
do does did don't didn't doesn't have haven't had hadn't am was wasn't will won't would wouldn't can can't could
couldn't should shouldn't may might must
"""
_AUXILIARIES: Final = frozenset(_AUXILIARY.split())
_AGREEING: Final = {
    "am": "is", "have": "has", "do": "does", "don't": "doesn't", "haven't": "hasn't", "go": "goes", "were": "was",
}  # fmt: skip
_UNCHANGED: Final = _AUXILIARIES - _AGREEING.keys() | {
    "read", "put", "set", "cut", "hit", "let", "cost", "hurt", "quit", "is", "has", "was",
    "became", "began", "came", "felt", "found", "gave", "got", "heard", "held", "kept", "knew", "left", "made", "ran",
    "said", "saw", "slept", "spent", "stood", "thought", "took",
}  # fmt: skip
"""Of which "read" and its like may be of the past; most are, in what is remembered."""
_IN_ED: Final = frozenset(("need", "feed", "speed", "seed", "proceed", "succeed", "exceed", "embed"))
_ADVERB = "also just still never always often first last even only already sometimes ever now then soon once maybe"
_ADVERBS: Final = frozenset(_ADVERB.split())
_VERB = re.compile(r"[a-z]+(?:'t)?")
_SIBILANT = re.compile(r"(?:s|x|z|ch|sh|o)\Z")
_CONSONANT_Y = re.compile(r"[^aeiou]y\Z")
_CONTRACTED: Final = {"i'm": "is", "i've": "has", "i'll": "will", "i'd": "would"}
FORMS: Final[dict[Gender, tuple[str, str, str, str, str]]] = {
    "she": ("she", "her", "her", "hers", "herself"),
    "he": ("he", "him", "his", "his", "himself"),
}


@dataclass(slots=True)
class _Telling:
    """A text on its way from the first person to the third."""

    name: str
    gender: Gender
    named: bool = False
    said: list[str] = field(default_factory=list)

    def noun(self, later: str, first: str) -> str:
        """The name where it was not said before, then a pronoun."""
        if self.named:
            return later
        self.named = True
        return first

    def before(self) -> int | None:
        """Where the word right before the end stands; None after a mark or at the beginning."""
        place = len(self.said) - 1
        while place >= 0 and self.said[place].isspace():
            place -= 1
        return place if place >= 0 and self.said[place][0].isalnum() else None

    def opens(self) -> bool:
        """Whether a sentence begins at the end."""
        return "".join(self.said).rstrip(_AROUND)[-1:] in _ENDS


def third_person(text: str, name: str, gender: Gender) -> str:
    """Turn what somebody says of themselves into what is said of them.

    Args:
        text: In the first person; what is not, stays as it is.
        name: Of who speaks; said once, then a pronoun.
        gender: Of the pronoun.

    Returns:
        The text, with blanks and marks as they were.
    """
    telling = _Telling(name, gender)
    agrees = False  # whether the next verb belongs to an "I" before it
    pieces = _PIECE.findall(text.replace("’", "'"))
    for piece in pieces:
        word = piece.lower()
        if word == "i" or word in _CONTRACTED:
            agrees = _subject(telling, word)
        elif agrees and _VERB.fullmatch(word) and not _is_adverb(word):
            telling.said.append(agreeing(word))
            agrees = False
        else:
            agrees = agrees and (piece.isspace() or _is_adverb(word))
            telling.said.append(_other(telling, piece, word))
    return "".join(telling.said)


def agreeing(verb: str) -> str:
    """A lower-case verb as it stands after "she": ``works``; a past or modal form as it is."""
    if verb in _AGREEING:
        return _AGREEING[verb]
    if verb in _UNCHANGED or verb in IRREGULAR_PASTS or (verb.endswith("ed") and verb not in _IN_ED):
        return verb
    if _CONSONANT_Y.search(verb):
        return verb[:-1] + "ies"
    return verb + ("es" if _SIBILANT.search(verb) else "s")


def _subject(telling: _Telling, word: str) -> bool:
    """Say the subject; whether the verb after it has to agree."""
    place = telling.before()
    inverted = word == "i" and place is not None and telling.said[place].lower() in _AUXILIARIES
    if inverted:
        auxiliary = telling.said[place]
        other = agreeing(auxiliary.lower())
        telling.said[place] = other.capitalize() if auxiliary[0].isupper() else other
    pronoun = FORMS[telling.gender][0]
    telling.said.append(telling.noun(pronoun.capitalize() if telling.opens() else pronoun, telling.name))
    if word in _CONTRACTED:
        telling.said += [" ", _CONTRACTED[word]]
    return word == "i" and not inverted


def _other(telling: _Telling, piece: str, word: str) -> str:
    """Any word but a subject and its verb."""
    _, me, my, mine, myself = FORMS[telling.gender]
    said = {
        "me": lambda: telling.noun(me, telling.name),
        "my": lambda: telling.noun(my, f"{telling.name}'s"),
        "mine": lambda: telling.noun(mine, f"{telling.name}'s"),
        "myself": lambda: myself,
    }
    if word not in said:
        return piece
    found = said[word]()
    return found[0].upper() + found[1:] if piece[0].isupper() else found


def _is_adverb(word: str) -> bool:
    return word in _ADVERBS or (word.endswith("ly") and len(word) > 4)
