"""Whose vectors a database holds, and whether a memory's embedder is still the one."""

from __future__ import annotations

from pathlib import Path

from mnemic.errors import EmbedderMismatch
from mnemic.protocols import Embedder, EmbedderRecord, Store
from mnemic.types import Thresholds


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
            f"({model.fingerprint}): open it with that embedder, or change it with: mnemic reembed --db {database}"
        )


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
