"""SeCom-style segments (Pan et al. 2025, arXiv:2502.05589; methods.md section 3), written anew for the benchmark.

A language model cuts each session into segments, runs of turns about one topic, in one call. Segments are ranked by
the cosine of their words, and a hit is a segment's turns as they were said.

Two things differ from the authors' program: the embedder is the one of all systems, and no second model compresses
the words for the index.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from mnemic.algo import render
from mnemic.bench.cost import Stopwatch, TimedEmbedder
from mnemic.bench.generated.model import MemoryModel, fingerprint
from mnemic.bench.generated.secom_prompts import GROUP, groups, segmenting, segments
from mnemic.bench.records import Built, Found, Level, Question
from mnemic.bench.systems.documents import TEXT, Documents, Piece, of_pieces, turns_of
from mnemic.bench.systems.rankers import Dense, Ranker
from mnemic.bench.systems.reference import ranked
from mnemic.types import Json

if TYPE_CHECKING:
    from mnemic.importers import Conversation
    from mnemic.types import Turn

NAME: Final = "secom"


class SeCom:
    """Segments of sessions, ranked by cosine.

    Args:
        embedder: The one of all systems.
        model: Cuts the sessions.
    """

    name = NAME
    levels: tuple[Level, ...] = ("trace",)

    def __init__(self, embedder: TimedEmbedder, model: MemoryModel) -> None:
        self._embedder = embedder
        self._model = model
        self._users: dict[str, tuple[Documents, Ranker]] = {}

    @property
    def configuration(self) -> Mapping[str, Json]:
        """How sessions are cut, and by whom."""
        return {
            "system": self.name,
            "method": "SeCom's segments (arXiv:2502.05589), written anew, without compression",
            "text": TEXT,
            "hit": "a segment, of any number of turns",
            "unreadable": f"groups of {GROUP} turns",
            "model": self._model.name,
            "prompts": {"segment": fingerprint(segmenting([""]))},
            **Dense(self._embedder).configuration,
        }

    def load(self, user_id: str, conversations: Sequence[Conversation]) -> Built:
        """Cut each session, in one call.

        Raises:
            LanguageModelFailed: No reply came, or the memory took its limit of tokens.
        """
        self._model.begin()
        embedding = self._embedder.cpu_s
        with Stopwatch() as watch:
            turns = [turns_of(conversation) for conversation in conversations]
            held = of_pieces([piece for session in turns for piece in self._cut(session)])
            self._users[user_id] = held, Dense(self._embedder)(held.texts)
        counts = {"turns": sum(map(len, turns)), "segments": len(held.hits)}
        embedding = self._embedder.cpu_s - embedding
        return Built(watch.wall_s, watch.cpu_s, embedding_cpu_s=embedding, counts=counts, usage=self._model.usage)

    def search(self, question: Question, *, top_k: int, level: Level) -> Found:
        """The segments nearest to the question; ``relevance`` is the best cosine."""
        held, ranker = self._users[question.user_id]
        return ranked(held, ranker, question, top_k, scale=True, embedder=self._embedder)

    def close(self) -> None:
        """Forget everything; the replies stay on disk."""
        self._users.clear()
        self._model.close()

    def _cut(self, turns: Sequence[Turn]) -> list[Piece]:
        """The segments of one session; of one turn there is nothing to ask."""
        if len(turns) < 2:
            found = groups(range(len(turns)))
        else:
            reply = self._model.ask(segmenting([render.line(turn, 0, len(turn.text)) for turn in turns]))
            found, readable = segments(reply, len(turns))
            if not readable:
                self._model.unreadable("segment")
        return [[(turns[place], 0, len(turns[place].text)) for place in segment] for segment in found]
