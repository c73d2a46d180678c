"""The half of the public interface that writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from mnemic import backfill
from mnemic.algo import messages as shapes
from mnemic.algo.jsonable import as_object
from mnemic.algo.scope import check_id, check_scope, check_user
from mnemic.errors import ImmutableWords, InvalidInput
from mnemic.memory import noting, reading, told
from mnemic.memory.agreement import switch
from mnemic.memory.recovering import Recoverer
from mnemic.memory.replan import replanned
from mnemic.memory.wiring import Time, Wired
from mnemic.models import registry
from mnemic.protocols import Embedder
from mnemic.telemetry import spanned
from mnemic.types import Added, Json, Metadata, Recovery, Turn

_DEFAULT_SESSION = "default"


class Writes(Wired):
    """What is added and changed."""

    @spanned("mnemic.add", told.of_added)
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
        enrich: Literal["later", "now", "never"] = "later",
        embed: Literal["now", "later"] = "now",
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
            enrich: When language models read the messages, where there are any: ``later``, by the workers; ``now``,
                before this returns; or ``never``, unless ``Memory.enrich`` asks for it.
            embed: When their vectors are made: ``now``, or ``later``, by a thread of this memory, by ``mnemic worker``
                or in ``Memory.wait``; until then they are found by their words.

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
        if enrich not in ("later", "now", "never"):
            raise InvalidInput(f"enrich is 'later', 'now' or 'never', not {enrich!r}")
        if embed not in ("now", "later"):
            raise InvalidInput(f"embed is 'now' or 'later', not {embed!r}")
        due = None if enrich == "never" else self._enricher.due(hurry=enrich == "now")
        added = replanned(
            lambda: self._writer.add(
                user_id,
                turns,
                idempotency_key=idempotency_key,
                resend=resend,
                now=now,
                due=due,
                embeds=embed == "now",
            )
        )
        if embed == "later" or enrich == "later" or not self._enricher.kinds:
            self._workers.wake(vectors=embed == "later")
        if enrich != "now" or not self._enricher.kinds:
            return added
        self._workers.wait(user_id=user_id)
        # Of the models alone: an embedder that failed has its own warning in what was added.
        reading = self._store.enrichment(user_id)
        reasons = (*(failed.reason for failed in reading.failures), *reading.waiting_for)
        return replace(added, warnings=(*added.warnings, *(f"not all was read by models: {one}" for one in reasons)))

    @spanned("mnemic.add_notes", told.of_added)
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

    def recover(
        self,
        records: Iterable[Mapping[str, Json]],
        *,
        user_id: str,
        skipped: Callable[[str, int], None] = lambda reason, number: None,
        progress: Callable[[int], None] = lambda _: None,
    ) -> Recovery:
        """Write an export back into an empty memory, as it was: words, ids, times, notes with their versions, the log.

        It is written piece by piece: after a cut the same call goes on. Cues are found again, and vectors are made as
        after ``add(embed="later")``. Nobody else should write to this user before it is done.

        Args:
            records: What ``export`` gave, in its order.
            user_id: Whose memory; not necessarily whose export it was.
            skipped: Told why a record cannot be used, and its number, from 1; the others are written.
            progress: Told how many records are written, each time some are.

        Raises:
            InvalidInput: The first record is not that of an export, or of a newer one; nothing was stored.
            InvalidScope: The user has a memory already; nothing was stored.
        """
        check_user(user_id)
        writing = Recoverer(self._store, self._extractor, user_id, skipped, progress, self._clock())
        found = writing.run(records)
        self._workers.wake(vectors=True)
        return found

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
