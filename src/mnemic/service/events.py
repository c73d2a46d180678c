"""Server-sent events: a reply that comes piece by piece."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import StreamingResponse

from mnemic.errors import MnemicError
from mnemic.service.problems import of_error
from mnemic.service.replies import as_json

MEDIA_TYPE: Final = "text/event-stream"
DESCRIBED: Final[dict[str, Any]] = {MEDIA_TYPE: {"schema": {"type": "string"}}}


def wanted(request: Request) -> bool:
    """Whether the caller takes events, and would rather have them than JSON."""
    return MEDIA_TYPE in request.headers.get("accept", "")


def event(name: str, data: object) -> bytes:
    """One event; its data is one line of JSON."""
    return b"event: " + name.encode() + b"\ndata: " + as_json(data) + b"\n\n"


def failure(error: MnemicError) -> bytes:
    """The event ``problem``: the stream ends with it, for its status was told already."""
    return b"event: problem\ndata: " + bytes(of_error(error).body) + b"\n\n"


def stream(events: AsyncIterator[bytes]) -> StreamingResponse:
    """A reply of events, which nobody on the way holds back or keeps."""
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(events, media_type=MEDIA_TYPE, headers=headers)
