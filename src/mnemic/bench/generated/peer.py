"""A peer that makes memories of its own with a language model: mem0 with ``infer=True``.

Its process has no key and no connection: what it asks of its model comes over the wire, and is asked, kept and counted
here, of whatever provider. A memory's turns are all messages of the call that it was extracted from, because the
library does not say which of them it rests on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import cast

from mnemic.algo import render
from mnemic.bench.generated.model import MemoryModel
from mnemic.bench.peers.embedding import embedder
from mnemic.bench.peers.environment import CACHE, prepare
from mnemic.bench.peers.recipes import Recipe, recipe
from mnemic.bench.peers.serve import Made
from mnemic.bench.peers.system import Peer, command_of
from mnemic.bench.peers.wire import Item
from mnemic.bench.records import Built, Hit
from mnemic.bench.systems.documents import turns_of
from mnemic.importers import Conversation
from mnemic.protocols import Completion
from mnemic.types import Json, Turn


class GeneratingPeer(Peer):
    """One peer that writes memories. Its hits are these, so it has the level of things that show several turns.

    Args:
        recipe: Which one.
        command: Runs its process; the folder of its data is added to it.
        fingerprint: Of the embedder that it must have.
        model: What it asks.

    Raises:
        PeerFailed: It does not start, or it embeds with something else.
    """

    def __init__(self, recipe: Recipe, command: Sequence[str], *, fingerprint: str, model: MemoryModel) -> None:
        self._model = model
        super().__init__(recipe, command, fingerprint=fingerprint, level="trace", answer=self._reply)

    @property
    def configuration(self) -> Mapping[str, Json]:
        """That of the peer, with who writes its memories."""
        return {**super().configuration, "item": "message", "writer": self._model.name}

    def load(self, user_id: str, conversations: Sequence[Conversation]) -> Built:
        """Take in one user's conversations, one after the other: no memory comes of two of them.

        Raises:
            LanguageModelFailed: No reply came, or the memory took its limit of tokens.
            PeerFailed: It failed or took too long.
        """
        self._model.begin()
        memories = self._hits.setdefault(user_id, [])
        costs: list[Mapping[str, Json]] = []
        turns = [turn for conversation in conversations for turn in self._said(user_id, conversation, costs)]
        wall, cpu, embedding = (sum(cast(float, cost[key]) for cost in costs) for key in _TIMES)
        return Built(
            wall,
            cpu,
            embedding_cpu_s=embedding,
            bytes_on_disk=self.bytes_on_disk(),
            counts={"turns": len(turns), "memories": len(memories)},
            usage=self._model.usage,
        )

    def close(self) -> None:
        """End its process and remove its data; the replies stay on disk."""
        try:
            super().close()
        finally:
            self._model.close()

    def _said(self, user_id: str, conversation: Conversation, costs: list[Mapping[str, Json]]) -> list[Turn]:
        """Have it take in one conversation, and remember what it made of it."""
        turns = turns_of(conversation)
        timeout_s = self._search_timeout_s + self._item_timeout_s * len(turns)
        items = cast(Json, [_item(place, turn) for place, turn in enumerate(turns)])
        cost = self._connection.request("load", timeout_s=timeout_s, user=user_id, items=items)
        self._hits[user_id] += [_hit(made, turns) for made in cast(list[Made], cost["made"])]
        for _ in range(cast(int, cost["unreadable"])):
            self._model.unreadable("notes")
        costs.append(cost)
        return turns

    def _reply(self, asked: Mapping[str, Json]) -> Mapping[str, Json]:
        tokens = cast(int, asked["max_tokens"])
        request = Completion("notes", str(asked["system"]), str(asked["user"]), tokens)
        return {"text": self._model.ask(request).text}


_TIMES = ("wall_s", "cpu_s", "embedding_cpu_s")


def _item(place: int, turn: Turn) -> Item:
    return {
        "id": str(place),
        "session": turn.session_id,
        "text": f"{turn.speaker}: {turn.text}",
        "role": turn.role,
        "speaker": turn.speaker,
        "said_at": turn.timestamp.isoformat() if turn.timestamp else None,
    }


def _hit(made: Made, turns: Sequence[Turn]) -> Hit:
    """A memory as a reader sees it: with the date of the messages that it came from."""
    said = [turns[int(source)] for source in made["sources"]]
    text = f"Memory ({render.moment(said[0].timestamp)}): {render.one_line(made['text'])}"
    return Hit(tuple(turn.turn_id for turn in said), said[0].session_id, text)


def open_generating(
    name: str, model: MemoryModel, *, cache: Path = CACHE, say: Callable[[str], None] = lambda _: None
) -> GeneratingPeer:
    """A peer by its name, installed where it is not yet.

    Args:
        name: One of ``recipes.GENERATING``.
        model: What it asks; closed with it, or at once where it does not start.
        cache: Folder of the environments.
        say: Told, in a sentence, of what takes long.

    Raises:
        InvalidInput: There is none of that name.
        PeerFailed: It cannot be installed, or does not start.
    """
    try:
        chosen = recipe(name)
        command = command_of(str(prepare(chosen, cache, say=say)), chosen, "local")
        return GeneratingPeer(chosen, command, fingerprint=embedder().fingerprint, model=model)
    except BaseException:  # also Ctrl-C: nobody would close it later
        model.close()
        raise
