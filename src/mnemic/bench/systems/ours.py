"""mnemic itself, through its public interface: one SQLite file a user, under any configuration of its search."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from mnemic import Memory
from mnemic.algo.moments import parse_time
from mnemic.bench.cost import Stopwatch, TimedEmbedder, TimedExtractor
from mnemic.bench.records import Built, Found, Hit, Level, Question
from mnemic.bench.systems.documents import message_index
from mnemic.bench.systems.edges import count
from mnemic.bench.systems.kept import key
from mnemic.config import Configuration
from mnemic.errors import EmbeddingFailed, InvalidFile
from mnemic.store import open_store
from mnemic.types import Json, SearchResult

if TYPE_CHECKING:
    from mnemic.bench.datasets.notes import GivenNote, GivenNotes
    from mnemic.importers import Conversation
    from mnemic.importers.records import Message

_INDEX = "index"
"""The metadata by which a question about a part of a history is kept to it."""


@dataclass(frozen=True, slots=True)
class _User:
    memory: Memory
    last: datetime | None


class Ours:
    """Memories of mnemic, searched under one configuration.

    Args:
        name: As in the reports.
        config: How to search.
        embedder: None for words alone.
        extractor: Finds the cues.
        keep: A folder in which ingested memories stay, and from which they are taken when the conversations, the
            embedder, the extractor and the code of ingestion are the same; None for a temporary one.
        notes: Given to each user's memory after the conversations; None for none.
    """

    levels: tuple[Level, ...] = ("trace", "turn")

    def __init__(
        self,
        name: str,
        config: Configuration,
        *,
        embedder: TimedEmbedder | None,
        extractor: TimedExtractor,
        keep: Path | None = None,
        notes: GivenNotes | None = None,
    ) -> None:
        self._name = name
        self._config = config
        self._embedder = embedder
        self._extractor = extractor
        self._notes = notes
        self._temporary = tempfile.TemporaryDirectory(prefix="mnemic-bench-") if keep is None else None
        self._folder = keep or Path(self._temporary.name if self._temporary else "")
        self._users: dict[str, _User] = {}

    @property
    def name(self) -> str:
        """As in the reports."""
        return self._name

    @property
    def configuration(self) -> Mapping[str, Json]:
        """The search's settings, and the models."""
        return {
            "system": self._name,
            type(self._config).__name__: asdict(self._config),
            "embedder": self._embedder.name if self._embedder else None,
            "fingerprint": self._embedder.fingerprint if self._embedder else None,
            "cue_extractor": self._extractor.name,
            **({} if self._notes is None else {"notes": self._notes.provenance}),
        }

    def load(self, user_id: str, conversations: Sequence[Conversation]) -> Built:
        """Add the conversations in order, one ``add`` each, then the user's notes; or take the memory that was kept.

        Raises:
            EmbeddingFailed: Something could not be embedded: the numbers would be those of a lesser system.
            InvalidFile: A message has the id of another one.
        """
        fingerprint = self._embedder.fingerprint if self._embedder else None
        notes = () if self._notes is None else self._notes.of(user_id)
        place = self._folder / key(conversations, fingerprint, self._extractor.name, notes)
        record = place.with_suffix(".json")
        if not record.exists():
            self._build(user_id, conversations, notes, place, record)
        built = Built(**json.loads(record.read_text(encoding="utf-8")))
        memory = self._open(place.with_suffix(".db"))
        self._users[user_id] = _User(memory, _last(conversations))
        # The first search loads the index, which is not the search's time.
        memory.search("warm up", user_id=user_id, config=self._config)
        return built

    def search(self, question: Question, *, top_k: int, level: Level) -> Found:
        """Search; a question that is not dated is asked at the time of the last message.

        Raises:
            EmbeddingFailed: The question could not be embedded.
        """
        embedding = self._embedder.cpu_s if self._embedder else 0.0
        with Stopwatch() as watch:
            found = self.result(question, top_k=top_k, level=level)
        return Found(
            tuple(Hit(hit.turn_ids, hit.session_id, hit.text) for hit in found.results),
            relevance=found.relevance,
            nothing_relevant=found.nothing_relevant,
            wall_ms=watch.wall_s * 1000,
            cpu_ms=watch.cpu_s * 1000,
            embedding_cpu_ms=(self._embedder.cpu_s - embedding) * 1000 if self._embedder else 0.0,
        )

    def result(self, question: Question, *, top_k: int, level: Level, explain: bool = False) -> SearchResult:
        """What ``Memory.search`` returns for a question, with ``explain`` the ways that led to each hit.

        Raises:
            EmbeddingFailed: The question could not be embedded.
        """
        user = self._users[question.user_id]
        # Every filter is applied before anything else: what does not pass lends no cue, no note and no edge.
        filters: dict[str, Json] | None = None if question.end is None else {_INDEX: {"lt": question.end}}
        found = user.memory.search(
            question.text,
            user_id=question.user_id,
            top_k=top_k,
            filters=filters,
            reference_time=question.asked_at or user.last,
            granularity=level,
            config=self._config,
            explain=explain,
        )
        if found.warnings:
            raise EmbeddingFailed(f"question {question.question_id}: {found.warnings[0]}")
        return found

    def close(self) -> None:
        """Close the memories, and remove the temporary folder."""
        for user in self._users.values():
            user.memory.close()
        self._users.clear()
        if self._temporary:
            self._temporary.cleanup()

    def _open(self, database: Path) -> Memory:
        return Memory.open(database, embedder=self._embedder, cue_extractor=self._extractor)

    def _build(
        self,
        user_id: str,
        conversations: Sequence[Conversation],
        notes: Sequence[GivenNote],
        place: Path,
        record: Path,
    ) -> None:
        """Ingest beside the place, and move there what is complete: two runs may do so at once."""
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent, prefix="building-") as name:
            database = Path(name) / "memory.db"
            built = self._ingest(user_id, conversations, notes, database)
            (Path(name) / "built.json").write_text(json.dumps(built), encoding="utf-8")
            database.replace(place.with_suffix(".db"))
            (Path(name) / "built.json").replace(record)

    def _ingest(
        self, user_id: str, conversations: Sequence[Conversation], notes: Sequence[GivenNote], database: Path
    ) -> dict[str, Json]:
        """The fields of ``Built``."""
        if self._embedder:
            self._embedder.embed(["warm up"])
        embedding, cues = self._embedder.cpu_s if self._embedder else 0.0, self._extractor.cpu_s
        with self._open(database) as memory:
            with Stopwatch() as watch:
                for conversation in conversations:
                    _add(memory, user_id, conversation)
                given = _give(memory, user_id, notes)
            counts = memory.status(user_id=user_id).counts
        with closing(open_store(database)) as store:
            edges = count(store.load(user_id, since=0))
        embedding = self._embedder.cpu_s - embedding if self._embedder else 0.0
        cues = self._extractor.cpu_s - cues
        held = {} if counts is None else {name: getattr(counts, name) for name in _COUNTED}
        return {
            "wall_s": watch.wall_s,
            "cpu_s": watch.cpu_s,
            "embedding_cpu_s": embedding,
            "stages": {"embedding": embedding, "cues": cues, "rest": watch.cpu_s - embedding - cues},
            # Closed: the write-ahead log is part of the file by now.
            "bytes_on_disk": database.stat().st_size,
            "counts": {**held, **edges, **given},
        }


_COUNTED = ("turns", "sessions", "traces", "units", "cues", "notes")


def _add(memory: Memory, user_id: str, conversation: Conversation) -> None:
    messages = [_indexed(message) for message in conversation.messages]
    added = memory.add(messages, user_id=user_id, session_id=conversation.session_id, agent_id=conversation.agent_id)
    if added.warnings:
        raise EmbeddingFailed(f"user {user_id!r}, session {conversation.session_id!r}: {added.warnings[0]}")
    if added.new != len(messages):
        raise InvalidFile(
            f"user {user_id!r}, session {conversation.session_id!r}: {len(messages) - added.new} messages have the "
            "id of another one; ids must be unique within a user"
        )


def _give(memory: Memory, user_id: str, notes: Sequence[GivenNote]) -> dict[str, int]:
    """Add given notes; how many different ones there are, where any were given."""
    if not notes:
        return {}
    given = [{"text": note.text, "about": note.about, "sources": note.turn_ids} for note in notes]
    added = memory.add_notes(given, user_id=user_id)
    if added.warnings:
        raise EmbeddingFailed(f"user {user_id!r}: {added.warnings[0]}")
    return {"notes given": added.new}


def _indexed(message: Message) -> Message:
    """With the message's index in the whole history as metadata, where its id is one."""
    index = message_index(str(message.get("id")))
    return message if index is None else {**message, "metadata": {_INDEX: index}}


def _last(conversations: Sequence[Conversation]) -> datetime | None:
    """The time of the latest message that has one."""
    given = (message.get("timestamp") for conversation in conversations for message in conversation.messages)
    times = [at.astimezone(UTC) for stamp in given if isinstance(stamp, str) and (at := parse_time(stamp, "UTC"))]
    return max(times, default=None)
