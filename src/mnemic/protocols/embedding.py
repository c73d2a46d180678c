"""The seam to what waits for its vectors: words that were stored before they were embedded."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class EmbeddingLease:
    """The making of one user's missing vectors, that whoever holds this does, and nobody else meanwhile.

    Attributes:
        token: Names the lease; after it ran out somebody else may have the work.
        attempts: How often it was begun since it last came to its end, this time included.
    """

    token: str
    user_id: str
    attempts: int


class EmbeddingQueue(Protocol):
    """The users of whom something waits for its vectors, taken by lease, one after the other.

    What waits are the ``embed`` tasks; a lease only keeps two processes from making the same vectors.
    """

    def claim_embedding(
        self, *, token: str, now: datetime, until: datetime, user_id: str | None = None, hurry: bool = False,
        silent: Collection[str] = (),
    ) -> EmbeddingLease | None:  # fmt: skip
        """*database*: lease the next user of whom something waits; None where nobody's may be begun.

        Args:
            token: Of the lease, at most 32 ASCII characters, never used before.
            now: What was put off until then may be begun; and what a lease held that ran out by then.
            until: When the lease runs out.
            user_id: This user only.
            hurry: What was put off, too.
            silent: Tokens of leases that are nobody's, whenever they run out: their work may be begun.
        """
        ...

    def embedding_leases(self) -> Mapping[str, datetime]:
        """*database*: token -> when it runs out, of all leases."""
        ...

    def extend_embedding(self, lease: EmbeddingLease, *, until: datetime) -> bool:
        """Let a lease run longer; False where somebody else has the work by now, or the user is gone."""
        ...

    def finish_embedding(self, lease: EmbeddingLease, fingerprint: str) -> bool:
        """End a lease whose user has all vectors of an embedder, and the tasks with it.

        Returns:
            False where something still lacks its vector, or the lease is held no more: then nothing was changed.
        """
        ...

    def release_embedding(self, lease: EmbeddingLease, *, due: datetime, reason: str = "", counts: bool = True) -> None:
        """Give the work back undone.

        Args:
            lease: What was claimed; what it holds no more is left alone.
            due: When it may be begun again.
            reason: Why, for people; never the words of a dialogue.
            counts: Whether the attempt counts.
        """
        ...

    def pending(self, user_id: str | None) -> int:
        """How many tasks wait; *database* without a user."""
        ...

    def put_off(self, user_id: str | None) -> tuple[str, ...]:
        """Why what waits was put off, each reason once; *database* without a user."""
        ...
