"""mnemic itself, through its public interface: one SQLite file a user, under any configuration of its search."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from mnemic import Memory
from mnemic.algo.moments import parse_time
from mnemic.bench.cost import Stopwatch, TimedEmbedder, TimedExtractor
from mnemic.bench.generated.reader import Reading, Spent, hits
from mnemic.bench.records import Built, Found, Hit, Level, Question, Usage
from mnemic.bench.systems.documents import message_index
from mnemic.bench.systems.edges import count
from mnemic.bench.systems.kept import key
from mnemic.bench.systems.settings import configured
from mnemic.config import Configuration
from mnemic.errors import EmbeddingFailed, InvalidFile
from mnemic.store import open_store
from mnemic.types import Json, Mode, SearchResult

if TYPE_CHECKING:
    from mnemic.bench.datasets.notes import GivenNote, GivenNotes
    from mnemic.bench.generated.reader import Reader
    from mnemic.importers import Conversation
    from mnemic.importers.records import Message
    from mnemic.protocols import Delta

_BY_WORDS = "words alone"
"""In every warning that a question was not embedded, or not all that was said."""
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
        reader: The language model that reads each user's memory when all is in it; None for none.
    """

    def __init__(
        self,
        name: str,
        config: Configuration | str,
        *,
        embedder: TimedEmbedder | None,
        extractor: TimedExtractor,
        keep: Path | None = None,
        notes: GivenNotes | None = None,
        reader: Reader | None = None,
    ) -> None:
        self._name = name
        self._config = config
        self._embedder = embedder
        self._extractor = extractor
        self._notes = notes
        self._reader = reader
        self._temporary = [tempfile.TemporaryDirectory(prefix="mnemic-bench-")] if keep is None else []
        self._folder = keep or Path(self._temporary[0].name)
        self._users: dict[str, _User] = {}

    @property
    def name(self) -> str:
        """As in the reports."""
        return self._name

    @property
    def levels(self) -> tuple[Level, ...]:
        """Both; of notes and episodes there are no single turns."""
        return ("trace", "turn") if self._reader is None or self._reader.reading.mode == "graph" else ("trace",)

    @property
    def configuration(self) -> Mapping[str, Json]:
        """The search's settings, and the models."""
        return {
            "system": self._name,
            **_named(self._config),
            "embedder": self._embedder.name if self._embedder else None,
            "fingerprint": self._embedder.fingerprint if self._embedder else None,
            "cue_extractor": self._extractor.name,
            **({} if self._notes is None else {"notes": self._notes.provenance}),
            **({} if self._reader is None else self._reader.configuration),
        }

    def load(self, user_id: str, conversations: Sequence[Conversation]) -> Built:
        """Add the conversations in order, one ``add`` each, then the user's notes; or take the memory that was kept.

        Raises:
            EmbeddingFailed: Something could not be embedded: the numbers would be those of a lesser system.
            InvalidFile: A message has the id of another one.
            LanguageModelFailed: No reply came, or the memory took its limit of tokens.
        """
        fingerprint = self._embedder.fingerprint if self._embedder else None
        notes = () if self._notes is None else self._notes.of(user_id)
        identity = self._reader.identity if self._reader else None
        place = self._folder / key(conversations, fingerprint, self._extractor.name, notes, identity)
        record = place.with_suffix(".json")
        if not record.exists():
            self._build(user_id, conversations, notes, place, record)
        built = _built(json.loads(record.read_text(encoding="utf-8")))
        memory = self._open(self._apart(place.with_suffix(".db")))
        self._users[user_id] = _User(memory, _last(conversations))
        # The first search loads the index, which is not the search's time.
        mode: Mode = "graph" if self._reader is None or self._reader.reading.mode == "graph" else "hybrid"
        config = self._config if isinstance(self._config, str) else configured(self._config, {"query_cues": "rules"})
        memory.search("warm up", user_id=user_id, config=config, mode=mode)
        return built

    def search(self, question: Question, *, top_k: int, level: Level) -> Found:
        """Search; a question that is not dated is asked at the time of the last message.

        Raises:
            EmbeddingFailed: The question could not be embedded.
            LanguageModelFailed: No reply came.
        """
        embedding = self._embedder.cpu_s if self._embedder else 0.0
        if self._reader:
            self._reader.begin()
        with Stopwatch() as watch:
            found = self.result(question, top_k=top_k, level=level)
        asked = self._reader.spent() if self._reader else Spent()
        return Found(
            self._hits(found),
            relevance=found.relevance,
            nothing_relevant=found.nothing_relevant,
            probabilities=tuple(hit.score for hit in found.results) if found.calibrated else (),
            wall_ms=(watch.wall_s - asked.waited_s + asked.took_s) * 1000,
            cpu_ms=watch.cpu_s * 1000,
            embedding_cpu_ms=(self._embedder.cpu_s - embedding) * 1000 if self._embedder else 0.0,
            model_ms=asked.took_s * 1000,
            usage=asked.usage,
        )

    def result(self, question: Question, *, top_k: int, level: Level, explain: bool = False) -> SearchResult:
        """What ``Memory.search`` returns for a question, with ``explain`` the ways that led to each hit.

        Raises:
            EmbeddingFailed: The question could not be embedded.
        """
        user = self._users[question.user_id]
        # Every filter is applied before anything else: what does not pass lends no cue, no note and no edge.
        filters: dict[str, Json] | None = None if question.end is None else {_INDEX: {"lt": question.end}}
        reading = self._reader.reading if self._reader else Reading("default")
        found = user.memory.search(
            question.text,
            user_id=question.user_id,
            top_k=min(top_k, reading.most or top_k),
            filters=filters,
            reference_time=question.asked_at or user.last,
            granularity=level,
            config=self._config,
            explain=explain,
            mode=reading.mode,
            evolve=reading.evolve,
        )
        if lesser := [one for one in found.warnings if _BY_WORDS in one or self._reader is None]:
            raise EmbeddingFailed(f"question {question.question_id}: {lesser[0]}")
        if self._reader:
            self._reader.warned(found.warnings)
        return found

    def _hits(self, found: SearchResult) -> tuple[Hit, ...]:
        if self._reader is not None and self._reader.reading.mode != "graph":
            return hits(found)
        return tuple(Hit(hit.turn_ids, hit.session_id, hit.text) for hit in found.results)

    def close(self) -> None:
        """Close the memories, and remove the temporary folder."""
        for user in self._users.values():
            user.memory.close()
        self._users.clear()
        if self._reader:
            self._reader.close()
        for folder in self._temporary:
            folder.cleanup()

    def _open(self, database: Path) -> Memory:
        return Memory.open(
            database,
            embedder=self._embedder,
            cue_extractor=self._extractor,
            model=self._reader,
            enrichment=self._reader.reading.enriching if self._reader else "default",
            # No threads: the order in which a model is asked is part of what makes a run the same again.
            workers=0,
        )

    def _apart(self, database: Path) -> Path:
        """The kept memory, or a copy of it where searching changes it."""
        if self._reader is None or not self._reader.reading.evolve:
            return database
        self._temporary.append(tempfile.TemporaryDirectory(prefix="mnemic-bench-"))
        return Path(shutil.copy(database, self._temporary[-1].name))

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
        if self._reader:
            self._reader.begin()
        embedding, cues = self._embedder.cpu_s if self._embedder else 0.0, self._extractor.cpu_s
        with self._open(database) as memory:
            with Stopwatch() as watch:
                for conversation in conversations:
                    _add(memory, user_id, conversation)
                given = _give(memory, user_id, notes)
                read = self._reader.read(memory, user_id) if self._reader else {}
            counts = memory.status(user_id=user_id).counts
        with closing(open_store(database)) as store:
            rows = store.load(user_id, since=0)
        edges, made = count(rows), _made(rows) if self._reader else {}
        usage: Mapping[str, Usage] = self._reader.usage if self._reader else {}
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
            "counts": {**held, **edges, **given, **read, **made},
            "usage": {purpose: asdict(one) for purpose, one in usage.items()},
        }


def _named(config: Configuration | str) -> dict[str, Json]:
    return {"config": config} if isinstance(config, str) else {type(config).__name__: asdict(config)}


def _built(record: Mapping[str, Any]) -> Built:
    built = Built(**record)
    asked = cast("Mapping[str, dict[str, int]]", built.usage)
    return replace(built, usage={purpose: Usage(**one) for purpose, one in asked.items()})


def _made(rows: Delta) -> dict[str, int]:
    """What a language model made, in numbers."""
    status = [note.status for note, _ in rows.notes]
    return {"notes unsupported": status.count("unsupported"), "episodes": len(rows.episodes)}


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
