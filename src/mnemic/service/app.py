"""The application: REST under ``/v1``, the routes of its watchers, and what is mounted beside them.

The seams for what is mounted (MCP, the inspector):

* ``app.state.memory`` is the whole memory, ``app.state.door`` the ``Door``: ``door.admit(request)`` or
  ``door.admit_key(key, address=…)`` gives an ``Access``, and ``access.memory(app.state.memory)`` a ``TenantMemory``,
  the only way to any data.
* ``create(…, mounts=[mount])``: each is called with the application, once it has its routes, and mounts what it has
  (``app.mount("/mcp", …)``). What it returns, if anything, is an asynchronous context manager; it is entered when the
  server starts and left when it ends.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Final

from fastapi import FastAPI

from mnemic import __version__
from mnemic.memory import service_rows
from mnemic.service import answering, health, importing, problems, reading, tending, writing
from mnemic.service.access import Keys
from mnemic.service.door import Door
from mnemic.service.metrics import Metrics
from mnemic.service.once import UnderWay
from mnemic.service.openapi import describe
from mnemic.service.settings import Settings
from mnemic.service.warming import Warming
from mnemic.service.watching import Watch

if TYPE_CHECKING:
    from fastapi.telemetry import TelemetryConfig

    from mnemic.memory import Memory

Mount = Callable[[FastAPI], AbstractAsyncContextManager[None] | None]

_SILENT: Final[TelemetryConfig] = {
    "tracing": False, "metrics": False, "logs": False, "operation_spans": False, "auto_configure": False,
}  # fmt: skip
"""FastAPI would tell whatever OpenTelemetry finds in the environment, the messages of exceptions included."""


def create(memory: Memory, *, settings: Settings | None = None, mounts: Sequence[Mount] = ()) -> FastAPI:
    """An application that serves a memory, which stays the caller's to close.

    Args:
        memory: All tenants'.
        settings: Its limits, and whether it asks for keys, as it does by default.
        mounts: What is mounted beside REST; see above.
    """
    given = settings or Settings()
    running: list[AbstractAsyncContextManager[None]] = []

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        app.state.warming.start()
        async with AsyncExitStack() as stack:
            for one in running:
                await stack.enter_async_context(one)
            yield

    app = FastAPI(
        title="mnemic",
        version=__version__,
        lifespan=lifespan,
        redirect_slashes=False,
        # FastAPI's pages fetch their scripts from elsewhere.
        docs_url=None,
        telemetry=_SILENT,
        redoc_url=None,
        generate_unique_id_function=lambda route: route.name,
    )
    state = app.state
    state.memory, state.settings, state.metrics = memory, given, Metrics()
    state.door, state.under_way, state.warming = Door(Keys(service_rows(memory)), given), UnderWay(), Warming(memory)
    app.add_middleware(Watch, settings=given, metrics=state.metrics)
    problems.handle(app)
    for part in (writing, importing, reading, answering, tending, health):
        app.include_router(part.router)
    describe(app)
    for mount in mounts:
        if (context := mount(app)) is not None:
            running.append(context)
    return app
