"""MCP over streamable HTTP, mounted beside REST and behind the same keys: ``app.create(memory, mounts=[mount])``.

A request is for one user of the key's tenant, whom the client's configuration names in a header: no tool takes one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final
from urllib.parse import unquote

import mcp_types as types
from fastapi import FastAPI
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from mnemic.errors import InvalidScope, MnemicError
from mnemic.service import mcp, problems
from mnemic.service.access import Access
from mnemic.service.door import Door
from mnemic.service.mcp_tools import Reach

PATH: Final = "/mcp"
USER_HEADER: Final = "X-Mnemic-User"
_REACH: Final = "mnemic.reach"


def mount(app: FastAPI) -> AbstractAsyncContextManager[None]:
    """Mount MCP on an application; what it returns runs as long as the application does."""
    server = mcp.server(_reached, told=problems.detail)
    # Each request stands for itself: nothing is kept between them that could come to belong to another key.
    manager = StreamableHTTPSessionManager(
        server, json_response=True, stateless=True, max_request_body_size=app.state.settings.body_bytes
    )
    app.router.routes.append(Route(PATH, endpoint=_Admitted(manager.handle_request, app), name="mcp"))

    @asynccontextmanager
    async def running() -> AsyncGenerator[None]:
        async with manager.run():
            yield

    return running()


class _Admitted:
    """ASGI: lets requests with a good key and a user through, and says whom they are for."""

    def __init__(self, inside: ASGIApp, app: FastAPI) -> None:
        self._inside = inside
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        door: Door = self._app.state.door
        try:
            access = await asyncio.to_thread(door.admit, request)
            scope.setdefault("state", {})["access"] = access
            scope[_REACH] = self._reach(access, request.headers.get(USER_HEADER))
        except MnemicError as error:
            await problems.of_error(error)(scope, receive, send)
            return
        await self._inside(scope, receive, send)

    def _reach(self, access: Access, user_id: str | None) -> Reach:
        """Whom a request is for. Raises InvalidScope."""
        if user_id is None:
            raise InvalidScope(f"name the user whose memory it is in the header {USER_HEADER}; no tool takes one")
        # A header holds little but ASCII: other names come percent-encoded.
        user_id = unquote(user_id)
        access.tenant.stored(user_id)
        return Reach(access.memory(self._app.state.memory), user_id, mcp.RIGHTS & access.scopes)


def _reached(context: mcp.Context) -> Reach:
    request = context.request
    found = request.scope.get(_REACH) if isinstance(request, Request) else None
    if not isinstance(found, Reach):
        raise MCPError(types.INTERNAL_ERROR, "this request was not admitted")
    return found
