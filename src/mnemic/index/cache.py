"""The indexes of many users, kept in memory up to a number of bytes, each as fresh as its rows."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Collection, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock, RLock
from typing import TYPE_CHECKING, Final

from mnemic.errors import StoreError
from mnemic.index.telling import told
from mnemic.index.user_index import UserIndex
from mnemic.telemetry import span

if TYPE_CHECKING:
    from mnemic.algo.graph import Graph
    from mnemic.index.snapshots import Snapshots
    from mnemic.protocols import EmbedderRecord, Mark, Store


_log = logging.getLogger("mnemic")

_TURNS_WORTH: Final = 1000
"""Of fewer, the rows are read as fast."""
_GROWN: Final = 16
"""A snapshot is written anew when so large a part of the user's turns came since: that much is read from the rows."""
_GROWN_AT_CLOSE: Final = 128
"""The same at the end of a process, when nobody waits."""
_SPARED: Final = 0.9
"""What is held of ``max_bytes`` after users were put out: room for some to come in, who put nobody out again."""


@dataclass(slots=True)
class _Entry:
    lock: RLock = field(default_factory=RLock)
    index: UserIndex | None = None
    embedder: EmbedderRecord | None = None
    nbytes: int = 0
    weighed: int = -1
    kept_turns: int | None = None


class Indexes:
    """Least recently used out first. One user's searches wait for each other; those of two users do not.

    Args:
        store: Where the rows are.
        max_bytes: Bound on the sum of ``UserIndex.nbytes``; the one in use stays, however large.
        snapshots: Where large indexes are kept for the next process; None keeps none.
    """

    def __init__(self, store: Store, *, max_bytes: int, snapshots: Snapshots | None = None) -> None:
        self._store = store
        self._max_bytes = max_bytes
        self._snapshots = snapshots
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._held = 0  # the sum over the entries: adding it up for each search would take longer than small ones do
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
            self._weigh(user_id, entry, index)
            yield graph, entry.embedder
            self._try_keep(user_id, entry, _GROWN)
        self._evict(user_id)

    def _refresh(self, user_id: str, entry: _Entry) -> UserIndex:
        index = entry.index
        if index is not None and not index.is_mostly_dead and self._store.revision(user_id) == index.revision:
            return index
        embedder = self._store.embedder()
        # Vectors of two embedders cannot be mixed: changing it starts afresh (and changes every user's revision).
        if index is None:
            index = self._restored(user_id, embedder)
            entry.kept_turns = None if index is None else index.turns
        elif index.is_mostly_dead or embedder != entry.embedder:
            index = None
        if index is None:
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

    def _restored(self, user_id: str, embedder: EmbedderRecord | None) -> UserIndex | None:
        """What the last process left of an index, to be brought up to date."""
        fingerprint = embedder.fingerprint if embedder else None

        def fits(mark: Mark, made_by: str | None) -> bool:
            return made_by == fingerprint and self._store.follows(user_id, mark)

        return None if self._snapshots is None else self._snapshots.read(user_id, fits)

    def _try_keep(self, user_id: str, entry: _Entry, grown: int) -> None:
        """``_keep``; what was answered stays answered."""
        try:
            self._keep(user_id, entry, grown)
        except StoreError as error:
            _log.warning("no snapshot of an index is kept: %s", error)

    def _keep(self, user_id: str, entry: _Entry, grown: int) -> None:
        """Write a snapshot for the next process where a good part of a large index is in none."""
        index = entry.index
        if self._snapshots is None or index is None or index.turns < _TURNS_WORTH:
            return
        kept = entry.kept_turns
        if kept is not None and 0 <= (index.turns - kept) * grown < index.turns:
            return
        mark = self._store.mark(user_id)
        if mark.revision != index.revision:
            return  # somebody is writing; another search keeps it
        entry.kept_turns = index.turns
        fingerprint = entry.embedder.fingerprint if entry.embedder else None
        self._snapshots.write(user_id, index, mark, fingerprint)
        if not self._store.follows(user_id, mark):
            # Erased while it was written, perhaps too late for whoever erased to find it.
            self._snapshots.forget(user_id)

    def forget(self, user_id: str) -> None:
        """Drop a user's index, here and on disk: words were erased. Raises StoreError where the file stays."""
        with self._lock:
            self._drop(user_id)
        if self._snapshots is not None:
            self._snapshots.forget(user_id)

    def close(self) -> None:
        """Leave snapshots of what has grown."""
        for user_id, entry in list(self._entries.items()):
            with entry.lock:
                self._try_keep(user_id, entry, _GROWN_AT_CLOSE)
        with self._lock:
            self._entries.clear()
            self._held = 0

    @property
    def nbytes(self) -> int:
        """Bytes of all indexes held."""
        return self._held

    def __len__(self) -> int:
        return len(self._entries)

    def _weigh(self, user_id: str, entry: _Entry, index: UserIndex) -> None:
        """Count what an index takes now, unless it was put out meanwhile."""
        if entry.weighed == index.revision:
            return
        nbytes = index.nbytes
        with self._lock:
            if self._entries.get(user_id) is entry:
                self._held += nbytes - entry.nbytes
                entry.nbytes, entry.weighed = nbytes, index.revision

    def _drop(self, user_id: str) -> None:
        entry = self._entries.pop(user_id, None)
        self._held -= entry.nbytes if entry else 0

    def _evict(self, keep: str) -> None:
        with self._lock:
            if self._held <= self._max_bytes:
                return
            for user in list(self._entries):
                if self._held <= _SPARED * self._max_bytes:
                    break
                if user != keep:
                    self._drop(user)
