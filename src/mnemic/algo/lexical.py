"""Lexical retrieval: terms of a text in any script."""

from __future__ import annotations

import re
import unicodedata

from mnemic.algo.scripts import EMOJI, HANGUL, JOINERS, MARK, UNSPACED
from mnemic.algo.stem import stem
from mnemic.algo.word_cache import word_cache

_RUN = UNSPACED + HANGUL
"""Korean has blanks, but glues particles to its words: bigrams find the word in any form."""

_LETTER = rf"[^\W_{_RUN}]"
_TERM = re.compile(
    rf"(?P<run>[{_RUN}]+)"
    rf"|(?P<code>(?<!\w)[a-z](?:\+\+|\#)(?!\w))"
    rf"|(?P<word>{_LETTER}(?:{_LETTER}|[{MARK}{JOINERS}]|['’](?={_LETTER}))*)"
    rf"|(?P<symbol>[{EMOJI}])"
)
_ASCII_TERM = re.compile(r"(?<!\w)[a-z](?:\+\+|\#)(?!\w)|[a-z0-9](?:[a-z0-9]|'(?=[a-z0-9]))*", re.ASCII)
"""The same for ASCII, where all of it is a code or word: most text is, and takes a third of the time."""

_ACCENTS = re.compile("[\u0300-\u036f]+")
_PILE = re.compile(r"[^\w\s]{31,}")
"""Room for more combining marks than any script sets on one letter; normalisation sorts them in quadratic time."""

_FUNCTION_WORDS = """
a an the and or but if of to in on at by for with from as is are was were be been being am do does did done have
has had having i me my mine myself you your yours yourself he him his she her hers it its we us our ours they
them their theirs this that these those there here what which who whom whose when where why how will would can
could shall should may might must not no nor so than then too very just about into out up down over under again
once any some such own same other each both few more most dont doesnt didnt isnt arent wasnt werent hasnt havent
hadnt wont wouldnt couldnt shouldnt cant im ive youre whats
"""
STOP_WORDS = frozenset(term for word in _FUNCTION_WORDS.split() for term in (word, stem(word)))
"""As terms: stemmed forms included."""


def fold(text: str) -> str:
    """Casefold, unify compatibility forms and drop accents (``Café`` and ``cafe`` are one), keeping Hangul whole."""
    if text.isascii():
        return text.lower()
    text = _PILE.sub(_without_marks, text)
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", text))).casefold()


def _without_marks(pile: re.Match[str]) -> str:
    return "".join(character for character in pile.group() if not unicodedata.combining(character))


def terms(text: str) -> list[str]:
    """The terms of a text, in order, repeats kept.

    Words are folded and (in English) stemmed, possessives and apostrophes dropped; scripts without spaces, and Korean,
    give character bigrams (a lone character itself); an emoji or symbol is a term; punctuation is none.
    """
    if text.isascii():
        return list(map(_ascii_term, _ASCII_TERM.findall(text.lower())))
    found: list[str] = []
    for match in _TERM.finditer(fold(text)):
        token = match.group()
        if match.lastgroup == "run":
            found.extend(token[i : i + 2] for i in range(max(1, len(token) - 1)))
        elif match.lastgroup == "word":
            found.append(_word(token))
        else:
            found.append(token)
    return found


def content_terms(text: str) -> list[str]:
    """The terms of a question without stop words; all of them when nothing else is left."""
    found = terms(text)
    return [term for term in found if term not in STOP_WORDS] or found


@word_cache(1 << 16)
def _ascii_term(token: str) -> str:
    return token if token[-1] in "+#" else _word(token)


@word_cache(1 << 16)
def _word(token: str) -> str:
    if "'" in token or "’" in token:
        token = token.replace("’", "'").removesuffix("'s").replace("'", "")
    return stem(token) if token.isascii() and len(token) <= 64 else token
