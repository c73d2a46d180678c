"""The route that imports a file of conversations, and says how far it is."""

from __future__ import annotations

import asyncio
import tempfile
import threading
from collections.abc import AsyncGenerator, Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from mnemic import importers
from mnemic.errors import InvalidInput, MnemicError
from mnemic.service import events
from mnemic.service.admitted import Opened
from mnemic.service.described import replies
from mnemic.service.replies import reply
from mnemic.service.shapes import ImportReport
from mnemic.service.tenant_memory import TenantMemory

if TYPE_CHECKING:
    from mnemic.memory import Memory

router = APIRouter(prefix="/v1")

_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "description": "The file: any of the formats of docs/formats.md, UTF-8, may be gzip.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class _Left(Exception):
    """Nobody waits for the import any more."""


@router.post(
    "/import",
    response_model=ImportReport,
    responses=replies(409, content=events.DESCRIBED),
    openapi_extra=_BODY,
    tags=["memories"],
)
async def import_(
    request: Request,
    memory: Opened,
    user_id: Annotated[str, Query(description="Whose memory.")],
    format: Annotated[str | None, Query(description="Of the file; told by its content without it.")] = None,
    session_id: Annotated[str, Query(description="Names the sessions that the file does not name.")] = "import",
    timezone: Annotated[str | None, Query(description="Of times that name none.")] = None,
) -> Response:
    """Import a file of conversations; again, it adds only what is new, also after it was cut.

    With `Accept: text/event-stream` events `progress` (`done`, `total` messages) come while it is at work, then one
    `report` as without, or a `problem`. Who leaves ends the import; what came before is stored.
    """
    memory.access.require("write")
    with memory.unveiling():
        memory.tenant.stored(user_id)
    named = None if format is None else {str(known): known for known in importers.FORMATS}.get(format)
    if named is None and format is not None:
        raise InvalidInput(f"format is one of {', '.join(importers.FORMATS)}, not {format!r}")
    folder = tempfile.TemporaryDirectory(prefix="mnemic-import-")
    try:
        path = Path(folder.name) / "import"
        await _receive(request, path)
        source = await run_in_threadpool(importers.read, path, named, session=session_id)
        job = _Job(source, memory, user_id, timezone)
        if events.wanted(request):
            return events.stream(_progress(job, folder))
        report = await run_in_threadpool(job.run, lambda done, total: None)
    except BaseException:
        folder.cleanup()
        raise
    folder.cleanup()
    return reply(report)


async def _receive(request: Request, path: Path) -> None:
    with path.open("wb") as file:
        async for piece in request.stream():
            await run_in_threadpool(file.write, piece)


class _Job:
    """One import."""

    def __init__(self, source: importers.Source, memory: TenantMemory, user_id: str, timezone: str | None) -> None:
        self._source = source
        self._memory = memory
        self._user_id = user_id
        self._timezone = timezone

    def run(self, tell: Callable[[int, int], None]) -> dict[str, Any]:
        """Do it, in this thread; the report."""
        total, done = importers.survey(self._source).messages, 0

        def advance(count: int) -> None:
            nonlocal done
            done += count
            tell(done, total)

        # Of a memory the importers use ``add``, ``add_notes`` and ``get``, which a tenant's has alike.
        tenants = cast("Memory", self._memory)
        report = importers.load(self._source, tenants, user_id=self._user_id, timezone=self._timezone, advance=advance)
        skipped = [{"reason": why, "count": n, "first": first} for why, (n, first) in report.skipped.items()]
        return {"format": self._source.format, **asdict(report), "skipped": skipped}


async def _progress(job: _Job, folder: tempfile.TemporaryDirectory[str]) -> AsyncGenerator[bytes]:
    loop, queue = asyncio.get_running_loop(), asyncio.Queue[bytes | None]()
    left = threading.Event()

    def tell(done: int, total: int) -> None:
        if left.is_set():
            raise _Left
        loop.call_soon_threadsafe(queue.put_nowait, events.event("progress", {"done": done, "total": total}))

    def work() -> None:
        try:
            last = events.event("report", job.run(tell))
        except _Left:
            last = None
        except MnemicError as error:
            last = events.failure(error)
        finally:
            folder.cleanup()
        if last is not None and not left.is_set():
            loop.call_soon_threadsafe(queue.put_nowait, last)
            loop.call_soon_threadsafe(queue.put_nowait, None)

    thread = threading.Thread(target=work, name="mnemic-import", daemon=True)
    thread.start()
    try:
        while (one := await queue.get()) is not None:
            yield one
    finally:
        left.set()
