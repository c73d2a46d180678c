"""The route that imports a file of conversations, and says how far it is."""

from __future__ import annotations

import asyncio
import tempfile
import threading
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, cast

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from mnemic import importers
from mnemic.errors import InvalidInput, MnemicError
from mnemic.importers.files import DateOrder
from mnemic.service import events
from mnemic.service.admitted import Opened
from mnemic.service.described import replies
from mnemic.service.replies import reply
from mnemic.service.shapes import ImportReport
from mnemic.service.tenant_memory import TenantMemory
from mnemic.types import Json

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
    column: Annotated[
        list[str] | None, Query(description="Of CSV: which column holds what, `content=Text`; may come again.")
    ] = None,
    date_order: Annotated[
        DateOrder | None, Query(description="Of 3/4/2024 where the file leaves it open; `dmy` without it.")
    ] = None,
    timezone: Annotated[str | None, Query(description="Of times that name none.")] = None,
    dry_run: Annotated[bool, Query(description="Read all of it and report; store nothing.")] = False,
    embed: Annotated[
        Literal["now", "later"],
        Query(description="When its vectors are made: before this replies, or by the server in its own time."),
    ] = "now",
) -> Response:
    """Import a file of conversations; again, it adds only what is new, also after it was cut.

    mnemic's own export is written back as it was, ids, times, notes and log, where the user has no memory yet; its
    vectors are always made later.

    With `Accept: text/event-stream` events `progress` (`done`, `total` messages) come while it is at work, then one
    `report` as without, or a `problem`. Who leaves ends the import; what came before is stored.
    """
    memory.access.require("write")
    with memory.unveiling():
        memory.tenant.stored(user_id)
    known: dict[str, importers.Format] = {name: name for name in importers.FORMATS}
    named = None if format is None else known.get(format)
    if named is None and format is not None:
        raise InvalidInput(f"format is one of {', '.join(importers.FORMATS)}, not {format!r}")
    columns = importers.columns(column or ())
    folder = tempfile.TemporaryDirectory(prefix="mnemic-import-")
    try:
        path = Path(folder.name) / "import"
        await _receive(request, path)
        source = await run_in_threadpool(
            importers.read, path, named, session=session_id, columns=columns, date_order=date_order
        )
        job = _Job(source, memory, user_id, timezone, embed, dry_run=dry_run)
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

    def __init__(
        self,
        source: importers.Source,
        memory: TenantMemory,
        user_id: str,
        timezone: str | None,
        embed: Literal["now", "later"],
        *,
        dry_run: bool,
    ) -> None:
        self._source = source
        # To know what is there already it has to look, which whoever may write need not be allowed to.
        scopes = memory.access.scopes | {"read"}
        self._memory = TenantMemory(memory.whole, replace(memory.access, scopes=scopes))
        self._user_id = user_id
        self._timezone = timezone
        # Waiting for the vectors of what was written back would be waiting for language models, too.
        self._embed: Literal["now", "later"] = "later" if source.format == "mnemic" else embed
        self._dry_run = dry_run

    def run(self, tell: Callable[[int, int], None]) -> dict[str, Json]:
        """Do it, in this thread; the report."""
        report = importers.survey(self._source)
        if not self._dry_run:
            report = self._load(report.messages, tell)
        standing = self._memory.status(user_id=self._user_id).enrichment
        return report.told(self._source.formats, unembedded=standing.unembedded, dry_run=self._dry_run)

    def _load(self, total: int, tell: Callable[[int, int], None]) -> importers.Report:
        done = 0

        def advance(count: int) -> None:
            nonlocal done
            done += count
            tell(done, total)

        # What the importers use of a memory a tenant's has alike.
        tenants = cast("Memory", self._memory)
        return importers.load(
            self._source, tenants, user_id=self._user_id, timezone=self._timezone, advance=advance, embed=self._embed
        )


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
