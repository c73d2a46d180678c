"""What a speaker states, and what they only ask, suppose, quote or say in jest: none of that is asserted."""

from __future__ import annotations

import re
from typing import Final, Literal

from mnemic.algo import sentences
from mnemic.algo.lexical import fold

Manner = Literal["stated", "question", "hypothetical", "quotation", "joke"]

_QUOTED: Final = re.compile(r"\"[^\"]*\"|“[^”]*”|«[^»]*»|„[^“”]*[“”]|(?<!\w)'[^']*'(?!\w)")
_FIRST_PERSON: Final = re.compile(r"\b(?:i|i'm|i've|my|me|we|our)\b", re.IGNORECASE)
_SUPPOSED: Final = re.compile(
    r"\b(?:if|unless|wish|imagine|pretend(?:ing)?|suppose|supposing|hypothetically|i would|we would|i'd|could|might|"
    r"maybe|perhaps)\b"
)
_PIECE_END: Final = re.compile(r"\s+[-–—]+\s+|—|--|[;:]\s")
_TAG: Final = re.compile(
    r", ?(?:huh|right|eh|yeah|ok|okay|you know|no|is\w* it|do\w* (?:you|they|it)\b.{0,12})\W*\Z", re.IGNORECASE
)
_IN_JEST: Final = re.compile(r"\b(?:(?:just|only|totally) (?:kidding|joking|teasing)|i'm (?:kidding|joking)|jk|j/k)\b")
_HEDGED: Final = re.compile(
    r"\b(?:if|unless|whether|would|could|might|may|maybe|perhaps|can|wish|hop(?:e|ing)|want|plan|dream|ask|wonder|"
    r"question|curious|interest|inquir|suggest|offer|consider|think|thought|imagin|look(?:s|ing)? forward|eager|excite|"
    r"willing|open to|invit|seek|request|possib|potential|keen|enthusias|recommend|encourag|support|mention|express|"
    r"emphasi|acknowledg|admir|believ|appreciat|valu|agree|advi[sc]|finds|understand)"
)
"""What marks a note that tells of a wish, a doubt, an attitude or of words: a question can bear it out."""


def manners(text: str) -> list[tuple[str, Manner]]:
    """The sentences of a text, each with the manner in which it is said.

    A quotation is cut out of its sentence, and stands behind it, where it is somebody's speech (it has a word of the
    first person); titles and single words in quotes are the speaker's own. What is taken back as a joke is one, with
    the sentence before it.
    """
    found: list[tuple[str, Manner]] = []
    for start, end in sentences.split(text):
        sentence = text[start:end]
        spoken = [quote for quote in _QUOTED.findall(sentence) if _FIRST_PERSON.search(quote)]
        for quote in spoken:
            sentence = sentence.replace(quote, " ")
        if jests(sentence):
            if found and takes_back(sentence):
                found[-1] = (found[-1][0], "joke")
            found.append((sentence, "joke"))
        else:
            found.extend(_pieces(sentence))
        found.extend((quote, "quotation") for quote in spoken)
    return found


def jests(sentence: str) -> bool:
    """Whether a sentence says that it, or what was said before it, is a joke."""
    return _IN_JEST.search(fold(sentence).replace("’", "'")) is not None


def takes_back(sentence: str) -> bool:
    """Whether a sentence does nothing but say that what was said before it is a joke."""
    plain = fold(sentence).replace("’", "'")
    jest = _IN_JEST.search(plain)
    return jest is not None and not plain[: jest.start()].strip(" ,.!")


def _pieces(sentence: str) -> list[tuple[str, Manner]]:
    """A sentence, cut where its manner changes: what stands before a question or a supposition is stated."""
    if sentences.asks(sentence) and not _TAG.search(sentence):
        cuts = [match.end() for match in _PIECE_END.finditer(sentence)]
        return _cut(sentence, cuts[-1] if cuts else 0, "question")
    supposed = _SUPPOSED.search(fold(sentence).replace("’", "'"))
    return _cut(sentence, len(sentence) if supposed is None else supposed.start(), "hypothetical")


def _cut(sentence: str, at: int, manner: Manner) -> list[tuple[str, Manner]]:
    pieces: list[tuple[str, Manner]] = [(sentence[:at], "stated"), (sentence[at:], manner)]
    return [(piece, manner) for piece, manner in pieces if piece.strip()]


def hedged(note: str) -> bool:
    """Whether a statement itself says that something is asked, wanted, supposed or only possible."""
    return _HEDGED.search(fold(note)) is not None
