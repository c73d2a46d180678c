"""Threads that do what was left for later as it becomes due (vectors, work on traces), and waiting for it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from mnemic.errors import StoreClosed, StoreError
from mnemic.memory.backlog import Backlog
from mnemic.memory.enriching import PAUSED, Enricher
from mnemic.memory.liveness import HEARTBEAT_S
from mnemic.protocols import Store
from mnemic.types import Enrichment

_log = logging.getLogger("mnemic")

_LOOK_S: Final = 2.0
"""Seconds after which a thread looks for work that others left."""
_GLANCE_S: Final = 0.05
_FAREWELL_S: Final = 2.0


class Workers:
    """The threads of one memory; none where no model is there for anything, and no words wait for their vectors.

    Args:
        enricher: Does the work of language models.
        backlog: Makes vectors.
        store: Where the work is.
        threads: How many models are asked at a time; 0 leaves all work to others (``mnemic worker``).
    """

    def __init__(self, enricher: Enricher, backlog: Backlog, store: Store, *, threads: int) -> None:
        self._enricher = enricher
        self._backlog = backlog
        self._store = store
        self._threads: list[threading.Thread] = []
        self._may_work = threads > 0
        self._count = threads if enricher.kinds else 0
        self._stopped = threading.Event()
        self._bell = threading.Condition()
        self._lock = threading.Lock()

    def start(self) -> None:
        """Have the threads work; again, nothing."""
        if self._count:
            self._begin("mnemic-work", self._work, self._count)
            self._begin("mnemic-leases", self._live, 1)
        if self._count or self._backlog.count(None):
            self._make_vectors()

    def _begin(self, name: str, loop: Callable[[], None], count: int) -> None:
        """Start threads, unless there are some of that name already."""
        with self._lock:
            if self._stopped.is_set() or any(thread.name == name for thread in self._threads):
                return
            for _ in range(count):
                thread = threading.Thread(target=loop, name=name, daemon=True)
                thread.start()
                self._threads.append(thread)

    def wake(self, *, vectors: bool = False) -> None:
        """There may be work; with ``vectors``, some for the embedder."""
        if self._count:
            self.start()
        elif vectors:
            self._make_vectors()
        with self._bell:
            self._bell.notify_all()

    def _make_vectors(self) -> None:
        """Have a thread do so: one, for an embedder uses all processors by itself."""
        if self._may_work and self._backlog.is_served:
            self._begin("mnemic-embed", self._embed, 1)
            self._begin("mnemic-leases", self._live, 1)

    def close(self) -> None:
        """Stop; a call under way is not waited for, and its work is given back, for anybody to do again."""
        self._stopped.set()
        with self._bell:
            self._bell.notify_all()
        deadline = time.monotonic() + _FAREWELL_S
        for thread in self._threads:
            thread.join(max(deadline - time.monotonic(), 0.0))
        try:
            self._enricher.give_back()
            self._backlog.give_back()
        except StoreError as error:
            _log.warning("work under way is left to run out: %s", error)

    def wait(
        self,
        *,
        user_id: str | None = None,
        timeout: float | None = None,
        embedded: Callable[[int], None] = lambda _: None,
    ) -> Enrichment:
        """Do work, due or not, until none is left but what failed, what a budget put off, and what others must do.

        Args:
            user_id: Only of this user; all without.
            timeout: Seconds to wait at most.
            embedded: Called with the number of turns and the like that got their vectors, piece by piece.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        if self._enricher.kinds or (self._backlog.is_served and self._backlog.count(user_id)):
            self._begin("mnemic-leases", self._live, 1)
        self._wait_for_vectors(user_id, deadline, embedded)
        was_settled = False
        while True:
            outcome = self._enricher.step(user_id=user_id, hurry=True) if self._enricher.kinds else "idle"
            is_late = _is_late(deadline)
            is_settled = outcome == "idle" and self._is_settled(user_id)
            # Twice: what others finish after the first look may leave work for this one.
            if is_late or (is_settled and was_settled):
                return self.standing(user_id)
            was_settled = is_settled
            if outcome == "idle" and not is_settled:
                self._stopped.wait(_GLANCE_S)

    def standing(self, user_id: str | None) -> Enrichment:
        """How far everything is that was left for later."""
        found = self._store.enrichment(user_id)
        reasons = (*found.waiting_for, *self._store.put_off(user_id))
        return replace(found, unembedded=self._backlog.count(user_id), waiting_for=reasons)

    def _wait_for_vectors(self, user_id: str | None, deadline: float | None, embedded: Callable[[int], None]) -> None:
        """Make what lacks vectors, or wait for whoever does; what fails once is left."""
        hurry = True
        while self._backlog.is_served and self._backlog.count(user_id):
            outcome = self._backlog.step(
                user_id=user_id, hurry=hurry, done=embedded, go_on=lambda: not _is_late(deadline)
            )
            if _is_late(deadline) or (outcome == "idle" and self._store.put_off(user_id)):
                return
            if outcome == "put_off":
                hurry = False
            elif outcome == "idle":
                self._enricher.watch()  # the silence of both is waited for at once
                self._stopped.wait(_GLANCE_S)

    def _is_settled(self, user_id: str | None) -> bool:
        """Whether nothing is left that this memory has models for, but what a budget put off."""
        kinds = self._enricher.kinds
        if not kinds:
            return True
        standing = self._store.enrichment(user_id, kinds=kinds)
        return not standing.running and all(reason.startswith(PAUSED) for reason in standing.waiting_for)

    def _work(self) -> None:
        while not self._stopped.is_set():
            try:
                outcome = self._enricher.step()
            except StoreClosed:
                return
            except StoreError as error:
                _log.warning("work waits for the database: %s", error)
                outcome = "idle"
            if outcome != "done":
                with self._bell:
                    self._bell.wait(_LOOK_S)

    def _embed(self) -> None:
        while not self._stopped.is_set():
            try:
                outcome = self._backlog.step(go_on=lambda: not self._stopped.is_set())
            except StoreClosed:
                return
            except StoreError as error:
                _log.warning("vectors wait for the database: %s", error)
                outcome = "idle"
            if outcome != "done":
                with self._bell:
                    self._bell.wait(_LOOK_S)

    def _live(self) -> None:
        """Let the leases under way run on, as long as this process lives."""
        while not self._stopped.wait(min(HEARTBEAT_S, self._enricher.settings.lease_s / 3)):
            try:
                self._enricher.extend()
                self._backlog.extend()
            except StoreClosed:
                return
            except StoreError as error:
                _log.warning("leases of work could not be extended: %s", error)


def _is_late(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() >= deadline
