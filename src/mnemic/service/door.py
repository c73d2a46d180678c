"""The door: from a request to what its key opens, at a bounded rate. REST and what is mounted beside it ask here."""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Callable
from typing import Final

from starlette.requests import HTTPConnection

from mnemic.errors import KeyRefused, NotAllowed, TooManyRequests
from mnemic.service.access import OPEN, Access, Keys
from mnemic.service.buckets import Buckets
from mnemic.service.settings import Settings

_SCHEME: Final = "bearer "


class Door:
    """Admits requests. Thread-safe; ``admit`` may take some 50 ms for a key that it has not seen yet.

    Args:
        keys: The keys of the database.
        settings: Whether it asks for keys, and its rates.
        clock: Seconds, never backwards.
    """

    def __init__(self, keys: Keys, settings: Settings, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.keys = keys
        self._asks = settings.auth
        self._requests = Buckets(settings.rate, settings.burst, clock=clock)
        self._refusals = Buckets(settings.refusals, 10 * max(settings.refusals, 1.0), clock=clock)

    def admit(self, request: HTTPConnection) -> Access:
        """What a request's key opens.

        Args:
            request: With its key in ``Authorization: Bearer …``.

        Raises:
            KeyRefused: It has none, or none that is good.
            NotAllowed: Where no key is asked for: it does not come from this machine.
            TooManyRequests: The message says of what, ``retry_after_s`` for how long.
        """
        if not self._asks:
            _check_local(request)
            return OPEN
        given = request.headers.get("authorization", "")
        key = given[len(_SCHEME) :].strip() if given[: len(_SCHEME)].lower() == _SCHEME else ""
        return self.admit_key(key, address=request.client.host if request.client else "")

    def admit_key(self, key: str, *, address: str) -> Access:
        """The same for a key that came another way, as from a login. Raises KeyRefused and TooManyRequests."""
        # A key that proved good is not shut out by the guesses of others behind the same address.
        if not self.keys.has_proved(key) and (wait := self._refusals.wait(address)):
            raise TooManyRequests("too many requests without a good API key", retry_after_s=wait)
        if not key:
            self._refusals.take(address)
            raise KeyRefused("an API key is needed: Authorization: Bearer mnemic_…; see: mnemic keys create")
        try:
            access = self.keys.verify(key)
        except KeyRefused:
            self._refusals.take(address)
            raise
        if wait := self._requests.take(access.key_id):
            raise TooManyRequests("too many requests with this API key", retry_after_s=wait)
        return access


def _check_local(request: HTTPConnection) -> None:
    """Refuse what comes from elsewhere, by way of a page of another site too: nobody is asked for a key here."""
    address = request.client.host if request.client else ""
    origin = request.headers.get("origin")
    is_foreign = origin is not None and origin.partition("://")[2] != request.headers.get("host")
    if not is_loopback(address) or not is_loopback(request.url.hostname or "") or is_foreign:
        raise NotAllowed("this server asks nobody for a key, so it answers this machine alone")


def is_loopback(host: str) -> bool:
    """Whether a host's name or address is this machine's own, which no other machine reaches."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
