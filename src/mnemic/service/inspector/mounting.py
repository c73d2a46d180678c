"""Mounting the inspector into an application."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from mnemic.errors import InvalidInput, KeyRefused, NotAllowed, TooManyRequests
from mnemic.models.optional import from_extra

if TYPE_CHECKING:
    from fastapi import FastAPI

    from mnemic.service.inspector.desk import Desk
    from mnemic.service.inspector.frame import Frame
    from mnemic.service.inspector.pages import Opening

PATH: Final = "/inspector"
_mounted: list[FastAPI] = []


def mount(app: FastAPI) -> None:
    """Put the inspector under ``/inspector`` of an application that ``service.app.create`` makes.

    NiceGUI has one application a process, so this can be done once a process.

    Raises:
        InvalidInput: It was done before.
        MissingExtra: NiceGUI is not installed.
    """
    if _mounted:
        raise InvalidInput("the inspector is mounted already; a process serves one")
    from_extra("nicegui", needed_by="the inspector", extra="server")
    from nicegui import core, ui

    from mnemic.service.inspector import login, pages
    from mnemic.service.inspector.desk import Desk
    from mnemic.service.inspector.safety import Guarded

    desk = Desk(app.state.door, asks=app.state.settings.auth)

    @app.get(PATH, include_in_schema=False)
    def start(request: Request) -> Response:  # pyright: ignore[reportUnusedFunction] - the application has it
        return RedirectResponse(f"{request.scope.get('root_path', '')}{PATH}/", status_code=303)

    login.add(app, desk, PATH)
    pages.add(_opening(app, desk))
    core.app.add_middleware(Guarded)
    # Without a storage secret NiceGUI keeps nothing of a visit, in a cookie or on disk; nothing goes on air.
    ui.run_with(  # pyright: ignore[reportUnknownMemberType] - it leaves one of its types open
        app,
        mount_path=PATH,
        title="mnemic inspector",
        favicon=_ICON,
        dark=None,
        tailwind=False,
        show_welcome_message=False,
        on_air=None,
        storage_secret=None,
        reconnect_timeout=30.0,
    )
    _mounted.append(app)


_ICON: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#3f5f9e"/>'
    '<circle cx="10" cy="21" r="4" fill="#fff"/><circle cx="22" cy="11" r="4" fill="#fff"/>'
    '<path d="M12.8 18.4l6.4-5" stroke="#fff" stroke-width="2.4"/></svg>'
)


def _opening(app: FastAPI, desk: Desk) -> Opening:
    """From a request to the frame of its page, or to a reply that sends it elsewhere."""
    from mnemic.service.inspector.desk import Visit
    from mnemic.service.inspector.frame import THEME, Frame
    from mnemic.service.inspector.words import asked

    async def opened(request: Request, page: str) -> Frame | Response:
        try:
            readmit = desk.readmission(request)
            access = await run_in_threadpool(readmit)
        except KeyRefused:
            return RedirectResponse("login", status_code=303)
        except NotAllowed as error:
            return Response(str(error), status_code=403, media_type="text/plain")
        except TooManyRequests as error:
            headers = {"Retry-After": str(max(1, round(error.retry_after_s)))}
            return Response(str(error), status_code=429, media_type="text/plain", headers=headers)
        given = asked(request.url.query)
        user_id = given.pop("user", "").strip() or None
        if page and user_id is None:
            return RedirectResponse("./", status_code=303)
        visit = Visit(access, user_id, given, desk.asks, readmit, app.state.memory)
        return Frame(visit, page, request.cookies.get(THEME, "auto"))

    return opened
