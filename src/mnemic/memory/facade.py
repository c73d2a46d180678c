"""The facade: the only place that wires store, index, models and algorithms together."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, Self

from mnemic import backfill, erase, export, ingest, retrieve
from mnemic.algo import messages as shapes
from mnemic.algo import prefix
from mnemic.algo.jsonable import as_json
from mnemic.algo.moments import parse_time, zone
from mnemic.algo.scope import check_id, check_scope, check_user
from mnemic.config import Configuration
from mnemic.errors import EmbedderUnavailable, ImmutableWords, InvalidInput, ModelError, NotFound, StoreError
from mnemic.index import Indexes
from mnemic.memory.agreement import agree, record, serving
from mnemic.memory.replan import replanned
from mnemic.memory.search import Request, Searcher, check_count
from mnemic.models import registry
from mnemic.protocols import Batch, CueExtractor, Embedder, Reranker, Store, Written
from mnemic.store import open_store
from mnemic.types import Added, Granularity, Json, Metadata, Note, Operation, SearchResult, Status, Task, Trace, Turn

_log = logging.getLogger("mnemic")
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
        """
        self._store = store
        self._embedder = embedder
        self._extractor = cue_extractor
        self._timezone = timezone
        self._clock = clock
        self._make_id = make_id
        self._warnings = tuple(warnings)
        self._indexes = Indexes(store, max_bytes=index_bytes)
        self._searcher = Searcher(store, self._indexes, embedder, cue_extractor)

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
            EmbedderMismatch: The database holds another embedder's vectors.
            StoreError: The database cannot be opened; the subclass and message say why.
        """
        zone(timezone)
        warnings: list[str] = []
        try:
            model = registry.embedder(embedder)
        except EmbedderUnavailable as error:
            if embedder != "local":
                raise
            warnings.append(f"retrieval is lexical only: {error}")
            _log.warning(warnings[-1])
            model = None
        extractor = registry.cue_extractor(cue_extractor)
        store = open_store(database)
        try:
            agree(store, model, database)
        except BaseException:
            store.close()
            raise
        return cls(
            store,
            embedder=model,
            cue_extractor=extractor,
            timezone=timezone,
            index_bytes=index_bytes,
            warnings=warnings,
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
            resend: ``prefix`` for a client that sends its whole history each time: of the messages only those
                that the session does not end with already are added.

        Returns:
            The ids of all turns of the call; a message whose ``id`` is known adds nothing. When the embedder
            failed the words are stored all the same, with a warning, and embedded later.

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
        return replanned(lambda: self._add(user_id, turns, idempotency_key, resend, now))

    def _add(
        self, user_id: str, turns: list[Turn], idempotency_key: str | None, resend: str | None, now: datetime
    ) -> Added:
        """Plan and write once; StoreConflict where another writer came between."""
        if idempotency_key is not None and (done := self._store.request(user_id, idempotency_key)) is not None:
            return Added(turn_ids=done, new=0)
        tails: dict[str, str | None] = {}
        if resend:
            turns, tails = self._resent(user_id, turns)
        ids = tuple(turn.turn_id for turn in turns)
        known = self._store.known_turns(user_id, ids)
        warnings = self._warnings + self._contradicted(user_id, [turn for turn in turns if turn.turn_id in known])
        new = [turn for turn in turns if turn.turn_id not in known]
        if not new and idempotency_key is None:
            self._catch_up(user_id)
            return Added(turn_ids=ids, new=0, warnings=warnings)
        batch, later = self._plan(user_id, new)
        batch = replace(batch, tails=tails, idempotency_key=idempotency_key, request_turns=ids)
        written = self._store.write(user_id, batch, now=now)
        self._settle(user_id, batch, written)
        if batch.vectors is not None:
            # Only now: an embedder that is down is asked once an add, not for everything that it owes.
            self._catch_up(user_id)
        return Added(turn_ids=ids, new=len(new), notes=written.note_ids, warnings=warnings + later)

    def _plan(self, user_id: str, turns: list[Turn]) -> tuple[Batch, tuple[str, ...]]:
        """Everything derived from new turns, with vectors if possible, and warnings if not."""
        batch = ingest.derive(turns, names=self._store.speakers(user_id), extractor=self._extractor)
        known = self._store.known_cues(user_id, batch.surfaces)
        batch, failures = self._embedded(batch, {turn.turn_id: turn.text for turn in turns}, known)
        later = "are stored and findable by their words; their vectors follow later"
        return batch, tuple(f"{len(turns)} turns {later}: {failure}" for failure in failures)

    def _embedded(
        self, batch: Batch, texts: Mapping[str, str], known_cues: Collection[str]
    ) -> tuple[Batch, tuple[str, ...]]:
        """The batch with its vectors; or, with the reason if there is one, with tasks to make them later."""
        embedder, failures = serving(self._embedder, self._store.embedder())
        try:
            if embedder is not None:
                return ingest.embed(batch, texts, embedder, known_cues=known_cues), ()
        except ModelError as error:
            failures = (str(error),)
        for failure in failures:
            _log.warning("%d turns and %d traces have no vectors yet: %s", len(batch.turns), len(batch.traces), failure)
        return ingest.postpone(batch), failures

    def _settle(self, user_id: str, batch: Batch, written: Written) -> None:
        """Leave tasks for what a write left without vectors that serve.

        Repacked traces have ids only now; and the embedder may have been switched between plan and write. What was
        written stays written: no failure here may look like that of the write.
        """
        try:
            is_served = batch.vectors is not None and serving(self._embedder, self._store.embedder())[0] is not None
            owed = () if is_served or batch.tasks else (*(turn.turn_id for turn in batch.turns), *written.trace_ids)
            if owed:
                tasks = tuple(Task("embed", owner) for owner in owed)
                self._store.write(user_id, Batch(tasks=tasks), now=self._clock())
        except StoreError as error:
            _log.warning("%d turns and traces of user %r have no vectors: %s", len(batch.turns), user_id, error)

    def _contradicted(self, user_id: str, known: list[Turn]) -> tuple[str, ...]:
        """A warning where messages with known ids say something else than what is stored under them (fault B090)."""
        stored = {turn.turn_id: turn for turn in self._store.turns(user_id, turn_ids=[turn.turn_id for turn in known])}
        other = [turn.turn_id for turn in known if _said(stored.get(turn.turn_id, turn)) != _said(turn)]
        if not other:
            return ()
        return (f"{len(other)} messages were not stored: their ids, {other[0]!r} first, belong to other words",)

    def _resent(self, user_id: str, turns: list[Turn]) -> tuple[list[Turn], dict[str, str | None]]:
        """The turns of a client that sends its history again, known ones as stored; and each session's last turn."""
        resent: list[Turn] = []
        tails: dict[str, str | None] = {}
        for session in dict.fromkeys(turn.session_id for turn in turns):
            sent = [turn for turn in turns if turn.session_id == session]
            stored = self._store.turns(user_id, session_id=session)
            tails[session] = stored[-1].turn_id if stored else None
            start, length = prefix.overlap([_said(turn) for turn in stored], [_said(turn) for turn in sent])
            resent += stored[start : start + length] + sent[length:]
        return resent, tails

    def _catch_up(self, user_id: str) -> None:
        """Embed what an embedder that failed left behind; failing again changes nothing."""
        try:
            embedder, _ = serving(self._embedder, self._store.embedder())
            if embedder is not None and self._store.counts(user_id).pending:
                self._fill(user_id, embedder)
        except StoreError as error:
            _log.warning("vectors are still missing for user %r: %s", user_id, error)

    def _fill(self, user_id: str, embedder: Embedder) -> None:
        try:
            backfill.fill(self._store, embedder, user_id=user_id)
        except ModelError as error:
            _log.warning("vectors are still missing for user %r: %s", user_id, error)
            missing = next(self._store.unembedded(embedder.fingerprint, user_id=user_id, limit=1), None)
            if missing is not None and not self._store.counts(user_id).pending:
                # The tasks are those of turns, which have theirs: something must say that others have none.
                owner = (*missing.turn_ids, *missing.trace_ids, *missing.cue_keys, *missing.note_ids)[0]
                self._store.write(user_id, Batch(tasks=(Task("embed", owner),)), now=self._clock())

    def update(self, turn_id: str, *, user_id: str, metadata: Metadata, text: None = None) -> Turn:
        """Replace a turn's metadata, the only thing about it that can change.

        Raises:
            NotFound: There is no such turn.
            ImmutableWords: A new text was given: a correction is a new message or note.
        """
        if text is not None:
            raise ImmutableWords(f"the words of turn {turn_id!r} cannot change; add a message that corrects them")
        self._store.set_metadata(check_user(user_id), turn_id, _metadata(metadata), now=self._clock())
        return self._turn(user_id, turn_id)

    def delete(self, *, user_id: str, turn_id: str | None = None, session_id: str | None = None) -> int:
        """Erase one turn or one session, with everything derived from it alone; the number of turns erased.

        Raises:
            InvalidInput: Not exactly one of the two was given.
            NotFound: There is no such turn or session.
        """
        check_scope(user_id, session_id=session_id)
        if (turn_id is None) == (session_id is None):
            raise InvalidInput("delete takes either turn_id or session_id; delete_all erases a user")
        return replanned(lambda: self._delete(user_id, turn_id, session_id))

    def _delete(self, user_id: str, turn_id: str | None, session_id: str | None) -> int:
        """Plan and write once; StoreConflict where another writer came between."""
        wanted = None if turn_id is None else [turn_id]
        ids = [turn.turn_id for turn in self._store.turns(user_id, turn_ids=wanted, session_id=session_id)]
        if not ids:
            what = f"turn {turn_id!r}" if turn_id is not None else f"session {session_id!r}"
            raise NotFound(f"user {user_id!r} has no {what}")
        batch, texts = erase.plan(self._store, user_id, ids)
        batch, _ = self._embedded(batch, texts, known_cues=())
        written = self._store.write(user_id, batch, now=self._clock())
        self._settle(user_id, batch, written)
        return len(ids)

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
        started = time.perf_counter()
        found = self._searcher.search(request)
        return replace(
            found,
            took_ms=(time.perf_counter() - started) * 1000,
            warnings=(*self._warnings, *found.warnings),
        )

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
        check_count(max_tokens, "max_tokens")
        found = self.search(
            query,
            user_id=user_id,
            # A trace that fits half of this is rare: enough of them to fill the budget.
            top_k=max(1, max_tokens // 32),
            filters=filters,
            agent_id=agent_id,
            session_id=session_id,
            since=since,
            until=until,
            reference_time=reference_time,
            config=config,
        )
        return "" if found.nothing_relevant else retrieve.block(found.results, max_tokens)

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
        _check_limit(limit)
        at = self._time(as_of, "as_of")
        notes = self._store.notes(user_id, about=about, limit=limit if at is None else None)
        if at is not None:
            notes = [note for note in notes if _holds(note, at)]
        return notes[:limit]

    def get(self, id: str, *, user_id: str) -> Turn | Trace | Note:
        """A turn by its id, or a trace (``T7``) or note (``N7``).

        Raises:
            NotFound: This user has nothing of that id.
        """
        check_user(user_id)
        for found in (
            self._store.turns(user_id, turn_ids=[id]),
            self._store.traces(user_id, trace_ids=[id]),
            self._store.notes(user_id, note_ids=[id]),
        ):
            if found:
                return found[-1]
        raise NotFound(f"user {user_id!r} has no turn, trace or note {id!r}")

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
        check_scope(user_id, agent_id=agent_id, session_id=session_id)
        _check_limit(limit)
        seq = -1 if after is None else self._turn(user_id, after).seq
        return self._store.turns(user_id, session_id=session_id, agent_id=agent_id, after_seq=seq, limit=limit)

    def history(self, id: str, *, user_id: str) -> list[Operation]:
        """What happened to a note or a turn's metadata, oldest first; empty where nothing did."""
        return self._store.operations(check_user(user_id), target_id=id)

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
        holds = self._store.embedder()
        return Status(
            embedder=holds.name if holds else None,
            cue_extractor=self._extractor.name,
            size_bytes=self._store.size_bytes(),
            users=len(self._store.users()),
            index_bytes=self._indexes.nbytes,
            counts=None if user_id is None else self._store.counts(user_id),
            warnings=self._warnings,
        )

    def check(self) -> list[str]:
        """Integrity problems in words; empty when sound."""
        return self._store.check()

    def reembed(self, embedder: Embedder | str = "local", *, progress: Callable[[int], None] = lambda _: None) -> int:
        """Make vectors by another embedder and then switch to it; the old ones serve until the switch.

        A run that was cut goes on where it stopped. Afterwards this memory uses the new embedder.

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
        done = backfill.fill(self._store, model, user_id=None, done=progress)
        self._store.use_embedder(record(model))
        self._embedder = model
        self._searcher = Searcher(self._store, self._indexes, model, self._extractor)
        # What others added by the old embedder since its place was passed.
        return done + backfill.fill(self._store, model, user_id=None, done=progress)

    def _time(self, value: Time, what: str) -> datetime | None:
        try:
            return parse_time(value, self._timezone)
        except InvalidInput as error:
            raise InvalidInput(f"{what}: {error}") from error

    def _turn(self, user_id: str, turn_id: str) -> Turn:
        found = self._store.turns(user_id, turn_ids=[turn_id])
        if not found:
            raise NotFound(f"user {user_id!r} has no turn {turn_id!r}")
        return found[0]


def _metadata(given: Metadata) -> dict[str, Json]:
    metadata = as_json(given, "metadata")
    if not isinstance(metadata, dict):
        raise InvalidInput(f"metadata must be a mapping, not {type(given).__name__}")
    return metadata


def _said(turn: Turn) -> tuple[str, str, str]:
    """What makes two sendings of a message the same one."""
    return turn.role, turn.speaker, turn.text


def _check_limit(limit: int | None) -> None:
    if limit is not None:
        check_count(limit, "limit")


def _holds(note: Note, at: datetime) -> bool:
    start, end = note.valid.start, note.valid.end
    return (start is None or start <= at) and (end is None or at < end)
