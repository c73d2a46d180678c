"""What the reference systems rank by: BM25, cosine, and the reciprocal rank fusion of such rankings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Protocol

from mnemic.models.optional import from_extra
from mnemic.types import Json

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mnemic.protocols import Embedder

    Doubles = NDArray[np.float64]

K = 60
"""Of reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009, who found 60)."""


class Ranker(Protocol):
    """Scores the documents of one user. Made by a ``Fit``."""

    def scores(self, query: str, visible: int) -> Doubles:
        """(visible,) scores of the first documents; -inf for those that it does not return."""
        ...


class Fit(Protocol):
    """Makes rankers."""

    @property
    def configuration(self) -> Mapping[str, Json]:
        """What its numbers depend on."""
        ...

    @property
    def scale(self) -> bool:
        """Whether its scores are comparable between questions."""
        ...

    def __call__(self, texts: Sequence[str]) -> Ranker:
        """Make a ranker of n documents."""
        ...


class Bm25:
    """The bm25s library as its authors use it: its stop words, Snowball's English stemmer, Lucene's BM25."""

    scale = False

    def __init__(self) -> None:
        self._library = from_extra("bm25s", needed_by="the benchmark's BM25", extra="bench")
        self._stemmer = from_extra("Stemmer", needed_by="the benchmark's BM25", extra="bench").Stemmer("english")

    @property
    def configuration(self) -> Mapping[str, Json]:
        """Versions, and what they default to."""
        return {
            "bm25": {
                "library": f"bm25s {version('bm25s')}",
                "method": "lucene",
                "k1": 1.5,
                "b": 0.75,
                "stemmer": f"PyStemmer {version('PyStemmer')}, english",
                "stop_words": "bm25s, english",
            }
        }

    def __call__(self, texts: Sequence[str]) -> Ranker:
        """Index n documents."""
        return _Bm25Ranker(self, texts)

    def tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """The stemmed words of each text."""
        return self._library.tokenize(
            list(texts), stopwords="english", stemmer=self._stemmer, return_ids=False, show_progress=False
        )

    def index(self, tokens: Sequence[list[str]]) -> Index:
        """An index of documents with at least one word among them."""
        index = self._library.BM25(method="lucene", k1=1.5, b=0.75)
        index.index(list(tokens), show_progress=False)
        return index


class Index(Protocol):
    """What is used of ``bm25s.BM25``."""

    def get_scores(self, query_tokens_single: list[str]) -> NDArray[np.float32]:
        """(n,) scores of a query of at least one word."""
        ...


class _Bm25Ranker:
    """Word statistics are those of the visible documents: an index for each prefix that is asked for."""

    def __init__(self, bm25: Bm25, texts: Sequence[str]) -> None:
        self._bm25 = bm25
        self._tokens = bm25.tokens(texts) if texts else []
        self._indexes: dict[int, Index] = {}
        self._index(len(texts))

    def scores(self, query: str, visible: int) -> Doubles:
        import numpy as np

        words = self._bm25.tokens([query])[0]
        index = self._index(visible)
        if not words or index is None:
            return np.full(visible, -np.inf)
        scores = np.asarray(index.get_scores(words), np.float64)
        return np.where(scores > 0, scores, -np.inf)

    def _index(self, visible: int) -> Index | None:
        """None where the documents have no words at all."""
        if visible not in self._indexes and any(self._tokens[:visible]):
            self._indexes[visible] = self._bm25.index(self._tokens[:visible])
        return self._indexes.get(visible)


class Dense:
    """Cosine of the question to the document, as plain vector stores rank.

    Args:
        embedder: The one that mnemic uses too.
    """

    scale = True

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder

    @property
    def configuration(self) -> Mapping[str, Json]:
        """The embedder."""
        return {"embedder": self.embedder.name, "fingerprint": self.embedder.fingerprint}

    def __call__(self, texts: Sequence[str]) -> Ranker:
        """Embed n documents."""
        return _DenseRanker(self.embedder, texts)


class _DenseRanker:
    def __init__(self, embedder: Embedder, texts: Sequence[str]) -> None:
        self._embedder = embedder
        self._vectors = embedder.embed(list(texts))

    def scores(self, query: str, visible: int) -> Doubles:
        import numpy as np

        vector = self._embedder.embed([query], kind="query")[0]
        return np.asarray(self._vectors[:visible] @ vector, np.float64)


class Fused:
    """Reciprocal rank fusion: a document's score is the sum of 1 / (60 + rank) over the rankings that return it.

    Args:
        fits: What is fused.
    """

    scale = False

    def __init__(self, *fits: Fit) -> None:
        self._fits = fits

    @property
    def configuration(self) -> Mapping[str, Json]:
        """Those of what is fused."""
        return {"rrf_k": K} | {key: value for fit in self._fits for key, value in fit.configuration.items()}

    def __call__(self, texts: Sequence[str]) -> Ranker:
        """Fit each on the same n documents."""
        return _FusedRanker([fit(texts) for fit in self._fits])


class _FusedRanker:
    def __init__(self, rankers: Sequence[Ranker]) -> None:
        self._rankers = rankers

    def scores(self, query: str, visible: int) -> Doubles:
        return reciprocal_ranks([ranker.scores(query, visible) for ranker in self._rankers])


def reciprocal_ranks(rankings: Sequence[Doubles]) -> Doubles:
    """Fuse rankings of n documents by their ranks alone.

    Args:
        rankings: At least one, (n,) scores each; -inf is not returned by that ranking.

    Returns:
        (n,) sums of 1 / (60 + rank), ranks from 1, equal scores in the order of the documents; -inf for a document
        that no ranking returns.
    """
    import numpy as np

    fused = np.zeros(len(rankings[0]))
    for scores in rankings:
        order = np.argsort(-scores, kind="stable")
        order = order[np.isfinite(scores[order])]
        fused[order] += 1.0 / (K + 1 + np.arange(len(order)))
    return np.where(fused > 0, fused, -np.inf)
