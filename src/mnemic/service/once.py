"""Requests that may come again: ``Idempotency-Key``.

The key and a digest of the request are noted before it is carried out, and its reply afterwards. A request that comes
again gets the same reply; with another body it is refused. Where the process ended in between, it is carried out
again, which changes nothing twice: ``Memory.add`` commits the key with the words, and every other method does nothing
where what it was to do is done. A reply is kept for a day, and goes with whatever is erased of its user.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

from fastapi import Depends, Header
from starlette.requests import Request
from starlette.responses import Response

from mnemic.algo.scope import check_id
from mnemic.errors import InvalidInput, StoreConflict
from mnemic.memory import service_rows
from mnemic.service.admitted import Opened
from mnemic.service.replies import reply
from mnemic.service.tenant_memory import TenantMemory
from mnemic.service.wire import Arguments

IdempotencyKey = Annotated[
    str | None,
    Header(alias="Idempotency-Key", description="A request with the same key and body gets the same reply, once done."),
]
REPEATED: Final = "Idempotency-Replayed"


class UnderWay:
    """The requests with a key that this process carries out at the moment."""

    def __init__(self) -> None:
        self._keys: set[tuple[str, str]] = set()
        self._lock = threading.Lock()

    def begin(self, user_id: str, key: str) -> None:
        """Begin one. Raises StoreConflict where it is under way already."""
        with self._lock:
            if (user_id, key) in self._keys:
                raise StoreConflict(f"the request with the Idempotency-Key {key!r} is under way; ask again in a moment")
            self._keys.add((user_id, key))

    def end(self, user_id: str, key: str) -> None:
        """End one."""
        with self._lock:
            self._keys.discard((user_id, key))


class Changing:
    """A request that changes something, and may come again.

    Args:
        request: Its method and path belong to it.
        memory: The tenant's.
        key: Its idempotency key, if it has one.
    """

    def __init__(self, request: Request, memory: TenantMemory, key: str | None) -> None:
        self.key = key
        self._request = request
        self._memory = memory

    def __call__(self, body: Arguments, do: Callable[[TenantMemory], object], *, status: int = 200) -> Response:
        """Carry out what needs the scope ``write``, unless it was; the reply.

        Raises:
            InvalidInput: The key was used for another request.
            StoreConflict: The same request is under way.
        """
        self._memory.access.require("write")
        given = body.arguments()
        return self._once(given["user_id"], given, lambda: reply(do(self._memory), status), erases=False)

    def erase(self, user_id: str, given: object, do: Callable[[TenantMemory], object]) -> Response:
        """The same of an erasure, which needs the scope ``erase``."""
        self._memory.access.require("erase")
        return self._once(user_id, given, lambda: reply(do(self._memory)), erases=True)

    def _once(self, user_id: str, given: object, carry_out: Callable[[], Response], *, erases: bool) -> Response:
        if self.key is None:
            return carry_out()
        key, stored = check_id(self.key, "Idempotency-Key"), self._memory.tenant.stored(user_id)
        under_way: UnderWay = self._request.app.state.under_way
        under_way.begin(stored, key)
        try:
            return self._carried_out(stored, key, given, carry_out, erases=erases)
        finally:
            under_way.end(stored, key)

    def _carried_out(
        self, stored: str, key: str, given: object, carry_out: Callable[[], Response], *, erases: bool
    ) -> Response:
        rows, now, asked = service_rows(self._memory.whole), datetime.now(UTC), self._digest(given)
        keep_from = now - timedelta(hours=self._request.app.state.settings.reply_hours)
        known = rows.begin_reply(stored, key, asked, now=now, keep_from=keep_from)
        if known.request != asked:
            raise InvalidInput(f"the Idempotency-Key {key!r} was used for another request; every request has its own")
        if known.status is not None:
            return Response(known.body, known.status, {REPEATED: "true"}, media_type="application/json")
        try:
            done = carry_out()
        except BaseException:
            rows.drop_reply(stored, key)
            raise
        if erases:
            # The erasure dropped what was noted; how much it was may be kept all the same.
            rows.begin_reply(stored, key, asked, now=now, keep_from=keep_from)
        rows.finish_reply(stored, key, replace(known, status=done.status_code, body=bytes(done.body)))
        return done

    def _digest(self, given: object) -> bytes:
        whole = [self._request.method, self._request.url.path, given]
        return hashlib.sha256(json.dumps(whole, sort_keys=True, default=str).encode()).digest()


async def changing(request: Request, memory: Opened, idempotency_key: IdempotencyKey = None) -> Changing:
    """The request as one that may come again."""
    return Changing(request, memory, idempotency_key)


Change = Annotated[Changing, Depends(changing)]
