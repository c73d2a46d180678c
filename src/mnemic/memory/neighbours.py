"""What is near a text among what is known: notes about a person, topics, and the words of a source."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from mnemic.algo import names
from mnemic.algo.lexical import terms
from mnemic.algo.vectors import dots
from mnemic.errors import ModelError
from mnemic.memory.agreement import serving
from mnemic.protocols import Embedder, Store
from mnemic.types import Note

if TYPE_CHECKING:
    from mnemic.index import Indexes
    from mnemic.protocols import Floats

_log = logging.getLogger("mnemic")

_A_TEXT: Final = 5
"""Neighbours of a note, and candidates for a topic (methods.md 2.12)."""
_TOPIC_COSINE: Final = 0.5


class Neighbours:
    """Finds them by vectors where there are any, else by words.

    Args:
        store: Where the rows are.
        indexes: Of the same store: they hold the vectors.
        embedder: None for words only.
    """

    def __init__(self, store: Store, indexes: Indexes, embedder: Embedder | None) -> None:
        self._store = store
        self._indexes = indexes
        self._embedder = embedder

    def notes(self, user_id: str, texts: Sequence[str], known: Sequence[Note]) -> list[Note]:
        """The five of the known notes nearest to each text, pooled, in the order they were given in."""
        if len(known) <= _A_TEXT:
            return list(known)
        scores = self._by_vectors(user_id, texts, known)
        if scores is None:
            scores = _by_words(texts, [note.text for note in known])
        best = {int(place) for row in scores for place in np.argsort(-row, kind="stable")[:_A_TEXT]}
        return [known[place] for place in sorted(best)]

    def topics(self, topic: str, known: Sequence[str]) -> Sequence[str]:
        """Up to five known topics that are near one, the nearest first; without an embedder those of the same words."""
        if not known:
            return []
        vectors = self._vectors([topic.lower(), *(other.lower() for other in known)])
        if vectors is None:
            return [other for other in known if terms(other) == terms(topic)][:_A_TEXT]
        scores = dots(vectors[:1], vectors[1:])[0]
        order = np.argsort(-scores, kind="stable")[:_A_TEXT]
        return [known[int(place)] for place in order if scores[place] >= _TOPIC_COSINE]

    def nearness(self, text: str, sources: Sequence[str]) -> float | None:
        """Cosine of a text to the nearest of some others; None without an embedder, or where there are none."""
        vectors = self._vectors([text, *sources]) if sources else None
        return None if vectors is None else float(dots(vectors[:1], vectors[1:]).max())

    def _vectors(self, texts: Sequence[str]) -> Floats | None:
        """(texts, dim); None without an embedder, and where it fails: words serve then, as in a search."""
        embedder, _ = serving(self._embedder, self._store.embedder())
        try:
            return None if embedder is None else embedder.embed(texts)
        except ModelError as error:
            _log.warning("what is near is found by words alone: %s", error)
            return None

    def _by_vectors(self, user_id: str, texts: Sequence[str], known: Sequence[Note]) -> Floats | None:
        """(texts, known) cosines; None where vectors are missing."""
        speakers = self._store.speakers(user_id)
        asked = self._vectors([names.strip(text, speakers) for text in texts])
        if asked is None:
            return None
        with self._indexes.graph(user_id) as (graph, _):
            slots = {graph.note_ids[slot]: slot for slot in np.flatnonzero(graph.note_current).tolist()}
            places = [slots.get(note.note_id, -1) for note in known]
            if -1 in places:
                return None
            vectors = graph.note_vectors[places]
        return dots(asked, vectors)


def _by_words(texts: Sequence[str], known: Sequence[str]) -> Floats:
    """(texts, known) shares of terms in common."""
    of_known = [set(terms(text)) for text in known]
    rows: list[list[float]] = []
    for text in texts:
        its = set(terms(text))
        rows.append([len(its & other) / max(len(its | other), 1) for other in of_known])
    return np.array(rows, np.float32)
