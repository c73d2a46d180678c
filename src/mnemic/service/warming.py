"""Loading what the first request would wait for, while the server starts."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mnemic.memory import Memory


class Warming:
    """Loads a memory's embedder in a thread of its own, once."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._done = threading.Event()
        self._begun = threading.Lock()

    @property
    def is_done(self) -> bool:
        """Whether it is loaded, or failed to be: then search is by words alone, and says so."""
        return self._done.is_set()

    def start(self) -> None:
        """Begin, unless it was begun."""
        if self._begun.acquire(blocking=False):
            threading.Thread(target=self._warm, name="mnemic-warm", daemon=True).start()

    def _warm(self) -> None:
        try:
            self._memory.warm()
        finally:
            self._done.set()
