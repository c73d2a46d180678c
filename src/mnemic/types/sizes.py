"""What was done, and how much there is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from mnemic.types.names import Purpose, WorkKind


@dataclass(frozen=True, slots=True)
class Added:
    """What one ``add`` or ``add_notes`` did.

    Attributes:
        turn_ids: The ids of all turns of the call, in order, new and known alike; none of ``add_notes``.
        new: How many of what was given, turns or notes, were not there before.
        notes: The ids of the notes that local rules took from the new turns; of ``add_notes`` those of all notes of
            the call, in order, new and known alike.
        warnings: What has to be done later (an embedder that failed), if anything.
    """

    turn_ids: tuple[str, ...]
    new: int
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recovery:
    """What one ``recover`` wrote, or found there from a time before it was cut.

    Attributes:
        new: How many of the turns were not there before.
        notes: Versions of notes.
    """

    turns: int = 0
    new: int = 0
    notes: int = 0
    operations: int = 0
    episodes: int = 0


@dataclass(frozen=True, slots=True)
class FailedWork:
    """Work on a trace that was given up: what, for how many traces, and why."""

    kind: WorkKind
    traces: int
    reason: str


@dataclass(frozen=True, slots=True)
class Enrichment:
    """How far language models are with the traces, for each trace and kind of work one piece; and the embedder.

    Attributes:
        failed: Given up; ``Memory.retry`` has it done again.
        failures: Of the failed ones.
        waiting_for: Why work was put off (a budget, a busy model, an embedder that failed), if it was.
        unembedded: Turns, traces, cues and notes that wait for their vectors, and are found by their words until then.
    """

    pending: int = 0
    running: int = 0
    done: int = 0
    failed: int = 0
    failures: tuple[FailedWork, ...] = ()
    waiting_for: tuple[str, ...] = ()
    unembedded: int = 0


@dataclass(frozen=True, slots=True)
class Spent:
    """What language models took for one purpose.

    Attributes:
        calls: Requests made, failed ones too.
        cost: In the currency of the prices; a lower bound while ``unpriced`` calls have none.
    """

    purpose: Purpose
    calls: int
    tokens_in: int
    tokens_out: int
    cost: float
    unpriced: int


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a budget allows, and how much of it is spent.

    Attributes:
        budget: Of a ``call``, of the user on one day (UTC), or in ``total``.
        unit: What is counted; ``cost`` in the currency of the prices.
        spent: So far; None where it does not add up: of a call, and of a day where no user is named.
    """

    budget: Literal["call", "user_day", "total"]
    unit: Literal["tokens", "calls", "cost"]
    limit: float
    spent: float | None


@dataclass(frozen=True, slots=True)
class Counts:
    """Sizes of one user's memory.

    Attributes:
        notes: Of any status.
        unsupported: Those whose sources do not bear them out: kept, and never shown as true.
        pending: What waits for its vectors.
    """

    turns: int
    sessions: int
    traces: int
    units: int
    cues: int
    notes: int
    pending: int
    revision: int
    unsupported: int = 0
    episodes: int = 0


@dataclass(frozen=True, slots=True)
class Status:
    """Sizes of a memory: of its database and, where a user was named, of that user's part.

    Attributes:
        embedder: Whose vectors the database holds; None while it holds none.
        cue_extractor: Who finds cues from now on.
        size_bytes: On disk.
        users: How many.
        index_bytes: In memory, of this process.
        counts: Of the user.
        warnings: What this memory has to do without.
        models: Purpose -> language model of this memory.
        enrichment: How far they are, of the user or of all.
        spent: What they took so far, of the user or of all, erased users included.
        keeps: Whether anything is kept about the user; ``Memory.notice`` says it in words. False where none was named.
        allowances: What they may take, by every budget of this memory that has a limit.
        fingerprint: Of the embedder: two with the same make the same vectors.
    """

    embedder: str | None
    cue_extractor: str
    size_bytes: int
    users: int
    index_bytes: int
    counts: Counts | None
    warnings: tuple[str, ...]
    models: Mapping[Purpose, str] = field(default_factory=dict[Purpose, str])
    enrichment: Enrichment = Enrichment()
    spent: tuple[Spent, ...] = ()
    keeps: bool = False
    allowances: tuple[Allowance, ...] = ()
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Cosine thresholds, calibrated for one embedder (methods.md A10).

    Attributes:
        tau_init: HERO's anchor threshold between a query entity and a cue.
        tau_alias: HERO's threshold between near-synonymous cues.
        tau_iter: HERO's threshold between the query and a unit or note.
        relevance: Below this best cosine, in a memory of 1,000 sentences and with no rare word matched either,
            nothing is relevant; see ``algo.abstain``.
    """

    tau_init: float
    tau_alias: float
    tau_iter: float
    relevance: float
