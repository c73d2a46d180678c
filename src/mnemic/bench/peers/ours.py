"""mnemic itself, behind the same wire as the peers, so that the same code measures it: for the speed benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from mnemic import Memory
from mnemic.bench.cost import TimedEmbedder
from mnemic.bench.peers.recipes import Recipe
from mnemic.bench.peers.serve import OpenStore
from mnemic.bench.peers.wire import Item
from mnemic.bench.systems.named import OURS, Variant
from mnemic.errors import EmbeddingFailed


class OurStore:
    """A ``serve.Store`` over mnemic: one database for all users, as a service has it."""

    def __init__(self, folder: Path, embedder: TimedEmbedder, variant: Variant) -> None:
        self._config = variant.config
        self._memory = Memory.open(
            folder / "memory.db",
            embedder=embedder if variant.dense else None,
            cue_extractor=variant.extractor,
        )

    def add(self, user: str, items: Sequence[Item]) -> None:
        """Add items: one ``add`` for each run of them that is of one session.

        Raises:
            EmbeddingFailed: Something could not be embedded.
        """
        for session, said in groupby(items, key=lambda item: item["session"]):
            added = self._memory.add([_message(item) for item in said], user_id=user, session_id=session)
            if added.warnings:
                raise EmbeddingFailed(f"user {user!r}, session {session!r}: {added.warnings[0]}")

    def search(self, user: str, query: str, top_k: int) -> list[tuple[str, float]]:
        """Its own score, best first; of a hit's turns the first stands for it.

        Raises:
            EmbeddingFailed: The question could not be embedded.
        """
        found = self._memory.search(query, user_id=user, top_k=top_k, config=self._config)
        if found.warnings:
            raise EmbeddingFailed(f"{query!r}: {found.warnings[0]}")
        return [(hit.turn_ids[0], hit.score) for hit in found.results]

    def close(self) -> None:
        """Close the database."""
        self._memory.close()


def _message(item: Item) -> dict[str, str]:
    speaker, said_at = item.get("speaker"), item.get("said_at")
    message = {"role": "user", "id": item["id"], "content": item["text"]}
    if speaker is not None:
        message |= {"name": speaker, "content": item["text"].removeprefix(f"{speaker}: ")}
    return message if said_at is None else {**message, "timestamp": said_at}


def variant(name: str) -> OpenStore:
    """Opens what is in a folder, under the configuration of a name in ``systems.named.OURS``."""
    return lambda folder, embedder: OurStore(folder, embedder, OURS[name])


def recipe(name: str) -> Recipe:
    """How mnemic runs as a peer, under the configuration of a name in ``systems.named.OURS``."""
    settings = {
        "add": "one call for each session when growing, one message a call when measuring",
        "search": "whole traces",
        "users": "one database",
    }
    return Recipe(name, f"ours:{name}", (), (), settings)
