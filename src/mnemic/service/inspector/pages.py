"""The pages, each under its name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from nicegui import ui
from starlette.requests import Request
from starlette.responses import Response

from mnemic.service.inspector import (
    ask_page,
    graph_page,
    notes_page,
    operations_page,
    start_page,
    status_page,
    timeline_page,
)

if TYPE_CHECKING:
    from mnemic.service.inspector.frame import Frame

Opening = Callable[[Request, str], Awaitable["Frame | Response"]]
Build = Callable[["Frame"], Awaitable[None]]
_BUILT: dict[str, tuple[str, Build]] = {
    "": ("Start", start_page.build),
    "timeline": ("Timeline", timeline_page.build),
    "ask": ("Ask", ask_page.build),
    "notes": ("Notes", notes_page.build),
    "graph": ("Graph", graph_page.build),
    "operations": ("Operations", operations_page.build),
    "status": ("Status", status_page.build),
}


def add(opened: Opening) -> None:
    """Give NiceGUI the pages.

    Args:
        opened: The frame of a request's page, or a reply that sends it elsewhere.
    """
    for page, (name, build) in _BUILT.items():
        _add(page, name, build, opened)


def _add(page: str, name: str, build: Build, opened: Opening) -> None:
    async def show(request: Request) -> Response | None:
        frame = await opened(request, page)
        if isinstance(frame, Response):
            return frame

        async def built() -> None:
            await build(frame)

        frame.show(built)
        return None

    ui.page(f"/{page}", title=f"{name} · mnemic inspector", language="en-US")(show)
