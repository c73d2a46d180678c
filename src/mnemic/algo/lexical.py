"""Lexical retrieval: terms of a text in any script, and BM25 over documents that come and go.

BM25 as in Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009), with the non-negative
idf ``ln(1 + (N - df + 1/2) / (df + 1/2))``.
"""

from __future__ import annotations

import math
import re
import unicodedata
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from mnemic.algo.scripts import EMOJI, HANGUL, JOINERS, MARK, UNSPACED
from mnemic.algo.stem import stem

_RUN = UNSPACED + HANGUL
"""Korean has blanks, but glues particles to its words: bigrams find the word in any form."""

_LETTER = rf"[^\W_{_RUN}]"
_TERM = re.compile(
    rf"(?P<run>[{_RUN}]+)"
    rf"|(?P<code>(?<!\w)[a-z](?:\+\+|\#)(?!\w))"
    rf"|(?P<word>{_LETTER}(?:{_LETTER}|[{MARK}{JOINERS}]|['’](?={_LETTER}))*)"
    rf"|(?P<symbol>[{EMOJI}])"
)
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


def _word(token: str) -> str:
    if "'" in token or "’" in token:
        token = token.replace("’", "'").removesuffix("'s").replace("'", "")
    return stem(token) if token.isascii() and len(token) <= 64 else token


class BM25:
    """BM25 over documents numbered in the order they are added; a document can be removed, numbers are not reused.

    Scores equal those of an index built afresh from the documents still present: statistics are integers,
    kept exactly.
    """

    def __init__(self, *, k1: float = 1.2, b: float = 0.75) -> None:
        self._k1 = k1
        self._b = b
        self._docs: dict[str, array[int]] = {}
        self._counts: dict[str, array[int]] = {}
        self._terms: list[tuple[str, ...]] = []
        self._lengths = array("q")
        self._alive = 0
        self._total = 0
        self._postings = 0

    def __len__(self) -> int:
        return len(self._terms)

    @property
    def nbytes(self) -> int:
        """Bytes of postings and document lists, roughly."""
        return 24 * self._postings + 400 * len(self._docs) + 100 * len(self._terms)

    def add(self, document: Iterable[str]) -> int:
        """Add a document given as its terms; return its number."""
        number = len(self._terms)
        counts = Counter(document)
        for term, count in counts.items():
            if (docs := self._docs.get(term)) is None:
                docs = self._docs[term] = array("q")
                self._counts[term] = array("q")
            docs.append(number)
            self._counts[term].append(count)
        self._terms.append(tuple(counts))
        self._lengths.append(counts.total())
        self._alive += 1
        self._total += counts.total()
        self._postings += len(counts)
        return number

    def remove(self, number: int) -> None:
        """Remove a document; removing it twice is an error of the caller and raises IndexError."""
        if self._lengths[number] < 0:
            raise IndexError(f"document {number} was removed before")
        for term in self._terms[number]:
            docs = self._docs[term]
            at = bisect_left(docs, number)
            del docs[at], self._counts[term][at]
            if not docs:
                del self._docs[term], self._counts[term]
        self._alive -= 1
        self._total -= self._lengths[number]
        self._postings -= len(self._terms[number])
        self._terms[number] = ()
        self._lengths[number] = -1

    def frequency(self, term: str) -> int:
        """How many documents hold the term."""
        return len(self._docs.get(term, ()))

    def idf(self, term: str) -> float:
        """``ln(1 + (N - df + 1/2) / (df + 1/2))``."""
        df = self.frequency(term)
        return math.log1p((self._alive - df + 0.5) / (df + 0.5))

    def coverage(self, query: Sequence[str]) -> NDArray[np.float64]:
        """How much of a query each document holds, however long it is.

        Returns:
            (len(self),) in [0, 1]: the share of the distinct terms, weighted by idf; unknown terms count as missing.
        """
        held = np.zeros(len(self._terms))
        rarity = {term: self.idf(term) for term in query}
        for term, idf in rarity.items():
            if term in self._docs:
                held[np.frombuffer(self._docs[term], np.int64)] += idf
        return held / sum(rarity.values()) if rarity else held

    def scores(self, query: Sequence[str]) -> NDArray[np.float64]:
        """Score every document number, present or removed, for the distinct terms of a query.

        Returns:
            (len(self),) float64, >= 0; 0 for documents without any of the terms.
        """
        scores = np.zeros(len(self._terms))
        if not self._total:
            return scores
        lengths = np.frombuffer(self._lengths, np.int64)
        mean = self._total / self._alive
        for term in dict.fromkeys(query):
            if term not in self._docs:
                continue
            docs = np.frombuffer(self._docs[term], np.int64)
            tf = np.frombuffer(self._counts[term], np.int64)
            norm = self._k1 * (1 - self._b + self._b * lengths[docs] / mean)
            scores[docs] += self.idf(term) * (self._k1 + 1) * tf / (tf + norm)
        return scores
