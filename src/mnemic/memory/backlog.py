"""Making the vectors that were left for later, one user after the other, each by one process at a time."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, Literal

from mnemic import backfill
from mnemic.errors import ModelError, StoreError
from mnemic.memory.agreement import calibrate, serving
from mnemic.memory.liveness import Watch
from mnemic.telemetry import span

if TYPE_CHECKING:
    from mnemic.protocols import Embedder, EmbeddingLease, Store

_log = logging.getLogger("mnemic")

Outcome = Literal["idle", "done", "put_off"]
_LEASE: Final = timedelta(minutes=5)
"""For whoever looks just once; whoever stays knows sooner who is dead (``liveness``)."""
_FIRST_WAIT_S, _LONGEST_WAIT_S = 10.0, 900.0
_PIECE: Final = 64
"""Turns and the like that one piece embeds: after each somebody may have it stop."""


class Backlog:
    """What waits for its vectors; any number of these share a database.

    Args:
        store: Where it waits.
        embedder: Gives the embedder of now; None where there is none.
        clock: Says when now is.
        make_id: Names leases.
    """

    def __init__(
        self,
        store: Store,
        embedder: Callable[[], Embedder | None],
        *,
        clock: Callable[[], datetime],
        make_id: Callable[[], str],
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._make_id = make_id
        self._watch = Watch(store.embedding_leases)
        self._under_way: dict[str, EmbeddingLease] = {}

    @property
    def is_served(self) -> bool:
        """Whether this memory's embedder is the one whose vectors are missing."""
        return self._serving() is not None

    def count(self, user_id: str | None) -> int:
        """How much waits, of a user or of all."""
        return self._store.pending(user_id)

    def step(
        self,
        *,
        user_id: str | None = None,
        hurry: bool = False,
        done: Callable[[int], None] = lambda _: None,
        go_on: Callable[[], bool] = lambda: True,
    ) -> Outcome:
        """Make what one user lacks, if anybody lacks any that nobody else is making.

        Args:
            user_id: This user only.
            hurry: Also what was put off.
            done: Called with the number of vectors' owners of each piece once it is stored.
            go_on: Asked after each piece; the rest is left for later where it says no.

        Returns:
            ``put_off`` where something could not be embedded.
        """
        embedder = self._serving()
        if embedder is None:
            return "idle"
        token, now = self._make_id().replace("-", "")[:32], self._clock()
        lease = self._store.claim_embedding(
            token=token, now=now, until=now + _LEASE, user_id=user_id, hurry=hurry, silent=self._watch.silent()
        )
        if lease is None:
            return "idle"
        self._under_way[token] = lease
        try:
            with span("mnemic.backfill") as tell:
                outcome = self._make(lease, embedder, done, go_on)
                tell({"mnemic.outcome": outcome})
                return outcome
        except BaseException as error:
            with suppress(StoreError):  # then it falls silent
                self._put_off(lease) if isinstance(error, Exception) else self._release(lease)
            raise
        finally:
            del self._under_way[token]

    def extend(self) -> None:
        """Let the leases under way run on."""
        for lease in list(self._under_way.values()):
            self._store.extend_embedding(lease, until=self._clock() + _LEASE)

    def give_back(self) -> None:
        """Let others have the work under way: it is not waited for any more."""
        for lease in list(self._under_way.values()):
            self._release(lease)

    def _make(
        self, lease: EmbeddingLease, embedder: Embedder, done: Callable[[int], None], go_on: Callable[[], bool]
    ) -> Outcome:
        is_cut = False

        def goes_on() -> bool:
            nonlocal is_cut
            is_held = self._store.extend_embedding(lease, until=self._clock() + _LEASE)
            is_cut = not (is_held and go_on())
            return not is_cut

        try:
            made = backfill.fill(self._store, embedder, user_id=lease.user_id, done=done, go_on=goes_on, limit=_PIECE)
        except ModelError as error:
            _log.warning("vectors are still missing for user %r: %s", lease.user_id, error)
            return self._put_off(lease)
        if is_cut:
            self._release(lease)
            return "done"
        if not self._store.finish_embedding(lease, embedder.fingerprint):
            if not made:
                return self._put_off(lease)
            self._release(lease)  # something came meanwhile
            return "done"
        with suppress(ModelError):  # thresholds that nobody measured yet; failing leaves them to the next time
            calibrate(self._store, embedder, [lease.user_id])
        return "done"

    def _put_off(self, lease: EmbeddingLease) -> Outcome:
        wait = min(_FIRST_WAIT_S * 2.0 ** min(lease.attempts - 1, 16), _LONGEST_WAIT_S)
        due = self._clock() + timedelta(seconds=wait)
        # No words of the error's: it may quote what is erased one day.
        self._store.release_embedding(lease, due=due, reason="some words could not be embedded (see the log)")
        return "put_off"

    def _release(self, lease: EmbeddingLease) -> None:
        self._store.release_embedding(lease, due=self._clock(), counts=False)

    def _serving(self) -> Embedder | None:
        return serving(self._embedder(), self._store.embedder())[0]
