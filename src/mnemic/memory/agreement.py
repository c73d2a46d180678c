"""Whose vectors and cues a database holds, and whether a memory's embedder and extractor are still the ones."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

from mnemic import backfill, calibration
from mnemic.errors import EmbedderMismatch
from mnemic.models import registry
from mnemic.protocols import CueExtractor, Embedder, EmbedderRecord, Store
from mnemic.types import Thresholds

_CUE_EXTRACTOR = "cue_extractor"
"""The setting that names the extractor of a database's cues."""


def agree(store: Store, model: Embedder | None, database: str | Path) -> None:
    """Make sure that a database's vectors are the embedder's; a new database takes it.

    Raises:
        EmbedderMismatch: They are another's.
    """
    if model is None:
        return
    holds = store.embedder()
    if holds is None:
        store.use_embedder(record(model))
    elif holds.fingerprint != model.fingerprint:
        raise EmbedderMismatch(
            f"{database} holds vectors of {holds.name} ({holds.fingerprint}), not of {model.name} "
            f"({model.fingerprint}): open it with that embedder, or change it with: {way_out(database, model.name)}"
        )


def agree_on_cues(store: Store, extractor: CueExtractor) -> tuple[str, ...]:
    """A warning where a database's cues are another extractor's; one that holds nobody's words takes this one.

    No error: cues only steer retrieval, and words are found without them.
    """
    holds = store.setting(_CUE_EXTRACTOR)
    if holds == extractor.name:
        return ()
    if holds is None or not store.users():
        store.set_setting(_CUE_EXTRACTOR, extractor.name)
        return ()
    return (f"the database's cues are of {holds}, not of {extractor.name}: open it with that cue extractor",)


def way_out(database: str | Path | None, embedder: str) -> str:
    """What makes a database's vectors by an embedder: a command, or where no command can name the two, a call.

    Args:
        database: Its file.
        embedder: The embedder's name.
    """
    spec = registry.spec(embedder)
    if database is None or spec is None:
        return "Memory.open(…, embedder=None).reembed(…)"
    return shlex.join(("mnemic", "reembed", "--db", str(database), "--embedder", spec))


def record(model: Embedder, measured: Thresholds | None = None) -> EmbedderRecord:
    """What a database remembers of an embedder: thresholds measured on it take the place of the embedder's own."""
    return EmbedderRecord(model.fingerprint, model.name, model.dim, measured or model.thresholds)


def serving(model: Embedder | None, holds: EmbedderRecord | None) -> tuple[Embedder | None, tuple[str, ...]]:
    """The embedder, if its vectors are those that the database holds now; else None, and a warning.

    They agreed when the memory was opened, but another one may have re-embedded the database since.
    """
    if model is None or holds is None or holds.fingerprint == model.fingerprint:
        return model, ()
    return None, (f"the database holds vectors of {holds.name} by now, not of {model.name}: open it again",)


def calibrate(store: Store, model: Embedder, users: Sequence[str]) -> None:
    """Measure the thresholds of an embedder that nobody calibrated, once these users have sentences enough.

    Raises:
        EmbeddingFailed: The embedder failed.
    """
    if registry.is_calibrated(model) or store.embedder() != record(model):
        return
    measured = calibration.from_memory(store, model, users)
    # Measuring takes seconds, in which somebody may have measured too, or changed the embedder.
    if measured is not None and store.embedder() == record(model):
        store.use_embedder(record(model, measured))


def switch(store: Store, model: Embedder, progress: Callable[[int], None]) -> int:
    """Embed everything by an embedder and make it the database's; how many were embedded.

    Raises:
        EmbeddingFailed: Nothing was switched.
    """
    done = backfill.fill(store, model, user_id=None, done=progress)
    measured = None if registry.is_calibrated(model) else calibration.from_memory(store, model, store.users())
    store.use_embedder(record(model, measured))
    return done
