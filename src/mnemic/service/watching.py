"""Around every request: its id, its log line, its count, the limit of its body, and the end of whatever failed.

A log line has no words, no ids of users or things, and no query: the route stands in it as it is declared.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import time
import traceback
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mnemic.service.problems import problem

if TYPE_CHECKING:
    from mnemic.service.access import Access
    from mnemic.service.metrics import Metrics
    from mnemic.service.settings import Settings

_log = logging.getLogger("mnemic.service")
_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
REQUEST_ID: Final = "X-Request-ID"
_IMPORT: Final = "/v1/import"


@dataclass(slots=True)
class _Watched:
    """One request.

    Attributes:
        status: Of its reply; None before that began.
    """

    id: str
    began: float
    status: int | None = None
    failure: str | None = None
    more: dict[str, object] = field(default_factory=dict[str, object])


class Watch:
    """ASGI middleware, the outermost.

    Args:
        app: What it is around.
        settings: The limits of bodies.
        metrics: Where it counts.
        clock: Seconds, never backwards.
    """

    def __init__(
        self, app: ASGIApp, *, settings: Settings, metrics: Metrics, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._app = app
        self._settings = settings
        self._metrics = metrics
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Watch one request; what is no HTTP request passes by."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        given = request.headers.get(REQUEST_ID, "")
        watched = _Watched(given if _ID.fullmatch(given) else uuid.uuid4().hex, self._clock())
        scope.setdefault("state", {})["request_id"] = watched.id
        self._metrics.begin()
        try:
            await self._guarded(scope, receive, send, watched)
        finally:
            self._tell(request, watched)

    async def _guarded(self, scope: Scope, receive: Receive, send: Send, watched: _Watched) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                watched.status = message["status"]
                headers = [*message.get("headers", []), (REQUEST_ID.lower().encode(), watched.id.encode())]
                if scope["path"].startswith("/v1/"):
                    headers.append((b"link", b'</v1/notice>; rel="privacy-policy"'))
                message = {**message, "headers": headers}
            await send(message)

        longest = self._settings.import_bytes if scope["path"] == _IMPORT else self._settings.body_bytes
        try:
            await self._app(scope, _limited(receive, longest, _announced(scope)), sending)
        except ClientDisconnect:
            return
        except Exception as error:  # noqa: BLE001 - the edge: whatever it is, it is logged and replied to
            watched.failure = _where(error)
            if watched.status is None:
                reply = problem(500, f"the server's log has the reason under {watched.id}", kind="Failed")
                await reply(scope, receive, sending)

    def _tell(self, request: Request, watched: _Watched) -> None:
        seconds = self._clock() - watched.began
        route = getattr(request.scope.get("route"), "path", "(none)")
        status = watched.status or 499
        self._metrics.end(request.method, route, status, seconds)
        access: Access | None = request.scope["state"].get("access")
        line: dict[str, object] = {
            "request_id": watched.id,
            "method": request.method,
            "route": route,
            "status": status,
            "ms": round(1000 * seconds, 1),
        }
        if access is not None:
            line |= {"key_id": access.key_id, "tenant": access.tenant.name}
        if watched.failure is not None:
            _log.error("failed", extra={"fields": {**line, "failure": watched.failure}})
        else:
            _log.info("request", extra={"fields": line})


def _announced(scope: Scope) -> int:
    lengths = [value for name, value in scope["headers"] if name == b"content-length"]
    return int(lengths[0]) if lengths and lengths[0].isdigit() else 0


def _limited(receive: Receive, longest: int, announced: int) -> Receive:
    """The same, until the body is longer than allowed; at once where its length was told."""
    so_far = 0

    async def receiving() -> Message:
        nonlocal so_far
        message = None if announced > longest else await receive()
        so_far += announced if message is None else len(message.get("body", b""))
        if message is None or so_far > longest:
            raise HTTPException(413, f"the body has more than {longest:,} bytes; send less at once")
        return message

    return receiving


def _where(error: BaseException) -> str:
    """The kind of an error and the lines that led to it: not its message, in which words may stand."""
    frames = traceback.extract_tb(error.__traceback__)[-6:]
    lines = " < ".join(f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in reversed(frames))
    return f"{type(error).__name__} at {lines}"


class JsonLines(logging.Formatter):
    """A log record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The line; of an exception its kind alone."""
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line: dict[str, object] = {
            "at": f"{at}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= getattr(record, "fields", {})
        if record.exc_info and record.exc_info[1] is not None:
            line["failure"] = _where(record.exc_info[1])
        return json.dumps(line)


def log_as_json() -> None:
    """Have everything that mnemic and the server's own loggers say go to stderr, a line of JSON each."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    _log.setLevel(logging.INFO)
