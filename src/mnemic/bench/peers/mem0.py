"""mem0 without a language model: ``infer=False`` keeps messages as they are, in Qdrant's local mode."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from mnemic.bench.cost import TimedEmbedder
from mnemic.bench.peers.serve import Making
from mnemic.bench.peers.wire import Item
from mnemic.types import Json

_UNUSED_KEY: Final = "none: with infer=False no language model is asked"


class Mem0Store:
    """A ``serve.Store`` over mem0.

    Attributes:
        vectors: mem0's vector store.
    """

    def __init__(self, folder: Path, embedder: TimedEmbedder) -> None:
        mem0: Any = importlib.import_module("mem0")
        self._memory = mem0.Memory.from_config(_configuration(folder, embedder.dim))
        self._memory.embedding_model = OurEmbedding(embedder)
        self.vectors = self._memory.vector_store

    def add(self, user: str, items: Sequence[Item]) -> Making | None:
        """Add each item as one message, found as it is."""
        for item in items:
            message = {"role": "user", "content": item["text"]}
            metadata = {"item": item["id"], "session": item["session"]}
            self._memory.add([message], user_id=user, metadata=metadata, infer=False)

    def search(self, user: str, query: str, top_k: int) -> list[tuple[str, float]]:
        """Its own score, best first."""
        found = self._memory.search(query, filters={"user_id": user}, top_k=top_k, threshold=0.0)
        return [(hit["metadata"]["item"], float(hit["score"])) for hit in found["results"]]

    def close(self) -> None:
        """Let go of Qdrant's lock on its folder, and of the history."""
        self.vectors.client.close()
        self._memory.close()


class OurEmbedding:
    """mem0's ``EmbeddingBase`` over ours, as far as it is used."""

    def __init__(self, embedder: TimedEmbedder) -> None:
        self.config = SimpleNamespace(embedding_dims=embedder.dim)
        self._embedder = embedder

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """Embed one text, as (dim,)."""
        return self._embedder.embed([text])[0].tolist()

    def embed_batch(self, texts: list[str], memory_action: str | None = "add") -> list[list[float]]:
        """Embed n texts, as (n, dim)."""
        return self._embedder.embed(texts).tolist()


def _configuration(folder: Path, dim: int) -> dict[str, Json]:
    qdrant: dict[str, Json] = {
        "collection_name": "mem0",
        "path": str(folder / "qdrant"),
        "embedding_model_dims": dim,
        "on_disk": True,
    }
    return {
        "vector_store": {"provider": "qdrant", "config": qdrant},
        # Neither is used: the embedder is replaced at once, for it has no provider that takes a function as it is.
        "embedder": {"provider": "openai", "config": {"api_key": _UNUSED_KEY}},
        "llm": {"provider": "openai", "config": {"api_key": _UNUSED_KEY}},
        "history_db_path": str(folder / "history.db"),
    }


def open_store(folder: Path, embedder: TimedEmbedder) -> Mem0Store:
    """Open what is in a folder."""
    return Mem0Store(folder, embedder)
