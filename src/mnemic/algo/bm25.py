"""BM25 over documents that come and go.

As in Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009), with the non-negative idf
``ln(1 + (N - df + 1/2) / (df + 1/2))``.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mnemic.algo.arrays import Rows

Ints = NDArray[np.int64]

_ROWS: Final = ("_held", "_starts", "_lengths", "_sums", "_base_starts", "_base_sizes", "_base_docs", "_base_counts")


class BM25:
    """BM25 over documents numbered in the order they are added; a document can be removed, numbers are not reused.

    Scores equal those of an index built afresh from the documents still present: statistics are integers,
    kept exactly.
    """

    def __init__(self, *, k1: float = 1.2, b: float = 0.75) -> None:
        self._k1 = k1
        self._b = b
        self._numbers = _Numbers()
        # The postings of a term: those of a base, all terms' in one array, which many share a mapping of, and those
        # that came later, or all of them once one of the base's was removed. Of array[int], whose methods lose their
        # types under pyright's strict rules.
        self._base_starts = Rows(np.int64)
        self._base_sizes = Rows(np.int32)
        self._base_docs = Rows(np.int32)
        self._base_counts = Rows(np.int32)
        self._docs: dict[int, Any] = {}
        self._counts: dict[int, Any] = {}
        # The terms of all documents, one document after the other, by their numbers.
        self._held = Rows(np.int32)
        self._starts = Rows(np.int64)
        self._starts.extend([0])
        self._lengths = Rows(np.int32)
        self._sums = Rows(np.int64)  # documents that are there, and their terms
        self._sums.extend([0, 0])

    def __len__(self) -> int:
        return len(self._lengths)

    @property
    def nbytes(self) -> int:
        """Bytes of postings and document lists, roughly."""
        arrays = sum(getattr(self, name).nbytes for name in _ROWS)
        return arrays + 8 * (len(self._held) - len(self._base_docs)) + 350 * len(self._docs) + 150 * len(self._numbers)

    @property
    def terms(self) -> list[str]:
        """Each term at its number; empty where nothing holds it any more. Not to be written to."""
        return self._numbers.given

    def numbered(self, terms: Iterable[str]) -> list[int]:
        """The numbers of terms, new ones given to unknown terms."""
        return list(map(self._numbers.__getitem__, terms))

    def add(self, document: Iterable[str]) -> int:
        """Add a document given as its terms; return its number."""
        return int(self.add_all([tuple(document)])[0])

    def add_all(self, documents: Sequence[Sequence[str]]) -> Ints:
        """Add documents given as their terms; return their numbers."""
        sizes = np.fromiter(map(len, documents), np.int64, len(documents))
        return self.add_numbered(np.array(self.numbered(chain.from_iterable(documents)), np.int64), sizes)

    def add_numbered(self, terms: Ints, sizes: Ints) -> Ints:
        """Add documents given as the numbers of their terms, one document after the other; return their numbers."""
        first = len(self)
        width = len(self._numbers.given)
        places, counts = np.unique(np.repeat(np.arange(len(sizes)), sizes) * width + terms, return_counts=True)
        docs, terms = np.divmod(places, max(width, 1))
        self._held.extend(terms)
        self._starts.extend(self._starts.view[-1] + np.cumsum(np.bincount(docs, minlength=len(sizes))))
        self._lengths.extend(sizes)
        self._sums.view[:] += (len(sizes), int(sizes.sum()))
        self._post(terms, docs + first, counts)
        return np.arange(first, len(self))

    def _post(self, terms: Ints, docs: Ints, counts: Ints) -> None:
        """Append to the postings; the documents ascend."""
        order = np.argsort(terms, kind="stable")
        distinct, starts = np.unique(terms[order], return_index=True)
        narrow_docs, narrow_counts = docs[order].astype(np.int32), counts[order].astype(np.int32)
        edges = np.append(starts, len(order)).tolist()
        for term, start, end in zip(distinct.tolist(), edges, edges[1:], strict=False):
            if term not in self._docs:
                self._docs[term], self._counts[term] = array("i"), array("i")
            self._docs[term].frombytes(narrow_docs[start:end].tobytes())
            self._counts[term].frombytes(narrow_counts[start:end].tobytes())

    def remove(self, number: int) -> None:
        """Remove a document; removing it twice is an error of the caller and raises IndexError."""
        lengths = self._lengths.view
        if lengths[number] < 0:
            raise IndexError(f"document {number} was removed before")
        start, end = self._starts.view[number : number + 2]
        for term in self._held.view[start:end].tolist():
            self._leave_base(term)
            docs = self._docs[term]
            at = bisect_left(docs, number)
            del docs[at], self._counts[term][at]
            if not docs:
                del self._docs[term], self._counts[term]
                self._numbers.forget(term)
        self._sums.view[:] -= (1, int(lengths[number]))
        lengths[number] = -1

    def _leave_base(self, term: int) -> None:
        """Let all postings of a term be among those that came later, where single ones can be taken out."""
        if self._in_base(term):
            found = self._postings(term)
            self._base_sizes.view[term] = 0
            self._docs[term], self._counts[term] = (array("i", part.astype(np.int32).tobytes()) for part in found)

    def _in_base(self, term: int) -> int:
        return int(self._base_sizes.view[term]) if term < len(self._base_sizes) else 0

    def frequency(self, term: str) -> int:
        """How many documents hold the term."""
        number = self._numbers.get(term)
        return 0 if number is None else self._in_base(number) + len(self._docs.get(number, ()))

    def idf(self, term: str) -> float:
        """``ln(1 + (N - df + 1/2) / (df + 1/2))``."""
        df = self.frequency(term)
        return math.log1p((int(self._sums.view[0]) - df + 0.5) / (df + 0.5))

    def coverage(self, query: Sequence[str]) -> NDArray[np.float64]:
        """How much of a query each document holds, however long it is.

        Returns:
            (len(self),) in [0, 1]: the share of the distinct terms, weighted by idf; unknown terms count as missing.
        """
        held = np.zeros(len(self))
        rarity = {term: self.idf(term) for term in query}
        for term, idf in rarity.items():
            if term in self._numbers:
                held[self._postings(self._numbers[term])[0]] += idf
        return held / sum(rarity.values()) if rarity else held

    def scores(self, query: Sequence[str]) -> NDArray[np.float64]:
        """Score every document number, present or removed, for the distinct terms of a query.

        Returns:
            (len(self),) float64, >= 0; 0 for documents without any of the terms.
        """
        scores = np.zeros(len(self))
        alive, total = self._sums.view.tolist()
        if not total:
            return scores
        lengths = self._lengths.view
        mean = total / alive
        for term in dict.fromkeys(query):
            if term not in self._numbers:
                continue
            docs, tf = self._postings(self._numbers[term])
            norm = self._k1 * (1 - self._b + self._b * lengths[docs] / mean)
            scores[docs] += self.idf(term) * (self._k1 + 1) * tf / (tf + norm)
        return scores

    def _postings(self, term: int) -> tuple[Ints, Ints]:
        """The documents that hold a term, ascending, and how often."""
        later: Any = (self._docs.get(term), self._counts.get(term))
        size = self._in_base(term)
        start = int(self._base_starts.view[term]) if size else 0
        parts: list[Any] = []
        for base, more in zip((self._base_docs, self._base_counts), later, strict=True):
            known = base.view[start : start + size]
            if more is not None:
                found = np.frombuffer(more, np.int32)
                known = np.concatenate((known, found)) if size else found
            parts.append(known)
        return parts[0], parts[1]

    def state(self) -> dict[str, NDArray[Any]]:
        """What ``restored`` takes besides ``terms``: all postings as a base."""
        count = len(self._numbers.given)
        found = [self._postings(term) for term in range(count)]
        sizes = np.fromiter((len(docs) for docs, _ in found), np.int32, count)
        base: dict[str, Any] = {
            "_base_starts": np.cumsum(sizes, dtype=np.int64) - sizes,
            "_base_sizes": sizes,
            "_base_docs": np.concatenate([np.zeros(0, np.int32), *(docs for docs, _ in found)]),
            "_base_counts": np.concatenate([np.zeros(0, np.int32), *(counts for _, counts in found)]),
        }
        return {name: base[name] if name in base else getattr(self, name).view for name in _ROWS}

    def restore(self, terms: Iterable[str], held: Any) -> None:  # noqa: ANN401 - a mapping of Rows by the names of state
        """Take the place of an index that was there before. Raises KeyError where a part is lacking."""
        for name in _ROWS:
            setattr(self, name, held[name])
        self._numbers.given.extend(terms)
        self._numbers.update((term, number) for number, term in enumerate(self._numbers.given) if term)


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
