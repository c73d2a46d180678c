"""The seam to the database."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Protocol

from mnemic.config import Budgets
from mnemic.protocols.embedding import EmbeddingQueue
from mnemic.protocols.restoring import Restoring
from mnemic.protocols.rows import (
    EVERY_OPERATION,
    Amount,
    Batch,
    Delta,
    EmbedderRecord,
    Held,
    LogFilter,
    Mark,
    Removed,
    Unembedded,
    Usage,
    Written,
)
from mnemic.protocols.service import ServiceRows
from mnemic.protocols.work import WorkQueue
from mnemic.types import Counts, Episode, Metadata, Note, NoteStatus, Operation, Purpose, Quarantine, Trace, Turn, Unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]


class Ledger(Protocol):
    """What language models took, shared by all processes of a database."""

    def spend(self, user_id: str, purpose: Purpose, amount: Amount, *, day: date, within: Budgets) -> None:
        """Add an amount to what is spent, unless a budget does not allow it, in one transaction.

        An amount is reserved before a call, and corrected by the difference after it. What is spent for a user without
        any rows counts in total only, so that a user who was erased does not come back.

        Raises:
            BudgetExceeded: Nothing was added.
        """
        ...

    def usage(self, user_id: str | None, *, since: date | None = None) -> list[Usage]:
        """What was spent for a user, or *database*: in total, erased users included; by day, then purpose."""
        ...


class Store(Ledger, WorkQueue, EmbeddingQueue, Restoring, ServiceRows, Protocol):
    """Rows. One call is one transaction; every call but the few marked *database* is bound to one user.

    All text survives exactly, NUL and lone surrogates included, in ids too; ids are compared exactly (case,
    wildcards and normal forms mean nothing). Every method raises the ``StoreError`` that fits, and
    ``StoreClosed`` after ``close``. Unknown users read as empty. Thread-safe; many processes may share one database.
    """

    def close(self) -> None:
        """Release everything; twice is allowed."""
        ...

    # writing -------------------------------------------------------------------------------------------

    def write(self, user_id: str, batch: Batch, *, now: datetime) -> Written:
        """Commit a batch; the user's revision grows by one.

        Raises:
            StoreConflict: A turn id of the batch exists, its idempotency key is known, a session's last turn
                is not the one in ``tails``, a turn, trace or episode to be removed is gone, a new note has the given
                id of another, a note is not as ``states`` saw it, a turn of an episode is in another one, or the lease
                ran out by ``now`` or does not hold all of its work any more. Nothing was stored.
        """
        ...

    def set_metadata(self, user_id: str, turn_id: str, metadata: Metadata, *, now: datetime) -> None:
        """Replace a turn's metadata. Raises NotFound."""
        ...

    def set_quarantine(self, user_id: str, turn_id: str, state: Quarantine, *, now: datetime) -> str:
        """Let a turn that is or was in quarantine stand otherwise there; the id of the log entry. Raises NotFound."""
        ...

    def in_quarantine(self, user_id: str) -> list[Turn]:
        """The turns that are held in quarantine, in the order of ``seq``."""
        ...

    def delete_user(self, user_id: str) -> Removed:
        """Erase everything of a user, log, idempotency records and counters included."""
        ...

    def unreached(self) -> tuple[str, ...]:
        """*database*: what may hold words that were erased here, and is out of reach from here, in words."""
        ...

    def put_vectors(
        self,
        user_id: str,
        fingerprint: str,
        *,
        units: Mapping[str, Floats],
        traces: Mapping[str, Floats],
        cues: Mapping[str, Floats],
        notes: Mapping[str, Floats],
    ) -> None:
        """Store late vectors by turn_id, trace_id, cue key and note_id (current version).

        Ids that are gone meanwhile are skipped; the ``embed`` tasks of the turns are finished. When the
        fingerprint is the active one, the user's revision grows and the rows come again in ``load``.
        """
        ...

    # reading -------------------------------------------------------------------------------------------

    def revision(self, user_id: str) -> int:
        """Grows with every committed change; 0 for an unknown user."""
        ...

    def mark(self, user_id: str) -> Mark:
        """Where the user's history stands."""
        ...

    def follows(self, user_id: str, mark: Mark) -> bool:
        """Whether what is stored now came from what was stored at a mark, and nothing was erased since.

        False, too, of another database's mark, and where the embedder was changed or a backup restored since: then
        what was copied at the mark cannot be brought up to date by ``load``, or holds erased words.
        """
        ...

    def load(self, user_id: str, *, since: int) -> Delta:
        """What changed since a revision, with the active embedder's vectors, from one snapshot."""
        ...

    def turns(
        self,
        user_id: str,
        *,
        turn_ids: Sequence[str] | None = None,
        session_id: str | None = None,
        agent_id: str | None = None,
        speaker: str | None = None,
        after_seq: int = -1,
        limit: int | None = None,
    ) -> list[Turn]:
        """Turns in the order of ``seq``; given criteria are all met; unknown ids are absent. Any number of ids."""
        ...

    def tail(self, user_id: str, session_id: str) -> Turn | None:
        """The last turn of a session."""
        ...

    def known_turns(self, user_id: str, turn_ids: Sequence[str]) -> set[str]:
        """Which of these ids exist."""
        ...

    def known_cues(self, user_id: str, keys: Collection[str]) -> set[str]:
        """Which of these cue keys exist with a vector of the active embedder."""
        ...

    def speakers(self, user_id: str) -> list[str]:
        """The speakers' names, each once, sorted by bytes."""
        ...

    def request(self, user_id: str, idempotency_key: str) -> tuple[str, ...] | None:
        """The turn ids recorded under an idempotency key."""
        ...

    def traces(
        self, user_id: str, *, trace_ids: Sequence[str] | None = None, turn_ids: Sequence[str] | None = None
    ) -> list[Trace]:
        """Traces by id, or those that hold any of the turns; by ordinal; all when neither is given."""
        ...

    def units(self, user_id: str, turn_ids: Sequence[str]) -> list[Unit]:
        """The units of these turns, by turn and position."""
        ...

    def notes(
        self,
        user_id: str,
        *,
        note_ids: Sequence[str] | None = None,
        given_ids: Sequence[str] | None = None,
        about: str | None = None,
        statuses: Collection[NoteStatus] = ("current",),
        after: str | None = None,
        limit: int | None = None,
        known_at: datetime | None = None,
    ) -> list[Note]:
        """Notes by note_id, then version; every version whose status is among ``statuses``.

        ``after`` is the id of the note that they come behind, or of a version of it: ``N7``, ``N7.2``.
        With ``known_at`` as they stood then, by the log: status, validity and confirmations are those that were known.
        """
        ...

    def held(self, user_id: str) -> dict[tuple[str, int], Held]:
        """(note_id, version) of the notes that wait for a person -> what they ask for."""
        ...

    def episodes(
        self, user_id: str, *, episode_ids: Sequence[str] | None = None, session_id: str | None = None
    ) -> list[Episode]:
        """Stored episodes that meet all criteria, in the order of the dialogue."""
        ...

    def operations(
        self,
        user_id: str,
        *,
        target_id: str | None = None,
        operation_ids: Sequence[str] | None = None,
        only: LogFilter = EVERY_OPERATION,
        after: str | None = None,
        limit: int | None = None,
    ) -> list[Operation]:
        """The log as ``only`` says, at most ``limit`` entries; ``after`` is the operation_id that they follow."""
        ...

    def counts(self, user_id: str) -> Counts:
        """Sizes."""
        ...

    # database ------------------------------------------------------------------------------------------

    def users(self) -> list[str]:
        """*database*: every user id, sorted by bytes."""
        ...

    def size_bytes(self) -> int:
        """*database*: bytes on disk, write-ahead log included."""
        ...

    def check(self) -> list[str]:
        """*database*: integrity problems in words; empty when sound."""
        ...

    def setting(self, name: str) -> str | None:
        """*database*: a setting of the database (``cue_extractor``)."""
        ...

    def set_setting(self, name: str, value: str) -> None:
        """*database*: store a setting."""
        ...

    def embedder(self) -> EmbedderRecord | None:
        """*database*: the active embedder; None while no vector was ever stored."""
        ...

    def use_embedder(self, record: EmbedderRecord) -> None:
        """*database*: make it the active one and erase the vectors of all others, in one transaction.

        Every user's revision grows, so that every index reloads.
        """
        ...

    def unembedded(self, fingerprint: str, *, user_id: str | None, limit: int) -> Iterator[Unembedded]:
        """*database*: what lacks vectors of this embedder, in pieces of at most ``limit`` ids, user by user.

        Each piece is read when asked for, so that storing vectors between pieces makes progress and a run that
        was cut resumes where it stopped.
        """
        ...
