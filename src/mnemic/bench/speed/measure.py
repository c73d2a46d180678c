"""Measures one system at one size: adding, searching, restarting, memory, disk."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from mnemic.bench.peers.system import Peer
from mnemic.bench.peers.wire import PeerFailed
from mnemic.bench.speed import dialogue
from mnemic.types import Json

Measured = dict[str, Json]
_Cost = tuple[float, float, float]
"""Milliseconds: CPU, wall, and those of the CPU that were spent embedding."""
_BATCH: Final = 10 * dialogue.SESSION


class Measuring:
    """One process under measurement, from size to size.

    Args:
        peer: The system, empty.
        queries: Searches at each size.
        adds: Turns added one by one at each size, each followed by a search.
        seed: Of the dialogues.
        limit_s: For one size.
        progress: Called with the number of turns added since; may raise to end it.
    """

    def __init__(
        self, peer: Peer, *, queries: int, adds: int, seed: int, limit_s: float, progress: Callable[[int], None]
    ) -> None:
        self._peer = peer
        self._queries = queries
        self._adds = adds
        self._seed = seed
        self._limit_s = limit_s
        self._progress = progress
        self._ends = 0.0
        self._held: dict[str, int] = {}  # user -> turns

    def measure(self, users: int, turns: int) -> Measured:
        """Grow to a size and measure there.

        Args:
            users: How many, at least as many as before.
            turns: Of each; who has more already keeps them.

        Returns:
            * ``add_one_ms``: median CPU time of adding one turn, without embedding it;
            * ``search_cpu_ms``: CPU time of a search without embedding the question, ``{"p50", "p95"}``;
            * ``search_wall_ms``: the median by the clock, embedding included;
            * ``search_after_add_ms``: median CPU time, without embedding, of the first search after an add, which may
              have to bring an index up to date;
            * ``restart_ms``: from a new process to its first answer; null where nothing is kept on disk;
            * ``rss_mb``: resident memory of a process started at this size, after all these searches and adds;
            * ``bytes``: on disk;
            * ``load``: growing since the size before, ``{"turns", "wall_s", "cpu_s", "embedding_cpu_s"}``;
            * ``add_one``, ``search``, ``search_after_add``: ``{"cpu_ms", "wall_ms",
              "cpu_ms_without_embedding", "wall_ms_without_embedding"}``, each time with p50 and p95. The wall time
              without embedding is the wall time less the embedder's CPU time.

        Raises:
            PeerFailed: It failed, or took longer than the limit.
        """
        self._ends = time.monotonic() + self._limit_s
        load = self._load([f"user-{number}" for number in range(users)], turns)
        restart_s = self._peer.restart()
        size = self._peer.bytes_on_disk()  # after a restart, for some save only when they end
        asked = self._asked(users)
        for user, question in dict(asked).items():  # a user's first search may load what the next ones have
            self._search(user, question)
        search = [self._search(user, question) for user, question in asked]
        add, after = self._add(list(dict(asked)))
        added, searched, searched_after = _costs(add), _costs(search), _costs(after)
        return {
            "add_one_ms": added["cpu_ms_without_embedding"]["p50"],
            "search_cpu_ms": {**searched["cpu_ms_without_embedding"]},
            "search_wall_ms": searched["wall_ms"]["p50"],
            "search_after_add_ms": searched_after["cpu_ms_without_embedding"]["p50"],
            "restart_ms": None if restart_s is None else 1000 * restart_s,
            "rss_mb": self._peer.rss_mb(),
            "bytes": size,
            "load": load,
            "add_one": _as_json(added),
            "search": _as_json(searched),
            "search_after_add": _as_json(searched_after),
        }

    def _load(self, users: Sequence[str], turns: int) -> Measured:
        """Give every user the turns that are still lacking, in batches: between them there is an end to be found."""
        number, wall_s, cpu_s, embedding_cpu_s = 0, 0.0, 0.0, 0.0
        for user in users:
            while (held := self._held.get(user, 0)) < turns:
                upto = min(held + _BATCH, turns)
                built = self._peer.add_turns(user, list(dialogue.turns(user, held, upto, seed=self._seed)))
                self._count(user, upto)
                number += upto - held
                wall_s, cpu_s = wall_s + built.wall_s, cpu_s + built.cpu_s
                embedding_cpu_s += built.embedding_cpu_s
        return {"turns": number, "wall_s": wall_s, "cpu_s": cpu_s, "embedding_cpu_s": embedding_cpu_s}

    def _add(self, users: Sequence[str]) -> tuple[list[_Cost], list[_Cost]]:
        """Turns added one by one for users who were asked before, and the search after each."""
        adds: list[_Cost] = []
        searches: list[_Cost] = []
        for place in _spread(self._adds, len(users)):
            user = users[place]
            held = self._held[user]
            [turn] = dialogue.turns(user, held, held + 1, seed=self._seed)
            built = self._peer.add_one(user, turn)
            adds.append((1000 * built.cpu_s, 1000 * built.wall_s, 1000 * built.embedding_cpu_s))
            self._count(user, held + 1)
            [question] = dialogue.questions(user, 1, held=held + 1, seed=self._seed)
            searches.append(self._search(user, question))
        return adds, searches

    def _asked(self, users: int) -> list[tuple[str, str]]:
        """Who asks what: users spread over all of them, each with questions of their own."""
        asking = Counter(f"user-{place}" for place in _spread(self._queries, users))
        return [
            (user, question)
            for user, number in asking.items()
            for question in dialogue.questions(user, number, held=self._held[user], seed=self._seed)
        ]

    def _search(self, user: str, question: str) -> _Cost:
        self._check()
        found = self._peer.search_text(user, question)
        if not found.hits:
            raise PeerFailed(f"it found nothing for {question!r}, of which there is something; its times say nothing")
        return found.cpu_ms, found.wall_ms, found.embedding_cpu_ms

    def _count(self, user: str, held: int) -> None:
        self._progress(held - self._held.get(user, 0))
        self._held[user] = held
        self._check()

    def _check(self) -> None:
        if time.monotonic() > self._ends:
            raise PeerFailed(f"it took longer than {self._limit_s:g} s at this size; give it more by --limit")


def _spread(number: int, users: int) -> list[int]:
    """Places of users, spread over all; some come again where there are fewer users than places."""
    return (
        [place * users // number for place in range(number)]
        if number <= users
        else [place % users for place in range(number)]
    )


def _costs(found: Sequence[_Cost]) -> dict[str, dict[str, float]]:
    """Quantiles of the times, whole and without embedding."""
    cpu, wall, embedding = np.array(found).T
    times = {
        "cpu_ms": cpu,
        "wall_ms": wall,
        "cpu_ms_without_embedding": cpu - embedding,
        "wall_ms_without_embedding": np.maximum(wall - embedding, 0.0),
    }
    return {
        name: {"p50": float(np.quantile(values, 0.5)), "p95": float(np.quantile(values, 0.95))}
        for name, values in times.items()
    }


def _as_json(costs: dict[str, dict[str, float]]) -> Json:
    return {name: {**quantiles} for name, quantiles in costs.items()}
