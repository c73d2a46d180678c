"""The facade: the only place that wires store, index, models and algorithms together."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, Self

from mnemic import backfill, export
from mnemic.algo import messages as shapes
from mnemic.algo.jsonable import as_json, as_object
from mnemic.algo.moments import parse_time, zone
from mnemic.algo.scope import check_id, check_scope, check_user
from mnemic.config import Configuration
from mnemic.errors import ImmutableWords, InvalidInput
from mnemic.index import Indexes
from mnemic.memory import context, noting, reading
from mnemic.memory.agreement import switch, way_out
from mnemic.memory.opening import opened
from mnemic.memory.replan import replanned
from mnemic.memory.search import Request, Searcher
from mnemic.memory.writing import Writer
from mnemic.models import registry
from mnemic.protocols import CueExtractor, Embedder, Reranker, Store
from mnemic.types import Added, Granularity, Json, Metadata, Note, Operation, SearchResult, Status, Trace, Turn

_DEFAULT_SESSION = "default"

Time = datetime | str | float | int | None


class Memory:
    """Long-term memory in one database. Thread-safe; any number of them may share a database.

    Every method is bound to one user; there is no default user.
    """

    def __init__(
        self,
        store: Store,
        *,
        embedder: Embedder | None,
        cue_extractor: CueExtractor,
        timezone: str = "UTC",
        index_bytes: int = 1 << 30,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        make_id: Callable[[], str] = lambda: uuid.uuid4().hex,
        warnings: Sequence[str] = (),
        database: str | Path | None = None,
    ) -> None:
        """Wire a memory from its parts; ``open`` is the usual way.

        Args:
            store: Where the rows are; closed with the memory.
            embedder: The one whose vectors the store holds; None for lexical retrieval only.
            cue_extractor: Finds the cues of turns and questions.
            timezone: Of timestamps that come without one.
            index_bytes: Bound on the indexes held in memory.
            clock: Says when now is, aware.
            make_id: Makes ids for messages that have none.
            warnings: Repeated in every search result.
            database: The store's file, for the commands that messages name.
        """
        self._store = store
        self._extractor = cue_extractor
        self._timezone = timezone
        self._clock = clock
        self._make_id = make_id
        self._warnings = tuple(warnings)
        self._database = database
        self._indexes = Indexes(store, max_bytes=index_bytes)
        self._use(embedder)

    @classmethod
    def open(
        cls,
        database: str | Path = "memory.db",
        *,
        embedder: Embedder | str | None = "local",
        cue_extractor: CueExtractor | str = "rules",
        timezone: str = "UTC",
        index_bytes: int = 1 << 30,
    ) -> Self:
        """Open a database, creating it where there is none.

        Args:
            database: A file.
            embedder: ``local`` is the embedded one (without its files memory is lexical only, and says so); None
                for lexical retrieval only; else a name as in ``models.registry``, or an embedder.
            cue_extractor: ``rules``, ``spacy``, or an extractor.
            timezone: IANA name or offset, for timestamps that come without one.
            index_bytes: Bound on the indexes held in memory.

        Raises:
            InvalidInput: No embedder, extractor or timezone is called so.
            EmbedderMismatch: The database holds another embedder's vectors. (Another extractor's cues are a warning.)
            StoreError: The database cannot be opened; the subclass and message say why.
        """
        zone(timezone)
        parts = opened(database, embedder, cue_extractor)
        return cls(
            parts.store,
            embedder=parts.embedder,
            cue_extractor=parts.extractor,
            timezone=timezone,
            index_bytes=index_bytes,
            warnings=parts.warnings,
            database=database,
        )

    def close(self) -> None:
        """Release the database; twice is allowed."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # writing -------------------------------------------------------------------------------------------

    def add(
        self,
        messages: str | Mapping[str, object] | Sequence[Mapping[str, object]],
        *,
        user_id: str,
        session_id: str | None = None,
        agent_id: str | None = None,
        timestamp: Time = None,
        timezone: str | None = None,
        metadata: Metadata | None = None,
        idempotency_key: str | None = None,
        resend: Literal["prefix"] | None = None,
    ) -> Added:
        """Store messages, word for word, and make them findable, in one transaction.

        Args:
            messages: A text, a message, or a list of messages in the OpenAI chat shape. A message may also have
                ``id``, ``speaker``, ``timestamp``, ``session_id``, ``agent_id`` and ``metadata`` of its own.
            user_id: Whose memory.
            session_id: The conversation; ``default`` where none is given.
            agent_id: The agent they were said to.
            timestamp: When they were said: datetime, ISO text, seconds or milliseconds since the epoch.
            timezone: Of timestamps without one.
            metadata: The caller's data, on each message.
            idempotency_key: A repeat of the call with the same key adds nothing.
            resend: ``prefix`` for a client that sends its whole history each time: only what is new of it is added,
                see ``algo.prefix``.

        Returns:
            The ids of all turns of the call, in order; a message whose ``id`` is known adds nothing. When the embedder
            failed the words are stored all the same, with a warning, and embedded later. Words that differ from
            those stored under the same ``id`` or key are not stored, with a warning.

        Raises:
            InvalidInput: Names the message; nothing was stored.
            StoreError: The database failed; nothing was stored.
        """
        check_scope(user_id, agent_id=agent_id, session_id=session_id)
        now = self._clock()
        turns = shapes.normalise(
            messages,
            session_id=session_id or _DEFAULT_SESSION,
            agent_id=agent_id,
            timestamp=timestamp,
            timezone=timezone or self._timezone,
            metadata=metadata,
            now=now,
            make_id=self._make_id,
        )
        if idempotency_key is not None:
            check_id(idempotency_key, "idempotency_key")
        if resend is not None and resend != "prefix":
            raise InvalidInput(f"resend is 'prefix' or None, not {resend!r}")
        return replanned(
            lambda: self._writer.add(user_id, turns, idempotency_key=idempotency_key, resend=resend, now=now)
        )

    def add_notes(
        self, notes: Mapping[str, object] | Sequence[Mapping[str, object]], *, user_id: str, timezone: str | None = None
    ) -> Added:
        """Store statements that somebody else, a person or a model, made of stored turns, in one transaction.

        They lead to the turns that they rest on, are never evidence themselves, and go when one of these turns goes.

        Args:
            notes: A note or a list of them: mappings with ``text``; ``sources``, the turns it rests on, each an id, or
                a triple of id, start and end of a slice; and, where wanted, ``id``, ``about`` (a name; else the
                speaker of the first source), ``kind`` (``fact``, ``state``, ``preference``, ``trait``; else a fact),
                ``valid`` (a pair of times, each None where it is open; else from the earliest source on) and
                ``metadata``.
            user_id: Whose memory.
            timezone: Of times without one.

        Returns:
            The ids of all notes of the call. A note whose ``id`` is known adds nothing, with a warning where it states
            something else; without an id, one that states the same of the same words is known. When the embedder
            failed the notes are stored all the same, with a warning, and embedded later.

        Raises:
            InvalidInput: Names the note; nothing was stored.
            NotFound: Names the turns that there are not; nothing was stored.
            StoreError: The database failed; nothing was stored.
        """
        check_user(user_id)
        given, now = noting.read(notes, timezone or self._timezone), self._clock()
        return replanned(lambda: self._writer.add_notes(user_id, given, now=now))

    def update(self, turn_id: str, *, user_id: str, metadata: Metadata, text: None = None) -> Turn:
        """Replace a turn's metadata, the only thing about it that can change.

        Raises:
            NotFound: There is no such turn.
            ImmutableWords: A new text was given: a correction is a new message or note.
        """
        check_user(user_id)
        check_id(turn_id, "turn_id")
        if text is not None:
            raise ImmutableWords(f"the words of turn {turn_id!r} cannot change; add a message that corrects them")
        self._store.set_metadata(user_id, turn_id, as_object(metadata, "metadata"), now=self._clock())
        return reading.turn(self._store, user_id, turn_id)

    def delete(self, *, user_id: str, turn_id: str | None = None, session_id: str | None = None) -> int:
        """Erase one turn or one session, with everything derived from it alone; the number of turns erased.

        Raises:
            InvalidInput: Not exactly one of the two was given.
            NotFound: There is no such turn or session.
        """
        check_scope(user_id, session_id=session_id)
        if (turn_id is None) == (session_id is None):
            raise InvalidInput("delete takes either turn_id or session_id; delete_all erases a user")
        if turn_id is not None:
            check_id(turn_id, "turn_id")
        return replanned(lambda: self._writer.delete(user_id, turn_id=turn_id, session_id=session_id))

    def delete_all(self, *, user_id: str) -> int:
        """Erase everything of a user; the number of turns erased, 0 for an unknown user."""
        erased = self._store.delete_user(check_user(user_id))
        self._indexes.forget(user_id)
        return erased

    # reading -------------------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        user_id: str,
        top_k: int = 10,
        threshold: float | None = None,
        filters: Mapping[str, Json] | None = None,
        agent_id: str | None = None,
        session_id: str | None = None,
        since: Time = None,
        until: Time = None,
        reference_time: Time = None,
        granularity: Granularity = "trace",
        config: str | Configuration = "default",
        rerank: Reranker | str | None = None,
        explain: bool = False,
    ) -> SearchResult:
        """Find the original words that answer a question.

        Args:
            query: In plain words.
            user_id: Whose memory; an unknown user has none.
            top_k: Hits at most, at least 1.
            threshold: Leave out hits with a lower score.
            filters: Conditions on the turns' metadata, see ``algo.filters``; as every filter, applied before top_k.
            agent_id: Only what was said to this agent.
            session_id: Only what was said in this session.
            since: Only turns of this time or later; turns without a time are left out.
            until: Only turns before this time.
            reference_time: What "yesterday" in the query counts from; now where it is not given.
            granularity: ``trace`` (a few turns, at most 128 tokens) or ``turn``.
            config: ``default``, ``hero``, or a ``Fusion`` or ``Hero`` with switches of your own.
            rerank: A reranker, or the name of one, for the best max(3 top_k, 30).
            explain: Add to each hit the ways that led to it.

        Returns:
            The hits, best first. ``took_ms`` leaves out what is done once: loading the embedder, and bringing the
            index up to date.

        Raises:
            InvalidInput: Names the argument.
        """
        scope = check_scope(user_id, agent_id=agent_id, session_id=session_id)
        request = Request(
            query=query,
            scope=scope,
            top_k=top_k,
            threshold=threshold,
            filters=as_json({} if filters is None else filters, "filters"),
            since=self._time(since, "since"),
            until=self._time(until, "until"),
            reference=self._time(reference_time, "reference_time") or self._clock(),
            granularity=granularity,
            config=config,
            reranker=registry.reranker(rerank),
            explain=explain,
        )
        found = self._searcher.search(request)
        return replace(found, warnings=(*self._warnings, *found.warnings))

    def context(
        self,
        query: str,
        *,
        user_id: str,
        max_tokens: int = 1500,
        filters: Mapping[str, Json] | None = None,
        agent_id: str | None = None,
        session_id: str | None = None,
        since: Time = None,
        until: Time = None,
        reference_time: Time = None,
        config: str | Configuration = "default",
    ) -> str:
        """Evidence for a prompt: a delimited block of dated, cited lines, best first, within a budget.

        Args:
            query: What the prompt is about.
            user_id: Whose memory.
            max_tokens: Budget by ``algo.tokens.count``.
            filters: As for ``search``, and so are the following.
            agent_id: See there.
            session_id: See there.
            since: See there.
            until: See there.
            reference_time: See there.
            config: See there.

        Returns:
            The block; an empty string when nothing is relevant or nothing fits.
        """
        found = self.search(
            query,
            user_id=user_id,
            top_k=context.depth(max_tokens),
            filters=filters,
            agent_id=agent_id,
            session_id=session_id,
            since=since,
            until=until,
            reference_time=reference_time,
            config=config,
        )
        return context.block(found, max_tokens)

    def notes(
        self, *, user_id: str, about: str | None = None, as_of: Time = None, limit: int | None = None
    ) -> list[Note]:
        """Current statements about people, oldest first.

        Args:
            user_id: Whose memory.
            about: Only about this person.
            as_of: Only those that hold at this time.
            limit: Notes at most.
        """
        check_user(user_id)
        return reading.notes(self._store, user_id, about=about, at=self._time(as_of, "as_of"), limit=limit)

    def get(self, id: str, *, user_id: str) -> Turn | Trace | Note:
        """A turn by its id, or a trace (``T7``) or note (``N7``).

        Raises:
            NotFound: This user has nothing of that id.
        """
        return reading.find(self._store, user_id, id)

    def get_all(
        self,
        *,
        user_id: str,
        session_id: str | None = None,
        agent_id: str | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> list[Turn]:
        """Turns in order; ``after`` a turn id continues behind it.

        Raises:
            NotFound: There is no turn ``after``.
        """
        scope = check_scope(user_id, agent_id=agent_id, session_id=session_id)
        return reading.turns(self._store, scope, limit=limit, after=after)

    def history(self, id: str, *, user_id: str) -> list[Operation]:
        """What happened to a note or a turn's metadata, oldest first; empty where nothing did."""
        return self._store.operations(check_user(user_id), target_id=check_id(id, "id"))

    def export(self, *, user_id: str) -> Iterator[dict[str, Json]]:
        """Everything of a user, one JSON object a turn or note, in order; ``mnemic import`` reads it back."""
        return export.records(self._store, check_user(user_id))

    def users(self) -> list[str]:
        """Every user id."""
        return self._store.users()

    def status(self, *, user_id: str | None = None) -> Status:
        """Sizes of the database, and of one user's memory."""
        if user_id is not None:
            check_user(user_id)
        extractor, in_memory = self._extractor.name, self._indexes.nbytes
        return reading.status(
            self._store, user_id, cue_extractor=extractor, index_bytes=in_memory, warnings=self._warnings
        )

    def check(self) -> list[str]:
        """Integrity problems in words; empty when sound."""
        return self._store.check()

    def reembed(self, embedder: Embedder | str = "local", *, progress: Callable[[int], None] = lambda _: None) -> int:
        """Make vectors by another embedder and then switch to it; the old ones serve until the switch.

        A run that was cut goes on where it stopped. Afterwards this memory uses the new embedder. Thresholds of an
        embedder that nobody has calibrated are measured on what is stored.

        Args:
            embedder: As for ``open``.
            progress: Called with the number of vectors' owners (turns, traces, cues, notes) of each piece.

        Returns:
            How many were embedded.

        Raises:
            EmbeddingFailed: Nothing was switched; what was embedded is kept for the next run.
        """
        model = registry.embedder(embedder)
        if model is None:
            raise InvalidInput("reembed needs an embedder")
        done = switch(self._store, model, progress)
        self._use(model)
        # What others added by the old embedder since its place was passed.
        return done + backfill.fill(self._store, model, user_id=None, done=progress)

    def _use(self, embedder: Embedder | None) -> None:
        self._writer = Writer(self._store, embedder, self._extractor, self._clock, self._warnings)
        way = "" if embedder is None else way_out(self._database, embedder.name)
        self._searcher = Searcher(self._store, self._indexes, embedder, self._extractor, way)

    def _time(self, value: Time, what: str) -> datetime | None:
        try:
            return parse_time(value, self._timezone)
        except InvalidInput as error:
            raise InvalidInput(f"{what}: {error}") from error
