"""The peer's side of the wire: reads requests from standard input, has the adapter do them, and measures.

Requests and replies (``wire``), times in seconds of this process, its children and all its threads included:

* ``hello {packages}`` -> ``{versions, fingerprint}``: opens the store and loads the embedder.
* ``load {user, items}``, ``add_one {user, item}`` -> ``{wall_s, cpu_s, embedding_cpu_s}``; of a store that makes
  memories of its own also ``{made: [{text, sources}, …], unreadable}``, which from then on have the next numbers of
  that user as their ids.
* ``search {user, query, top_k}`` -> ``{hits: [[id, score], …], wall_s, cpu_s, embedding_cpu_s}``.
* ``stats {}`` -> ``{rss_mb, bytes}``.
* ``close {}`` -> ``{}``, and the process ends. So it does where the input ends.
"""

from __future__ import annotations

import importlib.metadata
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Protocol, TypedDict, cast

from mnemic.bench.cost import Stopwatch, TimedEmbedder, resident_mb
from mnemic.bench.peers.wire import LOG, Item, PeerFailed, decode, encode
from mnemic.models import registry
from mnemic.types import Json

if TYPE_CHECKING:
    from mnemic.protocols import Embedder

_LOCAL: Final = ("127.0.0.1", "::1", "localhost", None)


class Made(TypedDict):
    """A memory that a library made of items: its words, and the ids of all items that it may come from."""

    text: str
    sources: list[str]


@dataclass(frozen=True, slots=True)
class Making:
    """What a library made of items.

    Attributes:
        made: Memories; from now on their ids are the next numbers of that user, from 0.
        unreadable: How often it failed at what a language model replied.
    """

    made: tuple[Made, ...] = ()
    unreadable: int = 0


class Store(Protocol):
    """What an adapter makes of its library: several users' items, each user's searched apart."""

    def add(self, user: str, items: Sequence[Item]) -> Making | None:
        """Add new items, findable when it returns; None where they are found as they are, by their own ids."""
        ...

    def search(self, user: str, query: str, top_k: int) -> Sequence[tuple[str, float]]:
        """Ids of a user's items, best first, with their scores: higher is better."""
        ...

    def close(self) -> None:
        """Write what is not on disk yet."""
        ...


OpenStore = Callable[[Path, TimedEmbedder], Store]
"""From a folder and the embedder to the store that opens what is there."""
Ask = Callable[[Mapping[str, Json]], Mapping[str, Json]]
"""From a question to the other side to its answer."""
OpenAsking = Callable[[Path, TimedEmbedder, Ask], Store]
"""The same, for a store that asks the other side."""


def serve(open_store: OpenStore, folder: Path, *, embedder: Embedder | None = None) -> None:
    """Answer requests until ``close``, or the end of the input.

    Args:
        open_store: The adapter's.
        folder: Where the store keeps its data: it opens what is there.
        embedder: Instead of ``local``.
    """
    serve_asking(lambda folder, embedder, _: open_store(folder, embedder), folder, embedder=embedder)


def serve_asking(open_store: OpenAsking, folder: Path, *, embedder: Embedder | None = None) -> None:
    """The same, for a store that asks the other side while it works on a request."""
    requests, replies = _own_streams()
    sys.addaudithook(_stay_offline)

    def ask(question: Mapping[str, Json]) -> Mapping[str, Json]:
        replies.write(encode({"ask": question}))
        replies.flush()
        answer = (decode(requests.readline()) or {}).get("answer")
        if not isinstance(answer, dict):
            raise PeerFailed("the other side left without an answer")
        return answer

    def opened(folder: Path, embedder: TimedEmbedder) -> Store:
        return open_store(folder, embedder, ask)

    session = _Session(opened, folder, embedder)
    for line in requests:
        request = decode(line) or {}
        op = str(request.pop("op", ""))
        try:
            reply: dict[str, object] = {"ok": session.answer(op, request)}
        except Exception as error:  # noqa: BLE001 - whatever the library raises is this request's answer
            reply = {"error": f"{type(error).__name__}: {error}"}
        replies.write(encode(reply))
        replies.flush()
        if op == "close":
            return
    session.close()


class _Session:
    """One process's life: the store, opened by ``hello``, and its embedder."""

    def __init__(self, open_store: OpenStore, folder: Path, embedder: Embedder | None) -> None:
        self._open_store = open_store
        self._folder = folder
        self._embedder = embedder
        self._timed_embedder: TimedEmbedder | None = None
        self._store: Store | None = None

    def answer(self, op: str, request: dict[str, Json]) -> dict[str, Json]:
        """Do what a request says. Raises whatever the library does, ValueError for an unknown ``op``."""
        if op == "hello":
            return self._hello(cast(list[str], request["packages"]))
        if op == "stats":
            return {"rss_mb": resident_mb(), "bytes": _bytes(self._folder)}
        if op == "close":
            self.close()
            return {}
        user = str(request["user"])
        if op == "load":
            return self._add(user, cast(list[Item], request["items"]))
        if op == "add_one":
            return self._add(user, [cast(Item, request["item"])])
        if op == "search":
            query, top_k = str(request["query"]), cast(int, request["top_k"])
            hits: list[Json] = []
            cost = self._timed(lambda store: hits.extend([i, float(s)] for i, s in store.search(user, query, top_k)))
            return {"hits": hits, **cost}
        raise ValueError(f"no operation is called {op!r}")

    def close(self) -> None:
        """Close the store; safe to call twice."""
        store, self._store = self._store, None
        if store is not None:
            store.close()

    def _hello(self, packages: list[str]) -> dict[str, Json]:
        embedder = self._embedder or registry.embedder("local")
        assert embedder is not None
        embedder.embed(["hello"])  # loads it, so that it is in no later figure
        self._timed_embedder = TimedEmbedder(embedder)
        self._store = self._open_store(self._folder, self._timed_embedder)
        versions: dict[str, Json] = {package: importlib.metadata.version(package) for package in packages}
        return {"versions": versions, "fingerprint": embedder.fingerprint}

    def _add(self, user: str, items: Sequence[Item]) -> dict[str, Json]:
        making: list[Making | None] = []
        cost = self._timed(lambda store: making.append(store.add(user, items)))
        return cost if making[0] is None else {**cost, **cast(dict[str, Json], asdict(making[0]))}

    def _timed(self, act: Callable[[Store], None]) -> dict[str, Json]:
        if self._store is None or self._timed_embedder is None:
            raise ValueError("hello comes first")
        embedding, children = self._timed_embedder.cpu_s, _children_s()
        with Stopwatch() as watch:
            act(self._store)
        return {
            "wall_s": watch.wall_s,
            "cpu_s": watch.cpu_s + _children_s() - children,
            "embedding_cpu_s": self._timed_embedder.cpu_s - embedding,
        }


def _own_streams() -> tuple[BinaryIO, BinaryIO]:
    """Standard input and output, for the wire alone: what libraries print, native code too, goes to standard error."""
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return sys.stdin.buffer, replies


def _stay_offline(event: str, args: tuple[object, ...]) -> None:
    """Audit hook: no connection leaves this machine, whatever a library would like to report or download."""
    if event == "socket.getaddrinfo":
        host = args[0]
    elif event in ("socket.connect", "socket.sendto") and isinstance(args[1], tuple):
        host = cast(tuple[object, ...], args[1])[0]
    else:
        return
    if host not in _LOCAL:
        raise ConnectionRefusedError(f"a peer under test stays offline: {event} {host!r}")


def _children_s() -> float:
    """CPU seconds of children that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def _bytes(folder: Path) -> int:
    """Of all files below a folder but the log."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.name != LOG)
