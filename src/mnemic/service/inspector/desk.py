"""Who looks at the inspector: logins by API key, kept in this process's memory, and what each may do.

A browser holds a random token in a cookie that no script reads and no other site sends; the key that it stands for
stays here. The key is asked about again at every page and every deed, so a revocation holds at once.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mnemic.errors import KeyRefused
from mnemic.service.access import Access

if TYPE_CHECKING:
    from starlette.requests import Request

    from mnemic.memory import Memory
    from mnemic.service.door import Door
    from mnemic.service.tenant_memory import TenantMemory

COOKIE: Final = "mnemic_inspector"
LASTS_S: Final = 12 * 3600
_MOST: Final = 1000


@dataclass(frozen=True, slots=True)
class Visit:
    """One page in one browser.

    Attributes:
        access: What the key opened when the page was asked for; what it opens now, ``memory`` asks.
        user_id: Whose memory is looked at; None where nobody is chosen yet.
        given: What else the page is asked, from its address.
        asks: Whether there is a login to leave.
    """

    access: Access
    user_id: str | None
    given: dict[str, str]
    asks: bool
    readmit: Callable[[], Access]
    whole: Memory

    def memory(self) -> TenantMemory:
        """The tenant's memory, if the key is still good. Raises KeyRefused."""
        return self.readmit().memory(self.whole)

    def may(self, scope: str) -> bool:
        """Whether the key has a scope."""
        return scope in self.access.scopes


class Desk:
    """Logins of one process. Thread-safe.

    Args:
        door: Says what a key opens, and how often it may be asked.
        asks: Whether keys are asked for at all.
        clock: Seconds, never backwards.
    """

    def __init__(self, door: Door, *, asks: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self.asks = asks
        self._door = door
        self._clock = clock
        self._keys: OrderedDict[bytes, tuple[str, float]] = OrderedDict()
        self._lock = threading.Lock()

    def enter(self, key: str, *, address: str) -> str:
        """Log a key in; the token of its cookie. Raises KeyRefused, TooManyRequests."""
        self._door.admit_key(key, address=address)
        token = secrets.token_urlsafe(32)
        with self._lock:
            self._keys[_digest(token)] = key, self._clock() + LASTS_S
            while len(self._keys) > _MOST:
                self._keys.popitem(last=False)
        return token

    def leave(self, token: str) -> None:
        """Log out; of an unknown token, nothing."""
        with self._lock:
            self._keys.pop(_digest(token), None)

    def admit(self, token: str, *, address: str) -> Access:
        """What a login opens now. Raises KeyRefused, TooManyRequests."""
        with self._lock:
            key, until = self._keys.get(_digest(token), ("", 0.0))
        if not key or self._clock() >= until:
            self.leave(token)
            raise KeyRefused("the login is over; log in again")
        return self._door.admit_key(key, address=address)

    def readmission(self, request: Request) -> Callable[[], Access]:
        """What says, now and later, what the browser of a request may see.

        Where no key is asked for, that is settled by the request: it has to come from this machine.
        """
        if not self.asks:
            access = self._door.admit(request)
            return lambda: access
        token = request.cookies.get(COOKIE, "")
        address = request.client.host if request.client else ""
        return lambda: self.admit(token, address=address)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
