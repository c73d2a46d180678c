"""The one embedder that this process and a peer's both make from its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mnemic.errors import EmbedderUnavailable
from mnemic.models import registry
from mnemic.models.doubles import HashEmbedder

if TYPE_CHECKING:
    from mnemic.protocols import Embedder

HASH: Final = "hash"
"""Vectors of the size that ``local`` makes, near each other where texts share words, thousands of times as fast: for
measuring everything but embedding at sizes at which embedding would take hours."""
_DIM: Final = 384


def embedder(spec: str = "local") -> Embedder:
    """The embedder of a name.

    Args:
        spec: ``hash``, or as in ``models.registry``.

    Raises:
        InvalidInput: It names nothing.
        EmbedderUnavailable: Its files are missing.
    """
    found = registry.embedder(HashEmbedder(_DIM) if spec == HASH else spec)
    if found is None:
        raise EmbedderUnavailable(f"the embedder {spec!r} cannot be made; name another")
    return found
