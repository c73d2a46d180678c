"""txtai's hybrid index: faiss and BM25, half and half, with the content in SQLite; an index a user."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from mnemic.bench.cost import TimedEmbedder
from mnemic.bench.peers.wire import Item

if TYPE_CHECKING:
    from mnemic.protocols import Floats

_SQL: Final = "select"
_AS_SQL: Final = "select id, score from txtai where similar(:question)"
"""A bare question that begins as SQL does would be taken for it; as a parameter it is safe, and a third slower."""

_Rows = list[tuple[str, str, None]]


class Index(Protocol):
    """The part of ``txtai.Embeddings`` that is used."""

    def index(self, documents: _Rows) -> None:
        """Begin with these documents."""
        ...

    def upsert(self, documents: _Rows) -> None:
        """Add documents."""
        ...

    def search(self, query: str, limit: int, *, parameters: Mapping[str, str] | None = None) -> list[Mapping[str, Any]]:
        """The best of a query: ``id``, ``score`` and more."""
        ...

    def count(self) -> int:
        """How many documents there are."""
        ...

    def save(self, path: str) -> None:
        """Write everything."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...


class TxtaiStore:
    """A ``serve.Store`` over txtai."""

    def __init__(self, folder: Path, embedder: TimedEmbedder) -> None:
        self._txtai: Any = importlib.import_module("txtai")
        self._folder = folder / "txtai"
        self._embedder = embedder
        self._indexes: dict[str, Index] = {}
        self._changed: set[str] = set()

    def add(self, user: str, items: Sequence[Item]) -> None:
        """Index the first items of a user at once, add later ones."""
        rows = [(item["id"], item["text"], None) for item in items]
        index = self._index(user)
        (index.upsert if index.count() else index.index)(rows)
        self._changed.add(user)

    def search(self, user: str, query: str, top_k: int) -> list[tuple[str, float]]:
        """Its own weighted sum, best first."""
        index = self._index(user)
        if query.lstrip().lower().startswith(_SQL):
            found = index.search(_AS_SQL, top_k, parameters={"question": query})
        else:
            found = index.search(query, top_k)
        return [(hit["id"], float(hit["score"])) for hit in found]

    def close(self) -> None:
        """Save what changed."""
        for user in sorted(self._changed):
            self._indexes[user].save(str(self._place(user)))
        for index in self._indexes.values():
            index.close()
        self._indexes.clear()
        self._changed.clear()

    def _index(self, user: str) -> Index:
        if user not in self._indexes:
            self._indexes[user] = self._open(self._place(user))
        return self._indexes[user]

    def _open(self, place: Path) -> Index:
        def transform(texts: Sequence[str]) -> Floats:
            return self._embedder.embed(texts)

        settings = {"method": "external", "transform": transform}
        if place.is_dir():
            return cast(Index, self._txtai.Embeddings().load(str(place), config=settings))
        return cast(Index, self._txtai.Embeddings({**settings, "hybrid": True, "content": True}))

    def _place(self, user: str) -> Path:
        return self._folder / hashlib.sha256(user.encode()).hexdigest()[:32]


def open_store(folder: Path, embedder: TimedEmbedder) -> TxtaiStore:
    """Open what is in a folder."""
    return TxtaiStore(folder, embedder)
