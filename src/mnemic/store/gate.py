"""Counts the transactions under way, so that closing and forking can wait for them.

SQLite's locks belong to the process: a connection that a fork carries into the child breaks them on both sides. So
before a fork every store ends its connections, and both processes open new ones when they need them.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import lru_cache
from weakref import WeakSet

from mnemic.errors import StoreClosed


class Gate:
    """Open until closed; a fork holds it shut for a moment.

    Args:
        name: What is behind it, for the message.
        disconnect: Ends the idle connections; called with nobody inside.
        patience: Seconds to wait for those inside.
    """

    def __init__(self, name: str, disconnect: Callable[[], None], *, patience: float) -> None:
        self._name = name
        self._disconnect = disconnect
        self._patience = patience
        self._changed = threading.Condition()
        self._inside = 0
        self._shut = False
        self._closed = False
        _watch_forks()
        _gates.add(self)

    @contextmanager
    def entered(self) -> Generator[None]:
        """Be inside for the duration of the block; not twice in one thread. Raises StoreClosed."""
        with self._changed:
            self._changed.wait_for(lambda: not self._shut)
            if self._closed:
                raise StoreClosed(f"{self._name} was closed; open it again")
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """Let nobody in any more, wait for those inside, disconnect. Twice is allowed."""
        with self._changed:
            self._closed = True
            self._empty()

    def before_fork(self) -> None:
        """Shut, and disconnect."""
        with self._changed:
            self._shut = True
            self._empty()

    def after_fork(self) -> None:
        """Open again, in the parent."""
        with self._changed:
            self._shut = False
            self._changed.notify_all()

    def after_fork_in_child(self) -> None:
        """Open again, in the child, where other threads, and what they held, do not exist."""
        self._changed = threading.Condition()
        self._inside = 0
        self._shut = False

    def _empty(self) -> None:
        self._changed.wait_for(lambda: self._inside == 0, timeout=self._patience)
        self._disconnect()


@lru_cache(maxsize=1)
def _watch_forks() -> None:
    """Ask, once, to be told of forks."""
    shut: list[Gate] = []

    def before() -> None:
        for gate in list(_gates):
            gate.before_fork()
            shut.append(gate)

    def after(action: Callable[[Gate], None]) -> None:
        while shut:
            action(shut.pop())

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=before,
            after_in_parent=lambda: after(Gate.after_fork),
            after_in_child=lambda: after(Gate.after_fork_in_child),
        )


_gates: WeakSet[Gate] = WeakSet()
