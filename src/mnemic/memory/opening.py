"""What a memory is wired from when it is opened: the database and the models that fit it."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from mnemic.errors import EmbedderUnavailable
from mnemic.memory.agreement import agree, agree_on_cues
from mnemic.models import registry
from mnemic.protocols import CueExtractor, Embedder, Store
from mnemic.store import open_store

_log = logging.getLogger("mnemic")


@dataclass(frozen=True, slots=True)
class Opened:
    """Parts that fit each other, and what they have to do without."""

    store: Store
    embedder: Embedder | None
    extractor: CueExtractor
    warnings: tuple[str, ...]


def opened(database: str | Path, embedder: Embedder | str | None, cue_extractor: CueExtractor | str) -> Opened:
    """Open what ``Memory.open`` was asked for.

    Raises:
        InvalidInput, EmbedderMismatch, StoreError: As there.
    """
    warnings: list[str] = []
    try:
        model = registry.embedder(embedder)
    except EmbedderUnavailable as error:
        if embedder != "local":
            raise
        warnings.append(f"retrieval is lexical only: {error}")
        _log.warning(warnings[-1])
        model = None
    extractor = registry.cue_extractor(cue_extractor)
    store = open_store(database)
    try:
        agree(store, model, database)
        warnings += agree_on_cues(store, extractor)
    except BaseException:
        store.close()
        raise
    return Opened(store, model, extractor, tuple(warnings))
