"""The part of the public interface that tends what was derived: work, proposals, and undoing."""

from __future__ import annotations

from collections.abc import Callable

from mnemic.algo.scope import check_id, check_user
from mnemic.errors import InvalidInput
from mnemic.memory import deciding, differing, quarantine, undoing
from mnemic.memory.replan import replanned
from mnemic.memory.wiring import Time, Wired
from mnemic.types import Enrichment, Note, NoteChange, Operation, Quarantined


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

    def undo(self, operation_id: str | None = None, *, user_id: str, run: str | None = None) -> tuple[Operation, ...]:
        """Take back one operation of the log, or all of one run, by operations of their own, undone in turn like any.

        Nothing is gone: an added note is ``retracted``, a next version too, and the version before it counts again.

        Args:
            operation_id: Which operation.
            user_id: Whose.
            run: Instead, all operations with this ``run`` in their ``detail``: what one reading of a model, one
                ``reflect``, one undoing of a run or one ``restore`` did; all of them or none.

        Returns:
            What that changed.

        Raises:
            NotFound: There is no such operation or run.
            UndoConflict: What it changed has changed since; the message names what has to be undone first.
            InvalidInput: Not exactly one of the two was given.
        """
        check_user(user_id)
        if (operation_id is None) == (run is None):
            raise InvalidInput("undo takes either operation_id or run")
        if operation_id is not None:
            check_id(operation_id, "operation_id")
            return replanned(lambda: undoing.undo(self._store, user_id, operation_id, now=self._clock()))
        named = check_id(run, "run")
        return replanned(
            lambda: undoing.undo_run(self._store, user_id, named, now=self._clock(), make_id=self._make_id)
        )

    def diff(self, a: Time, b: Time = None, *, user_id: str) -> list[NoteChange]:
        """How the notes that count differ between two moments, by what was recorded when.

        Args:
            a: The first moment.
            b: The second one; now where it is not given.
            user_id: Whose notes.

        Returns:
            Each note that counted at one of them and not, or otherwise, at the other; what was erased is not there.

        Raises:
            InvalidInput: Names the argument.
        """
        check_user(user_id)
        first, second = self._time(a, "a"), self._time(b, "b") or self._clock()
        if first is None:
            raise InvalidInput("a is a time, not None: from when on is the difference wanted?")
        return differing.diff(self._store, user_id, first, second)

    def quarantine(self, *, user_id: str) -> list[Quarantined]:
        """What waits for a person because it may be poison: turns in the order of the dialogue, then notes.

        A turn is held whose words speak to the model that will read them, like an instruction (``algo.injected``); a
        note, likewise, or where it is from an assistant or a tool and would change what is trusted more. What is held
        is kept word for word, ``get`` and ``export`` show it, and nothing else does: no search, no prompt, no note.
        """
        return quarantine.listed(self._store, check_user(user_id))

    def release(self, id: str, *, user_id: str) -> tuple[Operation, ...]:
        """Let something out of quarantine: a turn is found like any, a note counts, with what it was to change.

        Args:
            id: Of the turn or note.
            user_id: Whose.

        Returns:
            What that changed; ``undo`` takes it back.

        Raises:
            NotFound: There is no such thing in quarantine.
        """
        return self._settled(id, user_id, released=True)

    def discard(self, id: str, *, user_id: str) -> tuple[Operation, ...]:
        """Throw something in quarantine away: a turn is never found, a note is retracted; both stay readable.

        To erase the words themselves, ``delete`` their turn.

        Args:
            id: Of the turn or note.
            user_id: Whose.

        Returns:
            What that changed; ``undo`` takes it back.

        Raises:
            NotFound: There is no such thing in quarantine.
        """
        return self._settled(id, user_id, released=False)

    def _settled(self, id: str, user_id: str, *, released: bool) -> tuple[Operation, ...]:
        check_user(user_id)
        check_id(id, "id")
        return replanned(
            lambda: quarantine.settle(
                self._store, user_id, id, released=released, write=self._writer.derived, now=self._clock()
            )
        )

    def _decided(self, note_id: str, user_id: str, *, approved: bool) -> tuple[Operation, ...]:
        check_user(user_id)
        check_id(note_id, "note_id")
        return replanned(
            lambda: deciding.decide(
                self._store, user_id, note_id, approved=approved, write=self._writer.derived, now=self._clock()
            )
        )
