"""Who holds a lease and is dead: told by what does not change, so that no clock that is wrong strands any work.

Whoever does leased work lets the lease run on every few seconds. A lease that stays as it was for much longer is
nobody's, whatever the times in it say: its process was killed, and perhaps the clock has been set back since.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

HEARTBEAT_S = 5.0
"""Seconds after which whoever is alive has let its leases run on."""
SILENCE_S = 20.0
"""Seconds after which whoever has not is dead."""
_LOOK_S: Final = 1.0


class Watch:
    """Looks at the leases of one kind now and then; for any number of threads.

    Args:
        look: From nothing to token -> when it runs out, of all leases.
        time_s: Seconds since anything, by a clock that nobody sets.
    """

    def __init__(
        self,
        look: Callable[[], Mapping[str, datetime]],
        *,
        time_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._look = look
        self._time_s = time_s
        self._lock = threading.Lock()
        self._looked: float | None = None
        self._seen: dict[str, tuple[datetime, float]] = {}

    def silent(self) -> frozenset[str]:
        """The tokens of leases that are nobody's any more."""
        with self._lock:
            now = self._time_s()
            if self._looked is None or now - self._looked >= min(_LOOK_S, SILENCE_S / 2):
                self._seen = {token: self._noted(token, until, now) for token, until in self._look().items()}
                self._looked = now
            return frozenset(token for token, (_, since) in self._seen.items() if now - since >= SILENCE_S)

    def _noted(self, token: str, until: datetime, now: float) -> tuple[datetime, float]:
        before = self._seen.get(token)
        return before if before is not None and before[0] == until else (until, now)
