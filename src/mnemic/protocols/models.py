"""The seams to models: Embedder, CueExtractor, Reranker, LanguageModel; and StreamingModel, which is one too."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from mnemic.types import CueMention, Json, Purpose, Thresholds

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]


class Embedder(Protocol):
    """Maps texts to unit vectors whose dot product is their cosine similarity."""

    @property
    def name(self) -> str:
        """For people: ``all-minilm-l6-v2-int8``."""
        ...

    @property
    def fingerprint(self) -> str:
        """Equal exactly when the vectors of two embedders may be compared; at most 64 ASCII characters."""
        ...

    @property
    def dim(self) -> int:
        """Length of a vector."""
        ...

    @property
    def thresholds(self) -> Thresholds:
        """Calibrated for this embedder alone."""
        ...

    def embed(self, texts: Sequence[str], *, kind: Literal["query", "passage"] = "passage") -> Floats:
        """Embed texts of any length.

        Args:
            texts: n texts, in any script, of any length; may hold NUL, lone surrogates, or be blank.
            kind: Which side of the search they are on; symmetric models ignore it.

        Returns:
            (n, dim) float32; row i belongs to text i and has norm 1, or norm 0 where the text is blank.
            A text's row does not depend on the other texts of the call (to 1e-5).

        Raises:
            EmbeddingFailed: The model failed; nothing is known about any of the texts.
        """
        ...


class CueExtractor(Protocol):
    """Finds the entities, key phrases, dates and numbers that a later question could mention."""

    @property
    def name(self) -> str:
        """Recorded in the database; two extractors with one name find the same cues."""
        ...

    def extract(self, texts: Sequence[str], *, names: Collection[str]) -> list[list[CueMention]]:
        """Extract the cues of each text.

        Args:
            texts: Sentences or questions, in any script.
            names: The participants' names: they are speakers, not topics, and never become cues.

        Returns:
            A list for each text, in order of position; ``text[m.start:m.end] == m.surface`` for each
            mention, and ``m.key == algo.cues.normalise(m.surface)``, never empty.
        """
        ...


class Reranker(Protocol):
    """Scores how well each text answers a query."""

    @property
    def name(self) -> str:
        """For people and for the result record."""
        ...

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Score n texts; n finite numbers, higher is better, independent of the order of the texts.

        Raises:
            RerankingFailed: The model failed.
        """
        ...


@dataclass(frozen=True, slots=True)
class Completion:
    """One request to a language model."""

    purpose: Purpose
    system: str
    user: str
    max_tokens: int
    schema: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, verbatim. ``finish`` is ``length`` when it was cut, ``refusal`` when it was declined."""

    text: str
    finish: Literal["stop", "length", "refusal"]
    tokens_in: int
    tokens_out: int


class LanguageModel(Protocol):
    """Completes one prompt. Parsing, validation and budgets are not its business."""

    @property
    def name(self) -> str:
        """``provider:model``."""
        ...

    def complete(self, request: Completion) -> Reply:
        """Complete one request.

        Raises:
            LanguageModelFailed: It raised, timed out or could not be reached.
        """
        ...


@runtime_checkable
class StreamingModel(LanguageModel, Protocol):
    """A language model whose reply can be read while it comes; ``models.streaming`` makes one of any."""

    def stream(self, request: Completion, receive: Callable[[str], object]) -> Reply:
        """Complete one request.

        Args:
            request: As for ``complete``.
            receive: Called in this thread with each piece of the reply, which joined are its text. What it raises ends
                the request.

        Raises:
            LanguageModelFailed: As ``complete``; a part of the reply may have come before.
        """
        ...
