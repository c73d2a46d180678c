"""The part of the public interface that tends what was derived: work, proposals, and undoing."""

from __future__ import annotations

from collections.abc import Callable

from mnemic.algo.scope import check_id, check_user
from mnemic.errors import InvalidInput
from mnemic.memory import deciding
from mnemic.memory.replan import replanned
from mnemic.memory.wiring import Wired
from mnemic.types import Enrichment, Note, Operation


class Tends(Wired):
    """What language models are doing with what was added, and what a person says about it."""

    def wait(
        self,
        *,
        user_id: str | None = None,
        timeout: float | None = None,
        progress: Callable[[int], None] = lambda _: None,
    ) -> Enrichment:
        """Have all work on what was added done, at once: first the vectors that were left for later, then the models'.

        Args:
            user_id: Only this user's; all users' without.
            timeout: Seconds to wait at most.
            progress: Called with the number of turns, traces, cues and notes that got their vectors, piece by piece.

        Returns:
            How far it is: nothing is left but what failed, what a budget put off, and what this memory has no model
            for; more where the time was up.
        """
        if user_id is not None:
            check_user(user_id)
        return self._workers.wait(user_id=user_id, timeout=timeout, embedded=progress)

    def enrich(self, *, user_id: str) -> int:
        """Have models read what they were never to read: what was added without a model, or with ``enrich="never"``.

        Returns:
            How many pieces of work that is, one a trace and kind; 0 without a model.
        """
        check_user(user_id)
        made = self._store.enqueue(user_id, self._enricher.kinds, due=self._clock())
        self._workers.wake()
        return made

    def retry(self, *, user_id: str | None = None) -> int:
        """Have failed and put-off work of models done again; how many pieces that is."""
        if user_id is not None:
            check_user(user_id)
        made = self._store.retry(user_id, now=self._clock())
        self._workers.wake()
        return made

    def proposals(self, *, user_id: str) -> list[Note]:
        """Notes that wait for a person (``Enriching.approve``), oldest first."""
        return self._store.notes(check_user(user_id), statuses=("proposed",))

    def approve(self, note_id: str, *, user_id: str) -> tuple[Operation, ...]:
        """Let a proposed note count, with what it was to change.

        Returns:
            What that changed; the note itself is ``current``, part of a fuller one, or ``retracted`` where a current
            note says the same by now.

        Raises:
            NotFound: No such note waits.
        """
        return self._decided(note_id, user_id, approved=True)

    def reject(self, note_id: str, *, user_id: str) -> tuple[Operation, ...]:
        """Retract a proposed note; it stays readable.

        Raises:
            NotFound: No such note waits.
        """
        return self._decided(note_id, user_id, approved=False)

    def confirm(self, note_id: str, *, user_id: str) -> Note:
        """Say that a note is true: it counts, and was last confirmed now.

        A note that its sources do not bear out is ``current`` from now on, by the word of whoever confirms it.

        Returns:
            The note.

        Raises:
            NotFound: This user has no such note.
            InvalidInput: It is neither current nor unsupported; the message says what it is.
        """
        check_user(user_id)
        check_id(note_id, "note_id")
        return replanned(lambda: deciding.confirm(self._store, user_id, note_id, now=self._clock()))

    def retract(self, note_id: str, *, user_id: str, reason: str | None = None) -> Note:
        """Say that a note is wrong: it counts no more, and stays readable.

        Args:
            note_id: Which.
            user_id: Whose.
            reason: In words, for the log.

        Returns:
            The note.

        Raises:
            NotFound: This user has no such note.
            InvalidInput: It does not count anyway, or waits for a decision (``reject``).
        """
        check_user(user_id)
        check_id(note_id, "note_id")
        if reason is not None and not isinstance(reason, str):  # pyright: ignore[reportUnnecessaryIsInstance] - callers without types
            raise InvalidInput(f"reason is a text, not {type(reason).__name__}")
        return replanned(lambda: deciding.retract(self._store, user_id, note_id, reason=reason, now=self._clock()))

    def undo(self, operation_id: str, *, user_id: str) -> tuple[Operation, ...]:
        """Take back one operation of the log, by operations of its own, which can be undone in turn.

        Nothing is gone: an added note is ``retracted``, a next version too, and the version before it counts again.

        Returns:
            What that changed.

        Raises:
            NotFound: There is no such operation.
            InvalidInput: What it changed has changed since; the message names what has to be undone first.
        """
        check_user(user_id)
        check_id(operation_id, "operation_id")
        return replanned(lambda: deciding.undo(self._store, user_id, operation_id, now=self._clock()))

    def _decided(self, note_id: str, user_id: str, *, approved: bool) -> tuple[Operation, ...]:
        check_user(user_id)
        check_id(note_id, "note_id")
        return replanned(
            lambda: deciding.decide(
                self._store, user_id, note_id, approved=approved, write=self._writer.derived, now=self._clock()
            )
        )
