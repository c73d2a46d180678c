"""The five seams: Embedder, CueExtractor, Reranker, LanguageModel, Store. Nothing in them is optional.

Each has one contract suite (``tests/contract/``) that every implementation runs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol

from mnemic.types import (
    Counts,
    CueMention,
    Json,
    Metadata,
    Note,
    NoteStatus,
    Operation,
    Purpose,
    Task,
    Thresholds,
    TimePhrase,
    Trace,
    Turn,
    Unit,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]


class Embedder(Protocol):
    """Maps texts to unit vectors whose dot product is their cosine similarity."""

    @property
    def name(self) -> str:
        """For people: ``all-minilm-l6-v2-int8``."""
        ...

    @property
    def fingerprint(self) -> str:
        """Equal exactly when the vectors of two embedders may be compared; at most 64 ASCII characters."""
        ...

    @property
    def dim(self) -> int:
        """Length of a vector."""
        ...

    @property
    def thresholds(self) -> Thresholds:
        """Calibrated for this embedder alone."""
        ...

    def embed(self, texts: Sequence[str], *, kind: Literal["query", "passage"] = "passage") -> Floats:
        """Embed texts of any length.

        Args:
            texts: n texts, in any script, of any length; may hold NUL, lone surrogates, or be blank.
            kind: Which side of the search they are on; symmetric models ignore it.

        Returns:
            (n, dim) float32; row i belongs to text i and has norm 1, or norm 0 where the text is blank.
            A text's row does not depend on the other texts of the call (to 1e-5).

        Raises:
            EmbeddingFailed: The model failed; nothing is known about any of the texts.
        """
        ...


class CueExtractor(Protocol):
    """Finds the entities, key phrases, dates and numbers that a later question could mention."""

    @property
    def name(self) -> str:
        """Recorded in the database; two extractors with one name find the same cues."""
        ...

    def extract(self, texts: Sequence[str], *, names: Collection[str]) -> list[list[CueMention]]:
        """Extract the cues of each text.

        Args:
            texts: Sentences or questions, in any script.
            names: The participants' names: they are speakers, not topics, and never become cues.

        Returns:
            A list for each text, in order of position; ``text[m.start:m.end] == m.surface`` for each
            mention, and ``m.key == algo.cues.normalise(m.surface)``, never empty.
        """
        ...


class Reranker(Protocol):
    """Scores how well each text answers a query."""

    @property
    def name(self) -> str:
        """For people and for the result record."""
        ...

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Score n texts; n finite numbers, higher is better, independent of the order of the texts.

        Raises:
            RerankingFailed: The model failed.
        """
        ...


@dataclass(frozen=True, slots=True)
class Completion:
    """One request to a language model."""

    purpose: Purpose
    system: str
    user: str
    max_tokens: int
    schema: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, verbatim. ``finish`` is ``length`` when it was cut, ``refusal`` when it was declined."""

    text: str
    finish: Literal["stop", "length", "refusal"]
    tokens_in: int
    tokens_out: int


class LanguageModel(Protocol):
    """Completes one prompt. Parsing, validation and budgets are not its business."""

    @property
    def name(self) -> str:
        """``provider:model``."""
        ...

    def complete(self, request: Completion) -> Reply:
        """Complete one request.

        Raises:
            LanguageModelFailed: It raised, timed out or could not be reached.
        """
        ...


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
        windows: turn_id -> (dim,): the previous turn of its session and this turn together.
        traces: position in ``Batch.traces`` -> (dim,).
        cues: cue key -> (dim,).
        notes: position in ``Batch.notes`` -> (dim,).
    """

    fingerprint: str
    units: Mapping[str, Floats] = field(default_factory=_no_vectors)
    windows: Mapping[str, Floats] = field(default_factory=_no_vectors)
    traces: Mapping[int, Floats] = field(default_factory=_no_numbered_vectors)
    cues: Mapping[str, Floats] = field(default_factory=_no_vectors)
    notes: Mapping[int, Floats] = field(default_factory=_no_numbered_vectors)


@dataclass(frozen=True, slots=True)
class Batch:
    """Everything that one write commits, or nothing of it.

    Attributes:
        turns: New turns, in order; their ``seq`` is assigned by the store.
        units: Of the new turns, in order of position.
        phrases: Time phrases of the new turns.
        traces: New traces. ``ordinal`` -1 appends to the chain; a given ordinal takes that place (repacking).
        notes: New notes (``note_id`` empty: a new one, version 1; given: the next version, the former
            current version becomes ``superseded``).
        surfaces: cue key -> a surface form, for every key that units and notes mention.
        vectors: Embeddings of the above; what lacks one needs a task.
        tasks: Work left for later.
        remove_turns: Turns to erase, with their units, phrases, vectors, tasks and the notes that rest on them
            alone, log entries about those notes included; cues that nothing mentions any more go too.
            Of a note that rests on other turns as well, only the erased sources are removed.
        remove_traces: Traces to erase (those of erased turns; the caller repacks what is left of them).
        drop_windows: Turns whose window vector holds erased words.
        idempotency_key: Remembered with the ids of ``request_turns``; a repeat of the key finds them.
        request_turns: The ids of all turns of the call, known and new, for the idempotency record.
        tails: session_id -> turn_id of the last turn that the plan saw there (None: the session was empty).
        trigger: For the log: ``add``, ``delete``, ``person``.
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
    drop_windows: tuple[str, ...] = ()
    idempotency_key: str | None = None
    request_turns: tuple[str, ...] = ()
    tails: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    trigger: str = "add"


@dataclass(frozen=True, slots=True)
class Written:
    """What one write made."""

    revision: int
    trace_ids: tuple[str, ...]
    note_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A turn with all that hangs off it, as the index needs it."""

    turn: Turn
    units: tuple[Unit, ...]
    phrases: tuple[TimePhrase, ...]
    unit_vectors: Floats | None
    window_vector: Floats | None


@dataclass(frozen=True, slots=True)
class Delta:
    """What changed for one user since a revision; since 0 it is everything.

    A row that changed (metadata, late vectors, a note's status) comes again, whole. Removals are applied first.
    """

    revision: int
    removed_turns: tuple[int, ...]
    removed_traces: tuple[str, ...]
    removed_notes: tuple[str, ...]
    removed_cues: tuple[str, ...]
    turns: tuple[TurnRow, ...]
    traces: tuple[tuple[Trace, Floats | None], ...]
    notes: tuple[tuple[Note, Floats | None], ...]
    cues: tuple[tuple[str, str, Floats | None], ...]


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


class Store(Protocol):
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
                is not the one in ``tails``, or a turn or trace to be removed is gone. Nothing was stored.
        """
        ...

    def set_metadata(self, user_id: str, turn_id: str, metadata: Metadata, *, now: datetime) -> None:
        """Replace a turn's metadata. Raises NotFound."""
        ...

    def delete_user(self, user_id: str) -> int:
        """Erase everything of a user, log, idempotency records and counters included; the number of turns."""
        ...

    def put_vectors(
        self,
        user_id: str,
        fingerprint: str,
        *,
        units: Mapping[str, Floats],
        windows: Mapping[str, Floats],
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
        after_seq: int = -1,
        limit: int | None = None,
    ) -> list[Turn]:
        """Turns in the order of ``seq``; given criteria are all met; unknown ids are absent. Any number of ids."""
        ...

    def tail(self, user_id: str, session_id: str) -> Turn | None:
        """The last turn of a session."""
        ...

    def following(self, user_id: str, turn_ids: Sequence[str]) -> list[Turn]:
        """For each of these turns the next turn of its session, if any; without repeats, by ``seq``."""
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
        about: str | None = None,
        statuses: Collection[NoteStatus] = ("current",),
        after: str | None = None,
        limit: int | None = None,
    ) -> list[Note]:
        """Notes by note_id, then version; every version whose status is among ``statuses``. ``after`` is a note_id."""
        ...

    def operations(self, user_id: str, *, target_id: str | None = None) -> list[Operation]:
        """The log, oldest first."""
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
