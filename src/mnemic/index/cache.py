"""The indexes of many users, kept in memory up to a number of bytes, each as fresh as its rows."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock, RLock
from typing import TYPE_CHECKING

from mnemic.index.user_index import UserIndex

if TYPE_CHECKING:
    from mnemic.algo.graph import Graph
    from mnemic.protocols import Store


@dataclass(slots=True)
class _Entry:
    lock: RLock = field(default_factory=RLock)
    index: UserIndex | None = None
    dim: int = -1


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
    def graph(self, user_id: str, *, dim: int) -> Generator[Graph]:
        """The user's arrays, brought up to the committed revision, for the duration of the block.

        Args:
            user_id: Whose.
            dim: Length of the vectors that the database holds; another than before starts afresh.
        """
        with self._lock:
            entry = self._entries.setdefault(user_id, _Entry())
            self._entries.move_to_end(user_id)
        with entry.lock:
            self._refresh(user_id, entry, dim)
            assert entry.index is not None
            yield entry.index.graph()
        self._evict(user_id)

    def _refresh(self, user_id: str, entry: _Entry, dim: int) -> None:
        if entry.index is None or entry.dim != dim or entry.index.is_mostly_dead:
            entry.index, entry.dim = UserIndex(dim), dim
        if self._store.revision(user_id) != entry.index.revision:
            delta = self._store.load(user_id, since=entry.index.revision)
            entry.index.apply(delta)

    def forget(self, user_id: str) -> None:
        """Drop a user's index."""
        with self._lock:
            self._entries.pop(user_id, None)

    @property
    def nbytes(self) -> int:
        """Bytes of all indexes held."""
        with self._lock:
            return sum(entry.index.nbytes for entry in self._entries.values() if entry.index)

    def __len__(self) -> int:
        return len(self._entries)

    def _evict(self, keep: str) -> None:
        with self._lock:
            sizes = {user: entry.index.nbytes for user, entry in self._entries.items() if entry.index}
            held = sum(sizes.values())
            for user in list(self._entries):
                if held <= self._max_bytes:
                    break
                if user != keep:
                    held -= sizes.get(user, 0)
                    del self._entries[user]
