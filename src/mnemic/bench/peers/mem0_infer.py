"""mem0 as it is meant to be used: with ``infer=True`` a language model extracts memories from messages.

Everything is mem0's own, its prompt and its reading of the replies included; its model and its embedder are ours. Two
things are done for it. Its prompt has a line for the day on which the messages were written, which this release fills
in with today, whatever it is given: it is told the messages' own day. And where it raises because a reply is not in the
shape that it expects, the next messages follow, as they would in a program that goes on; that is counted.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from mnemic.bench.cost import TimedEmbedder
from mnemic.bench.peers.mem0 import Mem0Store
from mnemic.bench.peers.serve import Ask, Made, Making
from mnemic.bench.peers.wire import Item

BATCH: Final = 2
"""Messages a call, as in mem0's own evaluation (methods.md section 3)."""
_TOKENS: Final = 2000  # of a reply: mem0's default
_NO_DAY: Final = "unknown"


class OurModel:
    """mem0's ``LLMBase`` over ours, as far as it is used."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def generate_response(self, messages: Sequence[Mapping[str, str]], **_: object) -> str:
        """The text of the reply to one prompt; what else is asked of it, JSON, its prompt asks for too."""
        said = {
            role: "\n\n".join(message["content"] for message in messages if (message["role"] == "system") is first)
            for role, first in (("system", True), ("user", False))
        }
        return str(self._ask({**said, "max_tokens": _TOKENS})["text"])


class InferringStore(Mem0Store):
    """A ``serve.Store`` over mem0 that makes memories of its own."""

    def __init__(self, folder: Path, embedder: TimedEmbedder, ask: Ask) -> None:
        super().__init__(folder, embedder)
        self._memory.llm = OurModel(ask)
        self._numbers: dict[str, dict[str, int]] = {}  # of a user: mem0's id -> ours
        self._day = _NO_DAY
        self._tell_the_day()

    def add(self, user: str, items: Sequence[Item]) -> Making:
        """Add items, two messages of one session a call."""
        made: list[Made] = []
        unreadable = 0
        numbers = self._numbers.setdefault(user, {})
        for _, said in groupby(items, key=lambda item: item["session"]):
            session = list(said)
            for first in range(0, len(session), BATCH):
                batch = session[first : first + BATCH]
                self._day = (batch[0].get("said_at") or _NO_DAY)[:10]
                try:
                    added = self._memory.add([_message(item) for item in batch], user_id=user, infer=True)
                except (AttributeError, TypeError):
                    unreadable += 1
                    continue
                for memory in added["results"]:
                    numbers[str(memory["id"])] = len(numbers)
                    made.append({"text": str(memory["memory"]), "sources": [item["id"] for item in batch]})
        return Making(tuple(made), unreadable)

    def search(self, user: str, query: str, top_k: int) -> list[tuple[str, float]]:
        """Its own score, best first."""
        found = self._memory.search(query, filters={"user_id": user}, top_k=top_k, threshold=0.0)
        numbers = self._numbers.get(user, {})
        return [(str(numbers[str(hit["id"])]), float(hit["score"])) for hit in found["results"]]

    def _tell_the_day(self) -> None:
        main: Any = importlib.import_module("mem0.memory.main")
        build = main.generate_additive_extraction_prompt

        def prompt(**given: object) -> str:
            return build(**{**given, "timestamp": self._day, "current_date": self._day})

        main.generate_additive_extraction_prompt = prompt


def _message(item: Item) -> dict[str, str]:
    role = item.get("role")
    return {"role": "assistant" if role == "assistant" else "user", "content": item["text"]}


def open_asking(folder: Path, embedder: TimedEmbedder, ask: Ask) -> InferringStore:
    """Open what is in a folder."""
    return InferringStore(folder, embedder, ask)
