"""The indexes of many users, kept in memory up to a number of bytes, each as fresh as its rows."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock, RLock
from typing import TYPE_CHECKING

from mnemic.index.telling import told
from mnemic.index.user_index import UserIndex
from mnemic.telemetry import span

if TYPE_CHECKING:
    from mnemic.algo.graph import Graph
    from mnemic.protocols import EmbedderRecord, Store


@dataclass(slots=True)
class _Entry:
    lock: RLock = field(default_factory=RLock)
    index: UserIndex | None = None
    embedder: EmbedderRecord | None = None
    nbytes: int = 0


class Indexes:
    """Least recently used out first. One user's searches wait for each other; those of two users do not.

    Args:
        store: Where the rows are.
        max_bytes: Bound on the sum of ``UserIndex.nbytes``; the one in use stays, however large.
    """

    def __init__(self, store: Store, *, max_bytes: int) -> None:
        self._store = store
        self._max_bytes = max_bytes
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._lock = Lock()

    @contextmanager
    def graph(
        self, user_id: str, counting: Collection[tuple[str, int]] | None = None
    ) -> Generator[tuple[Graph, EmbedderRecord | None]]:
        """The user's arrays, brought up to the committed revision, for the duration of the block.

        With them the embedder that made their vectors; None when there are no vectors. With ``counting``, as if exactly
        these versions of notes counted (``UserIndex.graph_as``).
        """
        with self._lock:
            entry = self._entries.setdefault(user_id, _Entry())
            self._entries.move_to_end(user_id)
        with entry.lock:
            index = self._refresh(user_id, entry)
            graph = index.graph() if counting is None else index.graph_as(counting)
            entry.nbytes = index.nbytes
            yield graph, entry.embedder
        self._evict(user_id)

    def _refresh(self, user_id: str, entry: _Entry) -> UserIndex:
        index = entry.index
        if index is not None and not index.is_mostly_dead and self._store.revision(user_id) == index.revision:
            return index
        embedder = self._store.embedder()
        # Vectors of two embedders cannot be mixed: changing it starts afresh (and changes every user's revision).
        if index is None or index.is_mostly_dead or embedder != entry.embedder:
            index = UserIndex(embedder.dim if embedder else 0)
        delta = self._store.load(user_id, since=index.revision)
        if self._store.embedder() != embedder:
            return self._refresh(user_id, entry)
        entry.index = None  # an update that is cut halfway (no memory, Ctrl-C) leaves no index behind
        with span("mnemic.index.update", {"mnemic.turns": len(delta.turns), "mnemic.traces": len(delta.traces)}):
            index.apply(delta)
        entry.index, entry.embedder = index, embedder
        return index

    def differing(self) -> dict[str, list[str]]:
        """Users whose held index is not what one built anew is -> what of it differs; there should be none."""
        with self._lock:
            users = [user for user, entry in self._entries.items() if entry.index is not None]
        found = {user: self._differing(user) for user in users}
        return {user: names for user, names in found.items() if names}

    def _differing(self, user_id: str) -> list[str]:
        while True:
            with self.graph(user_id) as (graph, embedder):
                followed, revision = told(graph), self._store.revision(user_id)
                fresh = UserIndex(embedder.dim if embedder else 0)
                fresh.apply(self._store.load(user_id, since=0))
            held = self._entries.get(user_id)
            if held is None or held.index is None:
                return []  # erased or evicted meanwhile
            if fresh.revision == held.index.revision == revision and embedder == held.embedder:
                built = told(fresh.graph())
                return [name for name, value in followed.items() if built[name] != value]

    def forget(self, user_id: str) -> None:
        """Drop a user's index."""
        with self._lock:
            self._entries.pop(user_id, None)

    @property
    def nbytes(self) -> int:
        """Bytes of all indexes held."""
        with self._lock:
            return sum(entry.nbytes for entry in self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def _evict(self, keep: str) -> None:
        with self._lock:
            held = sum(entry.nbytes for entry in self._entries.values())
            for user in list(self._entries):
                if held <= self._max_bytes:
                    break
                if user != keep:
                    held -= self._entries.pop(user).nbytes
