"""Rerankers: a second, slower look at the best hits."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Protocol

from mnemic.errors import RerankingFailed
from mnemic.models.clean import clean
from mnemic.models.foreign import told
from mnemic.models.optional import from_package

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mnemic.protocols import Floats

_MAX_CHARS: Final = 8000  # of a query or a text; these models read 512 to 8,192 tokens and cut off the rest


class CrossEncoder(Protocol):
    """The part of ``sentence_transformers.CrossEncoder`` that is used."""

    def predict(self, inputs: list[tuple[str, str]], *, show_progress_bar: bool) -> ArrayLike:
        """Score n pairs."""
        ...


class CrossEncoderReranker:
    """A cross-encoder of sentence-transformers, downloaded by it: reads the query and a text together.

    Args:
        model_name: The model.
        model: A loaded ``CrossEncoder``, instead of loading ``model_name``.

    Raises:
        RerankingFailed: At the first use: the package is not installed.
    """

    def __init__(self, model_name: str = "BAAI/bge-reranker-v2-m3", *, model: CrossEncoder | None = None) -> None:
        self.name = f"cross-encoder:{model_name}"
        self._model_name = model_name
        self._model = model
        self._lock = threading.Lock()  # its tokenizer raises "Already borrowed" when two threads meet

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Score n texts: see ``protocols.Reranker``."""
        import numpy as np

        if not texts:
            return []
        pairs = [(clean(query)[:_MAX_CHARS], clean(text)[:_MAX_CHARS]) for text in texts]
        try:
            with self._lock:
                scores = np.asarray(self._loaded().predict(pairs, show_progress_bar=False), dtype=np.float64)
        except RerankingFailed:
            raise
        except Exception as error:  # other people's code may raise anything
            raise RerankingFailed(f"{self.name} failed: {told(error)}") from error
        if scores.shape != (len(texts),):
            raise RerankingFailed(f"{self.name} returned scores of shape {scores.shape} for {len(texts)} texts")
        if not np.isfinite(scores).all():
            raise RerankingFailed(f"{self.name} returned a score that is not a finite number")
        return scores.tolist()

    def _loaded(self) -> CrossEncoder:
        if self._model is None:
            library = from_package(
                "sentence_transformers", needed_by=self.name, package="sentence-transformers", error=RerankingFailed
            )
            self._model = library.CrossEncoder(self._model_name)
        return self._model


class TokenEmbedder(Protocol):
    """An embedder that also gives the vectors of single tokens: ``MiniLM`` does."""

    @property
    def name(self) -> str:
        """For people."""
        ...

    def token_embeddings(self, texts: Sequence[str]) -> list[Floats]:
        """For each text a (t, d) array of unit rows, one a token."""
        ...


class LateInteractionReranker:
    """ColBERT's MaxSim (arXiv 2004.12832) over the embedded model's own token vectors: offline, nothing to download.

    The score of a text is the mean, over the tokens of the query, of the best cosine with a token of the text; in
    [-1, 1], and 0 where either is blank. MiniLM was not trained for this; it helps all the same
    (``docs/decisions/0002-embedded-embedder.md``), at about 25 CPU-milliseconds a trace.
    """

    def __init__(self, embedder: TokenEmbedder) -> None:
        self.name = f"late-interaction:{embedder.name}"
        self._embedder = embedder

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Score n texts: see ``protocols.Reranker``."""
        try:
            asked, *read = self._embedder.token_embeddings([query, *texts])
        except Exception as error:  # other people's code may raise anything
            raise RerankingFailed(f"{self.name} failed: {told(error)}") from error
        return [float((asked @ tokens.T).max(axis=1).mean()) if asked.size and tokens.size else 0.0 for tokens in read]
