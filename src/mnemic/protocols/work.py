"""The seam to the outbox: what language models are still to do with traces."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from mnemic.types import Enrichment, WorkKind


@dataclass(frozen=True, slots=True)
class Lease:
    """Work of one kind on some traces of one session, that whoever holds this does, and nobody else meanwhile.

    Attributes:
        token: Names the lease; after it ran out somebody else may have the work.
        trace_ids: In the order of the dialogue.
        attempts: How often the work was begun, this time included: of the trace that it was begun with most often.
    """

    token: str
    user_id: str
    session_id: str
    kind: WorkKind
    trace_ids: tuple[str, ...]
    attempts: int


class WorkQueue(Protocol):
    """Work on traces, written with them, taken by lease, and finished by the write of what came of it (``Batch``).

    Work of one kind is under way once a user: what it makes depends on what it made before. It goes with its trace.
    """

    def enqueue(self, user_id: str, kinds: Collection[WorkKind], *, due: datetime) -> int:
        """Have work done on all traces that it was never to be done on; how much that is."""
        ...

    def withheld(self, user_id: str, session_id: str, kind: WorkKind) -> set[str]:
        """The turns of a session that no work of a kind was ever to read."""
        ...

    def claim(
        self, kinds: Collection[WorkKind], *, token: str, now: datetime, until: datetime, user_id: str | None = None,
        hurry: bool = False, limit: int = 64, silent: Collection[str] = (),
    ) -> Lease | None:  # fmt: skip
        """*database*: lease the work that is due longest, and what else waits of its session; None where nothing is.

        Args:
            kinds: What may be claimed.
            token: Of the lease, at most 32 ASCII characters, never used before.
            now: What is due by then; and whose lease ran out by then is claimed again.
            until: When the lease runs out.
            user_id: Of this user only.
            hurry: Take what is not due yet, too, but for what was put off.
            limit: Traces at most.
            silent: Tokens of leases that are nobody's, whenever they run out: their work is claimed again.
        """
        ...

    def extend(self, lease: Lease, *, until: datetime) -> None:
        """Let a lease run longer, for whoever does the work is still alive.

        One that ran out stays so where other work of its kind and user was begun since.
        """
        ...

    def leases(self) -> Mapping[str, datetime]:
        """*database*: token -> when it runs out, of all leases."""
        ...

    def leased(self, lease: Lease) -> tuple[str, ...]:
        """Which of a lease's traces are still there and still leased by it, in the order of the dialogue."""
        ...

    def release(
        self, lease: Lease, *, due: datetime | None, reason: str, counts: bool = True, trace_ids: Sequence[str] = ()
    ) -> None:
        """Give work back undone.

        Args:
            lease: What was claimed; what it holds no more is left alone.
            due: When it may be tried again; None: never, it failed.
            reason: Why, for people; never the words of a dialogue.
            counts: Whether the attempt counts.
            trace_ids: Only the work on these; on all where there are none.
        """
        ...

    def retry(self, user_id: str | None, *, now: datetime) -> int:
        """Let failed work be done again, at once; put-off work too. How much that is; *database* without a user."""
        ...

    def enrichment(self, user_id: str | None, *, kinds: Collection[WorkKind] | None = None) -> Enrichment:
        """How far the work is, of these kinds where some are named; *database* without a user."""
        ...
