"""The half of the public interface that reads."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC

from mnemic import export
from mnemic.algo.jsonable import as_json
from mnemic.algo.scope import check_id, check_scope, check_user
from mnemic.config import Configuration
from mnemic.memory import context, episodes, reading, told, verifying
from mnemic.memory.notice import notice
from mnemic.memory.search import Request
from mnemic.memory.wiring import Time, Wired
from mnemic.protocols import Reranker
from mnemic.telemetry import spanned
from mnemic.types import (
    Action,
    Episode,
    Granularity,
    Json,
    Mode,
    Note,
    NoteStatus,
    Notice,
    Operation,
    SearchResult,
    Status,
    Trace,
    Turn,
)


class Reads(Wired):
    """What is searched and read."""

    @spanned("mnemic.search", told.of_found)
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
        mode: Mode = "graph",
        keep_notes: bool = False,
        evolve: bool = False,
        as_of: Time = None,
        known_at: Time = None,
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
            granularity: ``trace`` (a few turns, at most 128 tokens) or ``turn``; of the mode ``graph``.
            config: ``default``, ``hero``, or a ``Fusion`` or ``Hero`` with switches of your own; ``himem`` in the other
                modes.
            rerank: A reranker, or the name of one (``model``: the language model for ``rerank``), for the best
                max(3 top_k, 30); in ``hybrid`` for top_k of each.
            explain: Add to each hit the ways that led to it.
            mode: ``graph``: HERO's; ``notes``: current notes, with the words that they rest on; ``episodes``: whole
                episodes; ``hybrid``: both, top_k in all; ``best_effort``: notes, or episodes where these fall short.
            keep_notes: In ``best_effort``: keep the notes that did not suffice, before the episodes.
            evolve: In ``best_effort``: where notes did not suffice and episodes do, make notes of these with the
                language model, and store them.
            as_of: By what was true at this time: the notes that held then lead to words, or are found, instead of
                current ones. It does not narrow the words themselves; ``until`` does.
            known_at: By what was known at this time: words and notes as they were recorded by then.

        Returns:
            The hits, best first; ``top_k`` counts notes and episodes in the modes that find these. ``took_ms`` leaves
            out what is done once: loading the embedder, and bringing the index up to date.

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
            reranker=self._reranker(rerank, user_id),
            explain=explain,
            mode=mode,
            keep_notes=keep_notes,
            evolve=evolve,
            as_of=self._time(as_of, "as_of"),
            known_at=self._time(known_at, "known_at"),
        )
        found = self._modes.search(request)
        return replace(found, warnings=(*self._warnings, *found.warnings))

    @spanned("mnemic.context", told.of_block)
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
        as_of: Time = None,
        known_at: Time = None,
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
            as_of: See there.
            known_at: See there.

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
            as_of=as_of,
            known_at=known_at,
        )
        return context.block(found, max_tokens)

    def notes(
        self,
        *,
        user_id: str,
        about: str | None = None,
        as_of: Time = None,
        known_at: Time = None,
        limit: int | None = None,
        statuses: Collection[NoteStatus] | None = None,
        after: str | None = None,
    ) -> list[Note]:
        """Statements about people, oldest first: current ones, unless others are asked for.

        Args:
            user_id: Whose memory.
            about: Only about this person.
            as_of: What was true at this time: notes that held then, superseded ones among them.
            known_at: What was believed at this time: notes as they stood then, by the log of what was recorded when.
                What was erased since is not among them.
            limit: Notes at most.
            statuses: Every version of these; ``mnemic.types.STATUSES`` are all. What is not current does not count,
                and what is unsupported is not to be taken for true. With ``as_of`` those whose validity covers it.
            after: The last one that was read, by note and version (``N7.2``), or by note alone (``N7``): what comes
                behind it, so that pages neither skip nor repeat, whoever writes meanwhile.

        Raises:
            InvalidInput: There is no such status, or ``after`` is no id of a note or of a version.
        """
        check_user(user_id)
        at, known = self._time(as_of, "as_of"), self._time(known_at, "known_at")
        return reading.notes(
            self._store, user_id, about=about, at=at, known_at=known, limit=limit, statuses=statuses, after=after
        )

    def episodes(self, *, user_id: str, session_id: str | None = None) -> list[Episode]:
        """What the dialogue falls into, in its order: every turn lies in exactly one episode.

        Those that a language model made are stored. What none covers is cut by local rules, at each call: such an
        episode is called ``E:`` and its first turn's id, and may be another one once more was said.

        Args:
            user_id: Whose memory.
            session_id: Only of this session.
        """
        scope = check_scope(user_id, session_id=session_id)
        return episodes.listed(self._store, self._indexes, scope.user_id, scope.session_id)

    def get(self, id: str, *, user_id: str, as_of: Time = None, known_at: Time = None) -> Turn | Trace | Note | Episode:
        """A turn by its id, or a trace (``T7``), note (``N7``) or episode (``E7``, ``E:m1``).

        Args:
            id: Its id.
            user_id: Whose memory.
            as_of: Of a note, the version that held at this time.
            known_at: As it was known at this time.

        Raises:
            NotFound: This user has nothing of that id, or had nothing then.
        """
        at, known = self._time(as_of, "as_of"), self._time(known_at, "known_at")
        return reading.find(self._store, self._indexes, user_id, id, at=at, known_at=known)

    def get_all(
        self,
        *,
        user_id: str,
        session_id: str | None = None,
        agent_id: str | None = None,
        limit: int | None = None,
        after: str | int | None = None,
        turn_ids: Sequence[str] | None = None,
    ) -> list[Turn]:
        """Turns in order; ``after`` a turn id continues behind it, ``after`` a ``Turn.seq`` too, erased or not.

        Of ``turn_ids`` those that there are.

        Raises:
            NotFound: There is no turn of the id ``after``.
        """
        scope = check_scope(user_id, agent_id=agent_id, session_id=session_id)
        return reading.turns(self._store, scope, limit=limit, after=after, turn_ids=turn_ids)

    def history(
        self,
        id: str | None = None,
        *,
        user_id: str,
        action: Action | None = None,
        trigger: str | None = None,
        since: Time = None,
        until: Time = None,
        newest_first: bool = False,
        limit: int | None = None,
        after: str | None = None,
    ) -> list[Operation]:
        """What happened to a note or a turn's metadata, or without an id to all of them, oldest first.

        Args:
            id: Of a note or a turn.
            user_id: Whose memory.
            action: Only operations of this kind: ``ADD``, ``UPDATE``, ``DELETE``, ``MERGE``, ``RETRACT``, ``EXPIRE``.
            trigger: Only what this brought about, as ``Operation.trigger`` has it; ``undo`` stands for every undoing.
            since: Only what was recorded at this time or later.
            until: Only what was recorded before this time.
            newest_first: In the other order.
            limit: Operations at most.
            after: The operation_id of the last one that was read: what comes behind it, so that pages neither skip
                nor repeat, whoever writes meanwhile.

        Raises:
            InvalidInput: There is no such action, or ``after`` is no operation_id.
        """
        only = reading.log_filter(action, trigger, self._time(since, "since"), self._time(until, "until"), newest_first)
        reading.check_limit(limit)
        target = None if id is None else check_id(id, "id")
        return self._store.operations(check_user(user_id), target_id=target, only=only, limit=limit, after=after)

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
            self._store,
            user_id,
            cue_extractor=extractor,
            index_bytes=in_memory,
            warnings=self._warnings,
            models=self._models.names,
            enrichment=self._workers.standing(user_id),
            budgets=self._models.budgets,
            today=self._clock().astimezone(UTC).date(),
        )

    def notice(self, *, user_id: str | None = None, contact: str | None = None) -> Notice:
        """What people may be told about the memory: what is kept of them, who reads it, and what they may do about it.

        Args:
            user_id: For this person, with how much is kept; for nobody in particular without.
            contact: Whom to ask, as people are to read it.
        """
        counts = None if user_id is None else self._store.counts(check_user(user_id))
        return notice(counts, self._models.names.values(), contact=contact)

    def check(self) -> list[str]:
        """Integrity problems in words, of the database and of what this memory holds of it; empty when sound."""
        return [*self._store.check(), *verifying.in_use(self._indexes)]
