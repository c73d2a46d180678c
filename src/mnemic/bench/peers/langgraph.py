"""LangGraph's in-memory store with a semantic index: a namespace a user. It keeps nothing on disk.

Its SQLite store needs an extension that many builds of Python's sqlite3 cannot load.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mnemic.bench.cost import TimedEmbedder
from mnemic.bench.peers.wire import Item


class LangGraphStore:
    """A ``serve.Store`` over LangGraph's."""

    def __init__(self, embedder: TimedEmbedder) -> None:
        memory: Any = importlib.import_module("langgraph.store.memory")

        def embed(texts: Sequence[str]) -> list[list[float]]:
            return embedder.embed(list(texts)).tolist()

        self._store = memory.InMemoryStore(index={"dims": embedder.dim, "embed": embed, "fields": ["text"]})

    def add(self, user: str, items: Sequence[Item]) -> None:
        """Put each item: in one batch it raises where two texts are equal."""
        for item in items:
            self._store.put((user,), item["id"], {"text": item["text"], "session": item["session"]})

    def search(self, user: str, query: str, top_k: int) -> list[tuple[str, float]]:
        """Cosine, best first; an empty query finds the items in their order, without scores."""
        return [(item.key, float(item.score or 0.0)) for item in self._store.search((user,), query=query, limit=top_k)]

    def close(self) -> None:
        """Do nothing: there is nothing to write."""


def open_store(folder: Path, embedder: TimedEmbedder) -> LangGraphStore:
    """A new store; the folder stays empty."""
    return LangGraphStore(embedder)
