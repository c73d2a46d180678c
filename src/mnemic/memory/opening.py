"""What a memory is wired from when it is opened: the database and the models that fit it."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from mnemic.config import Enriching
from mnemic.errors import EmbedderUnavailable, InvalidInput
from mnemic.index import Snapshots
from mnemic.memory.agreement import agree, agree_on_cues
from mnemic.models import registry
from mnemic.protocols import CueExtractor, Embedder, Store
from mnemic.store import index_folder, open_store, shown_name

_log = logging.getLogger("mnemic")
_ENRICHING = {
    "default": Enriching(),
    "himem": Enriching(check_facts=False),
    "hero": Enriching(cues="model", notes="trace", episodes="rules", conflicts=None),
}


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
    # Before the database, which no wrong name should bring about.
    named = None if embedder == "local" else registry.embedder(embedder)
    extractor = registry.cue_extractor(cue_extractor)
    store = open_store(database)
    try:
        model, warnings = _local(store) if embedder == "local" else (named, [])
        agree(store, model, shown_name(database))
        warnings += agree_on_cues(store, extractor)
    except BaseException:
        store.close()
        raise
    return Opened(store, model, extractor, tuple(warnings))


def _local(store: Store) -> tuple[Embedder | None, list[str]]:
    """The embedder of ``local`` that fits a database; none, and a warning, where its files are missing."""
    holds = store.embedder()
    try:
        return registry.embedder(registry.for_database("local", None if holds is None else holds.fingerprint)), []
    except EmbedderUnavailable as error:
        warning = f"retrieval is lexical only: {error}"
        _log.warning(warning)
        return None, [warning]


def kept_indexes(database: str | Path, where: str | Path | None, max_bytes: int) -> Snapshots | None:
    """The snapshots that ``Memory.open`` was asked for.

    Without them those that another process keeps beside a file are still forgotten with what is erased.

    Raises:
        InvalidInput: The bound is no number of bytes.
        StoreError: The database's name names none.
    """
    if not isinstance(max_bytes, int) or isinstance(max_bytes, bool) or max_bytes < 0:  # pyright: ignore[reportUnnecessaryIsInstance] - callers without types
        raise InvalidInput(f"snapshot_bytes must be a number of bytes, at least 0, not {max_bytes!r}")
    cache = None if where is None or where == "beside" else Path(where).expanduser().absolute()
    folder = index_folder(database, cache)
    return None if folder is None else Snapshots(folder, max_bytes=0 if where is None else max_bytes)


def enriching(given: Enriching | str) -> Enriching:
    """The settings of a name, or those given.

    Raises:
        InvalidInput: There is no such name.
    """
    found = _ENRICHING.get(given) if isinstance(given, str) else given
    if found is None:
        raise InvalidInput(f"enrichment is {', '.join(_ENRICHING)} or an Enriching, not {given!r}")
    return found
