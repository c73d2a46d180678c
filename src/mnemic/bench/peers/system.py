"""A peer under test: the records' ``System`` over a process of its own, and what the speed benchmark asks of it."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, Self, cast

from mnemic.algo import render
from mnemic.bench.peers import bootstrap
from mnemic.bench.peers.embedding import embedder
from mnemic.bench.peers.environment import CACHE, prepare
from mnemic.bench.peers.recipes import Recipe, environment, recipe
from mnemic.bench.peers.wire import Answer, Connection, Item, PeerFailed
from mnemic.bench.records import DEPTHS, Built, Found, Hit, Level, Question
from mnemic.bench.systems.documents import TEXT, documents, message_index
from mnemic.importers import Conversation
from mnemic.types import Json, Turn

_QUESTION: Final = "as asked, names included"
_ANY_QUESTION: Final = "What happened last?"


class Peer:
    """One peer, with a process of its own that starts at once.

    Args:
        recipe: Which one.
        command: Runs its process; the folder of its data is added to it.
        fingerprint: Of the embedder that it must have.
        level: What one item is: a turn, or a trace as mnemic packs it.
        answer: Answers what it asks; None where it may ask nothing.
        start_timeout_s: For starting and loading.
        search_timeout_s: For one search, and one item added.
        item_timeout_s: For each further item loaded.

    Raises:
        PeerFailed: It does not start, or it embeds with something else.
    """

    def __init__(
        self,
        recipe: Recipe,
        command: Sequence[str],
        *,
        fingerprint: str,
        level: Level = "turn",
        answer: Answer | None = None,
        start_timeout_s: float = 300.0,
        search_timeout_s: float = 120.0,
        item_timeout_s: float = 0.2,
    ) -> None:
        self._recipe = recipe
        self._fingerprint = fingerprint
        self._level: Level = level
        self._answer = answer
        self._start_timeout_s = start_timeout_s
        self._search_timeout_s = search_timeout_s
        self._item_timeout_s = item_timeout_s
        self._folder = Path(tempfile.mkdtemp(prefix=f"mnemic-{recipe.name}-"))
        self._command = (*command, str(self._folder))
        self._hits: dict[str, list[Hit]] = {}  # an item's id is its place here
        self._versions: Mapping[str, Json] = {}
        try:
            self._connection = self._start()
        except BaseException:  # also Ctrl-C: nobody would remove it later
            shutil.rmtree(self._folder, ignore_errors=True)
            raise

    @property
    def name(self) -> str:
        """As in the reports."""
        return self._recipe.name

    @property
    def levels(self) -> tuple[Level, ...]:
        """The one it was made for."""
        return (self._level,)

    @property
    def configuration(self) -> Mapping[str, Json]:
        """Releases, settings, and what it is given as text."""
        return {
            **self._recipe.settings,
            "versions": dict(self._versions),
            "embedder": self._fingerprint,
            "item": self._level,
            "text": TEXT,
            "question": _QUESTION,
            "numeric_threads": 1,
        }

    def load(self, user_id: str, conversations: Sequence[Conversation]) -> Built:
        """Take in one user's conversations.

        Raises:
            PeerFailed: It failed or took too long.
        """
        held = documents(conversations, self._level)
        items = self._remember(user_id, held.hits, held.texts)
        timeout_s = self._search_timeout_s + self._item_timeout_s * len(items)
        cost = self._connection.request("load", timeout_s=timeout_s, user=user_id, items=cast(Json, items))
        return _built(cost, self.bytes_on_disk(), {f"{self._level}s": len(items)})

    def add_one(self, user_id: str, turn: Turn) -> Built:
        """Add one turn to what a user has; it can be found when this returns. ``bytes_on_disk`` is not measured.

        Raises:
            PeerFailed: It failed or took too long.
        """
        (item,) = self._turns(user_id, [turn])
        timeout_s = self._search_timeout_s
        return _built(self._connection.request("add_one", timeout_s=timeout_s, user=user_id, item=cast(Json, item)))

    def add_turns(self, user_id: str, turns: Sequence[Turn]) -> Built:
        """Add many turns to what a user has, as ``load`` would. ``bytes_on_disk`` is not measured.

        Raises:
            PeerFailed: It failed or took too long.
        """
        items = self._turns(user_id, turns)
        timeout_s = self._search_timeout_s + self._item_timeout_s * len(items)
        return _built(self._connection.request("load", timeout_s=timeout_s, user=user_id, items=cast(Json, items)))

    def search(self, question: Question, *, top_k: int, level: Level) -> Found:
        """Search the memory of the question's user.

        A question that must not see the end of the history (PersonaMem) is asked for more and more hits, until enough
        of them lie before it: the library's own filters differ too much to be trusted with that. Its times are those
        of the last of these searches.

        Raises:
            PeerFailed: It failed or took too long.
            ValueError: It is asked at a level that it was not made for.
        """
        if level != self._level:
            raise ValueError(f"{self.name} was made for the level {self._level!r}, not {level!r}")
        found = self.search_text(question.user_id, question.text, top_k)
        if question.end is None:
            return found
        asked, held = top_k, len(self._hits.get(question.user_id, ()))
        while len(seen := _before(found.hits, question.end)) < top_k and asked < held:
            asked *= 2
            found = self.search_text(question.user_id, question.text, asked)
        return replace(found, hits=seen[:top_k], relevance=None)

    def search_text(self, user_id: str, text: str, top_k: int = DEPTHS[-1]) -> Found:
        """The same with a bare question; ``relevance`` is the best hit's score.

        Raises:
            PeerFailed: It failed, took too long, or found what nobody gave it.
        """
        reply = self._connection.request(
            "search", timeout_s=self._search_timeout_s, user=user_id, query=text, top_k=top_k
        )
        found = cast(list[tuple[str, float]], reply["hits"])
        held = self._hits.get(user_id, [])
        try:
            hits = tuple(held[int(key)] for key, _ in found[:top_k])
        except (ValueError, IndexError) as error:
            raise PeerFailed(
                f"{self.name} found what is none of user {user_id!r}'s items ({error}); leave it out"
            ) from error
        return Found(
            hits,
            relevance=max((score for _, score in found), default=None),
            wall_ms=1000 * _seconds(reply, "wall_s"),
            cpu_ms=1000 * _seconds(reply, "cpu_s"),
            embedding_cpu_ms=1000 * _seconds(reply, "embedding_cpu_s"),
        )

    def rss_mb(self) -> float:
        """Resident memory of its process now, in MB (1e6 bytes), interpreter, libraries and embedder included."""
        return _seconds(self._stats(), "rss_mb")

    def bytes_on_disk(self) -> int:
        """Of its data; of a peer that saves when it ends, as of its last end."""
        return int(_seconds(self._stats(), "bytes"))

    def restart(self) -> float | None:
        """End its process, start another over the same data, and have it answer a question.

        Returns:
            Wall seconds from the start of the process (imports, embedder and index) to the first answer. None, and
            nothing is done, where the peer keeps nothing on disk or has nothing to search.

        Raises:
            PeerFailed: It failed or took too long.
        """
        if not self._recipe.persistent or not self._hits:
            return None
        self._connection.request("close", timeout_s=self._start_timeout_s)  # what is not saved would not be found
        self._connection.close()
        started = time.perf_counter()
        self._connection = self._start()
        self.search_text(next(iter(self._hits)), _ANY_QUESTION)
        return time.perf_counter() - started

    def close(self) -> None:
        """End its process and remove its data; safe to call twice."""
        try:
            self._connection.close()
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self) -> Connection:
        connection = Connection(
            self.name,
            self._command,
            folder=self._folder,
            environment=environment(str(self._folder)),
            answer=self._answer,
        )
        try:
            packages = cast(Json, list(self._recipe.packages))
            hello = connection.request("hello", timeout_s=self._start_timeout_s, packages=packages)
            self._check_embedder(str(hello.get("fingerprint")))
        except BaseException:  # also Ctrl-C: the process must not stay behind
            connection.kill()
            raise
        self._versions = cast(dict[str, Json], hello["versions"])
        return connection

    def _check_embedder(self, fingerprint: str) -> None:
        if fingerprint != self._fingerprint:
            raise PeerFailed(
                f"{self.name} embeds with {fingerprint}, not with {self._fingerprint}: its figures would say nothing "
                "beside the others'; remove its environment, and it is installed anew"
            )

    def _stats(self) -> dict[str, Json]:
        return self._connection.request("stats", timeout_s=self._search_timeout_s)

    def _turns(self, user_id: str, turns: Sequence[Turn]) -> list[Item]:
        hits = [Hit((turn.turn_id,), turn.session_id, render.line(turn, 0, len(turn.text))) for turn in turns]
        items = self._remember(user_id, hits, [f"{turn.speaker}: {turn.text}" for turn in turns])
        for item, turn in zip(items, turns, strict=True):
            item["speaker"] = turn.speaker
            item["said_at"] = turn.timestamp.isoformat() if turn.timestamp else None
        return items

    def _remember(self, user_id: str, hits: Sequence[Hit], texts: Sequence[str]) -> list[Item]:
        """What the peer is given; the words that a reader sees stay here."""
        held = self._hits.setdefault(user_id, [])
        first = len(held)
        held.extend(hits)
        return [
            {"id": str(number), "session": hit.session_id, "text": text}
            for number, (hit, text) in enumerate(zip(hits, texts, strict=True), first)
        ]


def open_peer(
    name: str,
    *,
    cache: Path = CACHE,
    level: Level = "turn",
    embedding: str = "local",
    limit_s: float | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Peer:
    """A peer by its name, installed where it is not yet.

    Args:
        name: One of ``recipes.RECIPES``.
        cache: Folder of the environments.
        level: What one item is.
        embedding: The embedder, as ``embedding.embedder`` names it.
        limit_s: For one request, however much it is, instead of the limits of ``Peer``; starting keeps its own.
        say: Told, in a sentence, of what takes long.

    Raises:
        InvalidInput: There is none of that name.
        PeerFailed: It cannot be installed, or does not start.
    """
    chosen = recipe(name)
    return open_with(str(prepare(chosen, cache, say=say)), chosen, level=level, embedding=embedding, limit_s=limit_s)


def open_with(
    interpreter: str, chosen: Recipe, *, level: Level = "turn", embedding: str = "local", limit_s: float | None = None
) -> Peer:
    """A peer whose packages are there already; see ``open_peer``.

    Args:
        interpreter: Python of its environment.
        chosen: Its recipe.
        level: See there.
        embedding: See there.
        limit_s: See there.

    Raises:
        PeerFailed: It does not start.
    """
    command = command_of(interpreter, chosen, embedding)
    fingerprint = embedder(embedding).fingerprint
    if limit_s is None:
        return Peer(chosen, command, fingerprint=fingerprint, level=level)
    return Peer(chosen, command, fingerprint=fingerprint, level=level, search_timeout_s=limit_s, item_timeout_s=0.0)


def command_of(interpreter: str, chosen: Recipe, embedding: str) -> tuple[str, ...]:
    """What runs a peer's process; the folder of its data is still to be added."""
    return (interpreter, "-I", bootstrap.__file__, chosen.adapter, embedding)


def _before(hits: Sequence[Hit], end: int) -> tuple[Hit, ...]:
    """The hits that hold only messages with an index below ``end``."""
    return tuple(hit for hit in hits if (last := message_index(hit.turn_ids[-1])) is not None and last < end)


def _built(cost: Mapping[str, Json], bytes_on_disk: int = 0, counts: Mapping[str, int] | None = None) -> Built:
    return Built(
        wall_s=_seconds(cost, "wall_s"),
        cpu_s=_seconds(cost, "cpu_s"),
        embedding_cpu_s=_seconds(cost, "embedding_cpu_s"),
        bytes_on_disk=bytes_on_disk,
        counts=counts or {},
    )


def _seconds(reply: Mapping[str, Json], field: str) -> float:
    return float(cast(float, reply[field]))
