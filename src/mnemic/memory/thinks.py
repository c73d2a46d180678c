"""The half of the public interface that thinks about what is stored: answers, and the upkeep of notes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import overload

from mnemic.algo.scope import check_id, check_scope, check_user
from mnemic.config import Configuration
from mnemic.errors import InvalidInput, LanguageModelUnavailable
from mnemic.memory import answering, context, forgetting, told, undoing
from mnemic.memory.answering import AnswerStream
from mnemic.memory.reads import Reads
from mnemic.memory.reflecting import Reflection
from mnemic.memory.replan import replanned
from mnemic.memory.search import Request, check_count
from mnemic.memory.wiring import Time
from mnemic.protocols import Reranker
from mnemic.telemetry import spanned
from mnemic.types import Answer, Evolution, Json, Note, Operation


class Thinks(Reads):
    """What is concluded from what is stored."""

    @spanned("mnemic.answer", told.of_answer)
    def answer(
        self,
        question: str,
        *,
        user_id: str,
        max_tokens: int = 2000,
        top_k: int | None = None,
        filters: Mapping[str, Json] | None = None,
        agent_id: str | None = None,
        session_id: str | None = None,
        since: Time = None,
        until: Time = None,
        reference_time: Time = None,
        config: str | Configuration = "default",
        rerank: Reranker | str | None = None,
    ) -> Answer:
        """Answer a question from the original words, with the model for ``answer``, and say on which it rests.

        Where a search finds nothing at all, nobody is asked. Where what it finds seems to be about something else, the
        model is asked all the same, with a warning: it is for it to say that the answer is not there.

        Args:
            question: In plain words; relative dates in the evidence count from the date of their own line.
            user_id: Whose memory; an unknown user has none.
            max_tokens: Budget of the evidence by ``algo.tokens.count``: whole hits, best first. The instructions are
                about 250 more.
            top_k: Hits at most; None for as many as the budget holds.
            filters: As for ``search``, and so are the following.
            agent_id: See there.
            session_id: See there.
            since: See there.
            until: See there.
            reference_time: When the question is asked, for the search and for the model.
            config: See there.
            rerank: See there.

        Returns:
            The answer. Its ``text`` is None where memory does not contain it, and where the reply was none, which
            ``failure`` names.

        Raises:
            InvalidInput: Names the argument.
            LanguageModelUnavailable: No model is set.
            BudgetExceeded: A budget does not allow the call, which was not made.
            LanguageModelFailed: The model failed, or could not be reached.
        """
        return self.answer_stream(
            question,
            user_id=user_id,
            max_tokens=max_tokens,
            top_k=top_k,
            filters=filters,
            agent_id=agent_id,
            session_id=session_id,
            since=since,
            until=until,
            reference_time=reference_time,
            config=config,
            rerank=rerank,
        ).answer

    def answer_stream(
        self,
        question: str,
        *,
        user_id: str,
        max_tokens: int = 2000,
        top_k: int | None = None,
        filters: Mapping[str, Json] | None = None,
        agent_id: str | None = None,
        session_id: str | None = None,
        since: Time = None,
        until: Time = None,
        reference_time: Time = None,
        config: str | Configuration = "default",
        rerank: Reranker | str | None = None,
    ) -> AnswerStream:
        """As ``answer``, read while it comes: the search is done now, the model is asked when the first piece is.

        Args:
            question: As for ``answer``, and so are the following.
            user_id: See there.
            max_tokens: See there.
            top_k: See there.
            filters: See there.
            agent_id: See there.
            session_id: See there.
            since: See there.
            until: See there.
            reference_time: See there.
            config: See there.
            rerank: See there.

        Returns:
            An iterator, and an asynchronous one, of the pieces of the text, which has the whole ``answer``.

        Raises:
            InvalidInput, LanguageModelUnavailable: As ``answer``; the rest is raised by the stream.
        """
        model = self._models.of("answer", check_user(user_id))
        if model is None:
            raise LanguageModelUnavailable(
                "no language model is set to answer: give one to Memory.open(model='openai:gpt-4.1-mini'), or set "
                "MNEMIC_MODEL for the command line (docs/models.md); search finds the words without one"
            )
        depth = context.depth(max_tokens)
        found = self.search(
            question,
            user_id=user_id,
            top_k=depth if top_k is None else top_k,
            filters=filters,
            agent_id=agent_id,
            session_id=session_id,
            since=since,
            until=until,
            reference_time=reference_time,
            config=config,
            rerank=rerank,
        )
        on = self._time(reference_time, "reference_time") or self._clock()
        return AnswerStream(answering.asked(question, found, asked_on=on, max_tokens=max_tokens), model)

    def evolution(
        self, topic: str, *, user_id: str, about: str | None = None, reference_time: Time = None, known_at: Time = None
    ) -> Evolution:
        """How what is known about a topic has changed: the notes that ever counted, in the order of what they tell of.

        Args:
            topic: In plain words: "home", "Where does Ana live?".
            user_id: Whose memory.
            about: Only notes about this person.
            reference_time: What "last year" in the topic counts from; now where it is not given.
            known_at: By what was known at this time.

        Returns:
            Each note whose words or meaning are about the topic, with those that took its place or gave way to it, what
            it changed, and the sentences beside it in the dialogue that say why, where there are any.

        Raises:
            InvalidInput: Names the argument.
        """
        scope = check_scope(user_id)
        if about is not None:
            check_id(about, "about")
        request = Request(
            query=topic,
            scope=scope,
            top_k=1,
            threshold=None,
            filters={},
            since=None,
            until=None,
            reference=self._time(reference_time, "reference_time") or self._clock(),
            granularity="turn",
            config="default",
            reranker=None,
            explain=False,
            known_at=self._time(known_at, "known_at"),
        )
        return self._modes.evolution(request, about)

    @spanned("mnemic.reflect", told.of_operations)
    def reflect(self, *, user_id: str, dry_run: bool = False) -> tuple[Operation, ...]:
        """Look for inconsistencies among current notes, without waiting for a search to fail, and resolve them.

        Each note is compared with the older ones about the same person that are nearest to it, by the model for
        ``conflict``, eight notes a call, or by rules where there is none. A note that a newer one contradicts becomes
        ``superseded``, and its validity ends where the other's begins; one that an older one says already becomes
        ``retracted``. Nothing is deleted, and two notes that differ in a number or a time are never taken for one. A
        second call changes nothing more; with rules it writes nothing, a model is asked again. Nothing waits for a
        person, since one calls it (``Enriching.approve``): ``dry_run`` shows it first.

        Args:
            user_id: Whose notes; an unknown user has none.
            dry_run: Change nothing (a model is asked all the same).

        Returns:
            What changed, or would; then without ids.

        Raises:
            BudgetExceeded, LanguageModelFailed, ReplyUnusable: What follows from what the model had said was done.
        """
        model = (
            self._models.of("conflict", check_user(user_id)) if self._enricher.settings.conflicts == "model" else None
        )
        reflection = Reflection(self._store, self._indexes, user_id, model, self._make_id())
        done = replanned(lambda: reflection.reflect(dry_run=dry_run, now=self._clock()))
        if reflection.failure is not None:
            raise reflection.failure
        return done

    def forget(
        self, *, user_id: str, max_notes: int, half_life_days: float = 90.0, dry_run: bool = False
    ) -> tuple[Note, ...]:
        """Archive the weakest notes where there are too many; nothing does so unasked.

        A note is weaker the longer ago it was said, counted in the time of the history (``algo.forgetting``), stronger
        where it was said in several sessions, and where it states a preference or a trait. A trait that no other note
        states is never archived. Words are never forgotten, only what was noted of them.

        Args:
            user_id: Whose notes; an unknown user has none.
            max_notes: How many current notes are left, at least 1; more where all of them are protected.
            half_life_days: Age at which a note has half of its strength, over 0.
            dry_run: Change nothing.

        Returns:
            What was archived, or would be, the weakest first; ``restore`` brings each back.

        Raises:
            InvalidInput: Names the argument.
        """
        check_user(user_id)
        check_count(max_notes, "max_notes")
        if not isinstance(half_life_days, int | float) or not 0 < half_life_days < float("inf"):  # pyright: ignore[reportUnnecessaryIsInstance] - callers without types
            raise InvalidInput(f"half_life_days must be a number over 0, not {half_life_days!r}")
        return replanned(
            lambda: forgetting.forget(
                self._store,
                user_id,
                max_notes=max_notes,
                half_life_days=half_life_days,
                dry_run=dry_run,
                now=self._clock(),
            )
        )

    @overload
    def restore(self, note_id: str, *, user_id: str) -> Note: ...

    @overload
    def restore(self, *, user_id: str, as_of: Time) -> tuple[Operation, ...]: ...

    def restore(self, note_id: str | None = None, *, user_id: str, as_of: Time = None) -> Note | tuple[Operation, ...]:
        """Make an archived note current again, or let all notes stand as they stood at a moment.

        Args:
            note_id: Which archived note.
            user_id: Whose.
            as_of: Instead, a moment: whatever was done to notes since then, by whomever, is taken back in one run,
                which ``undo(run=…)`` takes back in turn. What was erased stays erased; no word is touched.

        Returns:
            The note; with ``as_of``, the operations, none where nothing had changed.

        Raises:
            NotFound: This user has no such note.
            InvalidInput: It is not archived; or not exactly one of the two was given.
        """
        check_user(user_id)
        moment = self._time(as_of, "as_of")
        if (note_id is None) == (moment is None):
            raise InvalidInput("restore takes either note_id or as_of")
        if moment is not None:
            return replanned(
                lambda: undoing.restore(self._store, user_id, moment, now=self._clock(), make_id=self._make_id)
            )
        named = check_id(note_id, "note_id")
        return replanned(lambda: forgetting.restore(self._store, user_id, named, now=self._clock()))
