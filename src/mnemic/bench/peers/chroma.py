"""Chroma: a persistent client, a collection a user, vectors given by us; everything else as it comes."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from mnemic.bench.cost import TimedEmbedder
from mnemic.bench.peers.wire import Item

if TYPE_CHECKING:
    from mnemic.protocols import Floats

_BATCH: Final = 5000  # it takes 5,461 at once


class Collection(Protocol):
    """The part of Chroma's that is used."""

    def add(
        self, *, ids: list[str], embeddings: Floats, documents: list[str], metadatas: list[Mapping[str, str]]
    ) -> None:
        """Add n documents."""
        ...

    def query(self, *, query_embeddings: Floats, n_results: int, include: list[str]) -> Mapping[str, list[list[Any]]]:
        """The nearest of each query."""
        ...


class ChromaStore:
    """A ``serve.Store`` over Chroma."""

    def __init__(self, folder: Path, embedder: TimedEmbedder) -> None:
        chromadb: Any = importlib.import_module("chromadb")
        settings = chromadb.Settings(anonymized_telemetry=False)
        self._client = chromadb.PersistentClient(str(folder / "chroma"), settings=settings)
        self._embedder = embedder
        self._collections: dict[str, Collection] = {}

    def add(self, user: str, items: Sequence[Item]) -> None:
        """Add items."""
        for start in range(0, len(items), _BATCH):
            batch = items[start : start + _BATCH]
            texts = [item["text"] for item in batch]
            self._collection(user).add(
                ids=[item["id"] for item in batch],
                embeddings=self._embedder.embed(texts),
                documents=texts,
                metadatas=[{"session": item["session"]} for item in batch],
            )

    def search(self, user: str, query: str, top_k: int) -> list[tuple[str, float]]:
        """Cosine, best first."""
        found = self._collection(user).query(
            query_embeddings=self._embedder.embed([query], kind="query"),
            n_results=top_k,
            include=["documents", "distances"],
        )
        return [(key, 1.0 - float(far)) for key, far in zip(found["ids"][0], found["distances"][0], strict=True)]

    def close(self) -> None:
        """Do nothing: it writes at every add."""

    def _collection(self, user: str) -> Collection:
        if user not in self._collections:
            name = f"user-{hashlib.sha256(user.encode()).hexdigest()[:32]}"  # it limits names to a few characters
            self._collections[user] = self._client.get_or_create_collection(
                name, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
            )
        return self._collections[user]


def open_store(folder: Path, embedder: TimedEmbedder) -> ChromaStore:
    """Open what is in a folder."""
    return ChromaStore(folder, embedder)
