"""What goes into a store and comes out of it, besides the types that everybody sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Final

from mnemic.protocols.work import Lease
from mnemic.types import (
    Action,
    Episode,
    Erased,
    Interval,
    Json,
    Note,
    NoteStatus,
    Purpose,
    Task,
    Thresholds,
    TimePhrase,
    Trace,
    Turn,
    Unit,
    WorkKind,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]


def _no_vectors() -> dict[str, Floats]:
    return {}


def _no_numbered_vectors() -> dict[int, Floats]:
    return {}


@dataclass(frozen=True, slots=True)
class Vectors:
    """Embeddings by one embedder, in float32 (stored as little-endian float16).

    Attributes:
        fingerprint: The embedder's.
        units: turn_id -> (n, dim): row i belongs to the turn's i-th unit.
        traces: position in ``Batch.traces`` -> (dim,).
        cues: cue key -> (dim,).
        notes: position in ``Batch.notes`` -> (dim,).
    """

    fingerprint: str
    units: Mapping[str, Floats] = field(default_factory=_no_vectors)
    traces: Mapping[int, Floats] = field(default_factory=_no_numbered_vectors)
    cues: Mapping[str, Floats] = field(default_factory=_no_vectors)
    notes: Mapping[int, Floats] = field(default_factory=_no_numbered_vectors)


BY_NOTE: Final = "by"
"""In the ``detail`` of an expired note: the id of the one that it gave way to; it counts again when that is erased."""
CONFIRMED: Final = "confirmed"
"""The ``decision`` in the log of a person who says that a note is true; by it, the note was confirmed then."""


@dataclass(frozen=True, slots=True)
class NoteState:
    """A version of a note that stays, word for word, but counts otherwise from now on.

    Attributes:
        before: The status and validity that the plan saw.
        after: Those that it gets.
        detail: For the log, besides these.
        by: Position in the batch's ``notes`` of the new one that it gives way to; when that one is erased, it counts
            again as before.
    """

    note_id: str
    version: int
    action: Action
    before: tuple[NoteStatus, Interval]
    after: tuple[NoteStatus, Interval]
    detail: Mapping[str, Json] = field(default_factory=dict[str, Json])
    by: int | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """How a note that waits for a person stands to another one: ``algo.revise``'s relation, and that note's id."""

    relation: str
    target_id: str | None


@dataclass(frozen=True, slots=True)
class LogFilter:
    """Which entries of the log are wanted, and in which order.

    Attributes:
        action: Only of this action.
        trigger: Only what this brought about; ``undo`` stands for every undoing, whatever it took back.
        since: Only those made at this time or later.
        until: Only those made before this time.
        newest_first: Else oldest first.
    """

    action: Action | None = None
    trigger: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    newest_first: bool = False


EVERY_OPERATION: Final = LogFilter()


@dataclass(frozen=True, slots=True)
class Batch:
    """Everything that one write commits, or nothing of it.

    Attributes:
        turns: New turns, in order; their ``seq`` is assigned by the store.
        units: Of the new turns, in order of position.
        phrases: Time phrases of the new turns.
        traces: New traces. ``ordinal`` -1 appends to the chain; a given ordinal takes that place (repacking).
        notes: New notes (``note_id`` empty: a new one, version 1; given: the next version, the former
            current version becomes ``superseded``, where the new one is current).
        surfaces: cue key -> a surface form, for every key that units and notes mention.
        vectors: Embeddings of the above; what lacks one needs a task.
        tasks: Work left for later.
        remove_turns: Turns to erase, with their units, phrases, vectors, tasks and the notes that rest on any of them,
            log entries about those notes included; cues that nothing mentions any more go too.
        remove_traces: Traces to erase (those of erased turns; the caller repacks what is left of them).
        idempotency_key: Remembered with the ids of ``request_turns``; a repeat of the key finds them.
        request_turns: The ids of all turns of the call, known and new, for the idempotency record.
        tails: session_id -> turn_id of the last turn that the plan saw there (None: the session was empty).
        trigger: For the log: ``add``, ``delete``, ``person``, or a model's name.
        mentions: (turn_id, start of a unit) -> cues, key -> count, that a unit of a stored turn mentions besides.
        states: Versions of notes that get another status, before the new notes are added.
        details: Position in ``notes`` -> what the log says of it besides.
        held: Position in ``notes`` -> what a note that waits for a person asks for.
        confirmations: (note_id, version) -> turns that say again what it says.
        settled: (note_id, version) of notes that wait no more.
        waiting: (note_id, version) of notes that wait again -> what they ask for.
        episodes: New ones (``episode_id`` empty).
        remove_episodes: Those whose place they take.
        work: What language models shall do with the new traces. On a repacked one it is done again, if there was such
            work on the trace that was in its place; of other kinds it keeps what that one had, and what was done.
        due: When that is due.
        lease: Of the work that this batch is the result of: the write finishes it.
    """

    turns: tuple[Turn, ...] = ()
    units: tuple[Unit, ...] = ()
    phrases: tuple[TimePhrase, ...] = ()
    traces: tuple[Trace, ...] = ()
    notes: tuple[Note, ...] = ()
    surfaces: Mapping[str, str] = field(default_factory=dict[str, str])
    vectors: Vectors | None = None
    tasks: tuple[Task, ...] = ()
    remove_turns: tuple[str, ...] = ()
    remove_traces: tuple[str, ...] = ()
    idempotency_key: str | None = None
    request_turns: tuple[str, ...] = ()
    tails: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    trigger: str = "add"
    mentions: Mapping[tuple[str, int], Mapping[str, int]] = field(
        default_factory=dict[tuple[str, int], Mapping[str, int]]
    )
    states: tuple[NoteState, ...] = ()
    details: Mapping[int, Mapping[str, Json]] = field(default_factory=dict[int, Mapping[str, Json]])
    held: Mapping[int, Held] = field(default_factory=dict[int, Held])
    confirmations: Mapping[tuple[str, int], tuple[str, ...]] = field(
        default_factory=dict[tuple[str, int], tuple[str, ...]]
    )
    settled: tuple[tuple[str, int], ...] = ()
    waiting: Mapping[tuple[str, int], Held] = field(default_factory=dict[tuple[str, int], Held])
    episodes: tuple[Episode, ...] = ()
    remove_episodes: tuple[str, ...] = ()
    work: tuple[WorkKind, ...] = ()
    due: datetime | None = None
    lease: Lease | None = None


@dataclass(frozen=True, slots=True)
class Removed:
    """What an erasure removed.

    Attributes:
        erased: How much.
        lingers: Where bytes of it may still stand, and until when; empty when they stand nowhere.
    """

    erased: Erased
    lingers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Written:
    """What one write made.

    Attributes:
        operation_ids: Of the log entries, in order.
        removed: Where the batch erased turns.
    """

    revision: int
    trace_ids: tuple[str, ...]
    note_ids: tuple[str, ...]
    operation_ids: tuple[str, ...] = ()
    episode_ids: tuple[str, ...] = ()
    removed: Removed | None = None


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A turn with all that hangs off it, as the index needs it."""

    turn: Turn
    units: tuple[Unit, ...]
    phrases: tuple[TimePhrase, ...]
    unit_vectors: Floats | None


@dataclass(frozen=True, slots=True)
class Delta:
    """What changed for one user since a revision; since 0 it is everything.

    A row that changed (metadata, late vectors or cues, a note's status) comes again, whole. Removals are applied first.
    A cue that nothing mentions any more is gone without being named: its key may be an erased word.
    """

    revision: int
    removed_turns: tuple[int, ...]
    removed_traces: tuple[str, ...]
    removed_notes: tuple[str, ...]
    turns: tuple[TurnRow, ...]
    traces: tuple[tuple[Trace, Floats | None], ...]
    notes: tuple[tuple[Note, Floats | None], ...]
    cues: tuple[tuple[str, str, Floats | None], ...]
    removed_episodes: tuple[str, ...] = ()
    episodes: tuple[Episode, ...] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """A point in a user's history, by which a copy made then is told to be of this history.

    Attributes:
        revision: What it was then.
        seq, said_at: The last turn, and when it was recorded, in microseconds since the epoch; -1 and 0 without turns.
        operation, done_at: The last entry of the log, likewise; 0 and 0 for none.
    """

    revision: int
    seq: int
    said_at: int
    operation: int
    done_at: int


@dataclass(frozen=True, slots=True)
class EmbedderRecord:
    """The embedder whose vectors a database holds."""

    fingerprint: str
    name: str
    dim: int
    thresholds: Thresholds


@dataclass(frozen=True, slots=True)
class Unembedded:
    """Some of what one user has without vectors of a given embedder: ids, in the store's order."""

    user_id: str
    turn_ids: tuple[str, ...]
    trace_ids: tuple[str, ...]
    cue_keys: tuple[str, ...]
    note_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Amount:
    """What calls of language models took.

    Attributes:
        calls: Requests made, failed ones too.
        tokens_in, tokens_out: Of the prompts and of the replies.
        cost: In the currency of the prices, of the calls whose model has one.
        unpriced: How many of the calls have no price: while there is any, ``cost`` is a lower bound.
    """

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    unpriced: int = 0

    @property
    def tokens(self) -> int:
        """In and out."""
        return self.tokens_in + self.tokens_out


@dataclass(frozen=True, slots=True)
class Usage:
    """What was spent on one day (UTC) for one purpose."""

    day: date
    purpose: Purpose
    amount: Amount
