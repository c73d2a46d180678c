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
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnemic.algo.arrays import Rows
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


class BM25:
    """BM25 over documents numbered in the order they are added; a document can be removed, numbers are not reused.

    Scores equal those of an index built afresh from the documents still present: statistics are integers,
    kept exactly.
    """

    def __init__(self, *, k1: float = 1.2, b: float = 0.75) -> None:
        self._k1 = k1
        self._b = b
        self._numbers = _Numbers()
        # Of array[int], whose methods lose their types under pyright's strict rules.
        self._docs: list[Any] = []
        self._counts: list[Any] = []
        # The terms of all documents, one document after the other, by their numbers.
        self._held = Rows(np.int32)
        self._starts = Rows(np.int64)
        self._starts.extend([0])
        self._lengths = Rows(np.int64)
        self._alive = 0
        self._total = 0

    def __len__(self) -> int:
        return len(self._lengths)

    @property
    def nbytes(self) -> int:
        """Bytes of postings and document lists, roughly."""
        return 16 * len(self._held) + self._held.nbytes + 400 * len(self._docs) + 16 * len(self._lengths)

    def add(self, document: Iterable[str]) -> int:
        """Add a document given as its terms; return its number."""
        return int(self.add_all([tuple(document)])[0])

    def add_all(self, documents: Sequence[Sequence[str]]) -> NDArray[np.int64]:
        """Add documents given as their terms; return their numbers."""
        first = len(self)
        sizes = np.fromiter(map(len, documents), np.int64, len(documents))
        terms = np.fromiter(map(self._numbers.__getitem__, chain.from_iterable(documents)), np.int64, int(sizes.sum()))
        width = len(self._numbers.given)
        places, counts = np.unique(np.repeat(np.arange(len(sizes)), sizes) * width + terms, return_counts=True)
        docs, terms = np.divmod(places, max(width, 1))
        self._held.extend(terms)
        self._starts.extend(self._starts.view[-1] + np.cumsum(np.bincount(docs, minlength=len(sizes))))
        self._lengths.extend(sizes)
        self._alive += len(sizes)
        self._total += int(sizes.sum())
        self._post(terms, docs + first, counts)
        return np.arange(first, len(self))

    def _post(self, terms: NDArray[np.int64], docs: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
        """Append to the postings; the documents ascend."""
        while len(self._docs) < len(self._numbers.given):
            self._docs.append(array("q"))
            self._counts.append(array("q"))
        order = np.argsort(terms, kind="stable")
        distinct, starts = np.unique(terms[order], return_index=True)
        docs, counts = docs[order], counts[order]
        edges = np.append(starts, len(order)).tolist()
        for term, start, end in zip(distinct.tolist(), edges, edges[1:], strict=False):
            self._docs[term].frombytes(docs[start:end].tobytes())
            self._counts[term].frombytes(counts[start:end].tobytes())

    def remove(self, number: int) -> None:
        """Remove a document; removing it twice is an error of the caller and raises IndexError."""
        lengths = self._lengths.view
        if lengths[number] < 0:
            raise IndexError(f"document {number} was removed before")
        start, end = self._starts.view[number : number + 2]
        for term in self._held.view[start:end].tolist():
            docs = self._docs[term]
            at = bisect_left(docs, number)
            del docs[at], self._counts[term][at]
            if not docs:
                self._numbers.forget(term)
        self._alive -= 1
        self._total -= int(lengths[number])
        lengths[number] = -1

    def frequency(self, term: str) -> int:
        """How many documents hold the term."""
        return len(self._docs[self._numbers[term]]) if term in self._numbers else 0

    def idf(self, term: str) -> float:
        """``ln(1 + (N - df + 1/2) / (df + 1/2))``."""
        df = self.frequency(term)
        return math.log1p((self._alive - df + 0.5) / (df + 0.5))

    def coverage(self, query: Sequence[str]) -> NDArray[np.float64]:
        """How much of a query each document holds, however long it is.

        Returns:
            (len(self),) in [0, 1]: the share of the distinct terms, weighted by idf; unknown terms count as missing.
        """
        held = np.zeros(len(self))
        rarity = {term: self.idf(term) for term in query}
        for term, idf in rarity.items():
            if term in self._numbers:
                held[self._postings(term)[0]] += idf
        return held / sum(rarity.values()) if rarity else held

    def scores(self, query: Sequence[str]) -> NDArray[np.float64]:
        """Score every document number, present or removed, for the distinct terms of a query.

        Returns:
            (len(self),) float64, >= 0; 0 for documents without any of the terms.
        """
        scores = np.zeros(len(self))
        if not self._total:
            return scores
        lengths = self._lengths.view
        mean = self._total / self._alive
        for term in dict.fromkeys(query):
            if term not in self._numbers:
                continue
            docs, tf = self._postings(term)
            norm = self._k1 * (1 - self._b + self._b * lengths[docs] / mean)
            scores[docs] += self.idf(term) * (self._k1 + 1) * tf / (tf + norm)
        return scores

    def _postings(self, term: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The documents that hold a known term, and how often."""
        number = self._numbers[term]
        return np.frombuffer(self._docs[number], np.int64), np.frombuffer(self._counts[number], np.int64)


class _Numbers(dict[str, int]):
    """Numbers of terms, given when first asked for, and never to another term."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[str] = []

    def __missing__(self, term: str) -> int:
        number = self[term] = len(self.given)
        self.given.append(term)
        return number

    def forget(self, number: int) -> None:
        """Keep the number, but not the term."""
        del self[self.given[number]]
        self.given[number] = ""
