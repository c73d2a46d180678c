"""Token buckets: how much comes at once, and how much over time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

_KEPT: Final = 10_000


class Buckets:
    """One bucket a name, full at first. Thread-safe; of more than 10,000 names the longest unused are forgotten.

    Args:
        rate: Tokens a second that flow in, over 0.
        size: Most tokens a bucket holds, at least 1.
        clock: Seconds, never backwards.
    """

    def __init__(self, rate: float, size: float, *, clock: Callable[[], float]) -> None:
        self._rate = rate
        self._size = size
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, name: str) -> float:
        """Take a token; 0.0, or where there is none the seconds until there will be one."""
        with self._lock:
            left = self._now(name)
            if left < 1.0:
                return (1.0 - left) / self._rate
            self._put(name, left - 1.0)
        return 0.0

    def wait(self, name: str) -> float:
        """As ``take``, without taking."""
        with self._lock:
            return max(1.0 - self._now(name), 0.0) / self._rate

    def _now(self, name: str) -> float:
        left, at = self._left.get(name, (self._size, self._clock()))
        return min(self._size, left + (self._clock() - at) * self._rate)

    def _put(self, name: str, left: float) -> None:
        self._left[name] = left, self._clock()
        self._left.move_to_end(name)
        while len(self._left) > _KEPT:
            self._left.popitem(last=False)
