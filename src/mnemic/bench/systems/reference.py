"""The reference systems: bm25, dense, rrf, and the two ends of the scale, full-context and no-memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from mnemic.algo import names
from mnemic.bench.cost import Stopwatch, TimedEmbedder
from mnemic.bench.records import Built, Found, Hit, Level, Question
from mnemic.bench.systems.documents import TEXT, Documents, documents
from mnemic.types import Json

if TYPE_CHECKING:
    from mnemic.bench.systems.rankers import Fit, Ranker
    from mnemic.importers import Conversation


class Reference:
    """Ranks all documents of a user by one score, and returns the best.

    Args:
        name: As in the reports.
        fit: Makes the ranker of each user and level.
        embedder: The one that it uses, if any, for the time spent in it.
        nameless: Whether questions are asked without the participants' names, as mnemic asks its embedder.
    """

    levels: tuple[Level, ...] = ("trace", "turn")

    def __init__(self, name: str, fit: Fit, embedder: TimedEmbedder | None = None, *, nameless: bool = False) -> None:
        self._nameless = nameless
        self._speakers: dict[str, tuple[str, ...]] = {}
        self._name = name
        self._fit = fit
        self._embedder = embedder
        self._users: dict[tuple[str, Level], tuple[Documents, Ranker]] = {}

    @property
    def name(self) -> str:
        """As in the reports."""
        return self._name

    @property
    def configuration(self) -> Mapping[str, Json]:
        """What is ranked, and how."""
        return {
            "system": self._name,
            "text": TEXT,
            **({"names": "strip"} if self._nameless else {}),
            **self._fit.configuration,
        }

    def load(self, user_id: str, conversations: Sequence[Conversation]) -> Built:
        """Make the documents and rankers of both levels; the cost is that of the trace level alone."""
        said = (message for conversation in conversations for message in conversation.messages)
        self._speakers[user_id] = tuple(dict.fromkeys(str(message.get("name")) for message in said))
        embedding = self._embedding()
        with Stopwatch() as watch:
            held = self._ranker(user_id, conversations, "trace")
        embedding = self._embedding() - embedding
        turns = self._ranker(user_id, conversations, "turn")
        counts = {"turns": len(turns.hits), "traces": len(held.hits)}
        return Built(watch.wall_s, watch.cpu_s, embedding_cpu_s=embedding, counts=counts)

    def search(self, question: Question, *, top_k: int, level: Level) -> Found:
        """Rank what the question may see; ``relevance`` is the best score where scores mean the same everywhere."""
        held, ranker = self._users[question.user_id, level]
        if self._nameless:
            question = replace(question, text=names.strip(question.text, self._speakers[question.user_id]))
        return ranked(held, ranker, question, top_k, scale=self._fit.scale, embedder=self._embedder)

    def close(self) -> None:
        """Forget everything."""
        self._users.clear()
        self._speakers.clear()

    def _ranker(self, user_id: str, conversations: Sequence[Conversation], level: Level) -> Documents:
        held = documents(conversations, level)
        self._users[user_id, level] = held, self._fit(held.texts)
        return held

    def _embedding(self) -> float:
        return self._embedder.cpu_s if self._embedder else 0.0


def ranked(
    held: Documents, ranker: Ranker, question: Question, top_k: int, *, scale: bool, embedder: TimedEmbedder | None
) -> Found:
    """The best of the documents that a question may see.

    Args:
        held: The user's.
        ranker: Of these.
        question: Its text is the query.
        top_k: How many at most.
        scale: Whether scores are comparable between questions, so that the best is the ``relevance``.
        embedder: The one that the ranker uses, if any, for the time spent in it.
    """
    import numpy as np

    embedding = embedder.cpu_s if embedder else 0.0
    with Stopwatch() as watch:
        scores = ranker.scores(question.text, held.visible(question.end))
        places: list[int] = np.argsort(-scores, kind="stable")[:top_k].tolist()
        hits = tuple(held.hits[place] for place in places if np.isfinite(scores[place]))
    return Found(
        hits,
        relevance=float(scores.max()) if scale and hits else None,
        wall_ms=watch.wall_s * 1000,
        cpu_ms=watch.cpu_s * 1000,
        embedding_cpu_ms=(embedder.cpu_s - embedding) * 1000 if embedder else 0.0,
    )


class FullContext:
    """Returns everything that a question may see, in order, a hit a session: for answers, not for recall."""

    name = "full-context"
    levels: tuple[Level, ...] = ("trace",)
    configuration: Mapping[str, Json] = {"system": "full-context", "text": "as mnemic renders a turn"}

    def __init__(self) -> None:
        self._users: dict[str, Documents] = {}

    def load(self, user_id: str, conversations: Sequence[Conversation]) -> Built:
        """Keep the turns."""
        with Stopwatch() as watch:
            self._users[user_id] = held = documents(conversations, "turn")
        return Built(watch.wall_s, watch.cpu_s, counts={"turns": len(held.hits)})

    def search(self, question: Question, *, top_k: int, level: Level) -> Found:
        """Everything, however much it is: ``top_k`` does not count here."""
        with Stopwatch() as watch:
            held = self._users[question.user_id]
            turns = held.hits[: held.visible(question.end)]
            sessions = [(session, list(said)) for session, said in groupby(turns, key=lambda hit: hit.session_id)]
            hits = tuple(
                Hit(
                    tuple(turn_id for turn in said for turn_id in turn.turn_ids),
                    session,
                    "\n".join(turn.text for turn in said),
                )
                for session, said in sessions
            )
        return Found(hits, wall_ms=watch.wall_s * 1000, cpu_ms=watch.cpu_s * 1000)

    def close(self) -> None:
        """Forget everything."""
        self._users.clear()


class NoMemory:
    """Returns nothing: what a language model answers by itself."""

    name = "no-memory"
    levels: tuple[Level, ...] = ("trace",)
    configuration: Mapping[str, Json] = {"system": "no-memory"}

    def load(self, user_id: str, conversations: Sequence[Conversation]) -> Built:
        """Keep nothing."""
        return Built(0.0, 0.0)

    def search(self, question: Question, *, top_k: int, level: Level) -> Found:
        """Nothing."""
        return Found((), nothing_relevant=True)

    def close(self) -> None:
        """Hold nothing."""
