"""The page that asks for a key: plain HTML and a form, which needs no script."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from fastapi import APIRouter, FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from mnemic.errors import KeyRefused, TooManyRequests
from mnemic.service.inspector.desk import COOKIE, LASTS_S
from mnemic.service.inspector.safety import HEADERS
from mnemic.service.inspector.words import asked

if TYPE_CHECKING:
    from mnemic.service.inspector.desk import Desk

_LONGEST: Final = 4096
_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Log in · mnemic inspector</title>
<link rel="stylesheet" href="inspector.css">
<link rel="icon" href="data:,">
</head>
<body class="plain">
<main class="login">
<h1 class="brand">mnemic <span>inspector</span></h1>
<form method="post" action="login">
<label for="key">API key</label>
<input id="key" name="key" type="password" autocomplete="current-password" required autofocus
 spellcheck="false" placeholder="mnemic_…"{invalid}>
{error}
<button class="primary" type="submit">Log in</button>
</form>
<p class="quiet">Whoever runs the server makes a key by <code>mnemic keys create</code>.</p>
</main>
</body>
</html>
"""


def add(app: FastAPI, desk: Desk, path: str) -> None:
    """Put the login, the way out and the style sheet beside the pages."""
    router = APIRouter(prefix=path, include_in_schema=False)
    style = files("mnemic.service.inspector").joinpath("inspector.css").read_text(encoding="utf-8")

    @router.get("/inspector.css")
    def sheet() -> Response:  # pyright: ignore[reportUnusedFunction] - the router has it
        return Response(style, media_type="text/css", headers={**HEADERS, "Cache-Control": "no-cache"})

    @router.get("/login")
    def form(request: Request) -> Response:  # pyright: ignore[reportUnusedFunction] - the router has it
        return _home() if not desk.asks else _page()

    @router.post("/login")
    async def enter(request: Request) -> Response:  # pyright: ignore[reportUnusedFunction] - the router has it
        if not _is_own(request):
            return _page("The form came from another site. Log in here.", status=403)
        key = await _given_key(request)
        address = request.client.host if request.client else ""
        try:
            token = await run_in_threadpool(desk.enter, key, address=address)
        except KeyRefused:
            return _page("This key is unknown, revoked or expired.", status=401)
        except TooManyRequests as error:
            return _page(f"Too many tries. Wait {max(1, round(error.retry_after_s))} s.", status=429)
        reply = _home()
        reply.set_cookie(
            COOKIE,
            token,
            max_age=LASTS_S,
            path=_root(request, path),
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return reply

    @router.post("/logout")
    def leave(request: Request) -> Response:  # pyright: ignore[reportUnusedFunction] - the router has it
        if not _is_own(request):
            return _page("The form came from another site.", status=403)
        desk.leave(request.cookies.get(COOKIE, ""))
        reply = RedirectResponse("login", status_code=303, headers=HEADERS)
        reply.delete_cookie(COOKIE, path=_root(request, path), httponly=True, samesite="strict")
        return reply

    app.include_router(router)


async def _given_key(request: Request) -> str:
    """The key of the form, which is short: what is longer holds none."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > _LONGEST:
            return ""
    return asked(body.decode("utf-8", "replace")).get("key", "").strip()


def _page(error: str = "", *, status: int = 200) -> HTMLResponse:
    told = f'<p class="error" role="alert" id="why">{escape(error)}</p>' if error else ""
    invalid = ' aria-invalid="true" aria-describedby="why"' if error else ""
    return HTMLResponse(_PAGE.format(error=told, invalid=invalid), status_code=status, headers=HEADERS)


def _home() -> RedirectResponse:
    return RedirectResponse("./", status_code=303, headers=HEADERS)


def _root(request: Request, path: str) -> str:
    return str(request.scope.get("root_path", "")) + path


def _is_own(request: Request) -> bool:
    """Whether a form was sent by a page of this server, as far as the browser says."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = request.headers.get("origin")
    return origin is None or origin.partition("://")[2] == request.headers.get("host")
