"""Calling an application in this process, without a network."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from anyio.from_thread import BlockingPortal, start_blocking_portal

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import Message

    from mnemic.types import Json


class Client:
    """Sends one request at a time to an application that runs; ``calling`` makes it.

    Args:
        app: The application.
        portal: Of the event loop in which it runs.
    """

    def __init__(self, app: FastAPI, portal: BlockingPortal) -> None:
        self.app = app
        self._portal = portal

    def __call__(
        self,
        method: str,
        path: str,
        *,
        key: str,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        body: Json = None,
    ) -> tuple[int, str]:
        """One request with an API key; the status and the text of its reply."""
        sent = b"" if body is None else json.dumps(body).encode()
        known = {
            "host": "127.0.0.1", "authorization": f"Bearer {key}", "content-type": "application/json",
            "content-length": str(len(sent)),
        } | {name.lower(): value for name, value in (headers or {}).items()}  # fmt: skip
        scope: dict[str, Any] = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
            "path": path, "raw_path": path.encode("utf-8", "replace"),
            "root_path": "", "query_string": _query(query or {}),
            "headers": [(name.encode(), value.encode()) for name, value in known.items()],
            "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80), "state": {},
        }  # fmt: skip
        return self._portal.call(self._ask, scope, sent)

    async def _ask(self, scope: dict[str, Any], sent: bytes) -> tuple[int, str]:
        status, pieces = 0, [b""]
        is_sent = False

        async def receive() -> Message:
            nonlocal is_sent
            if is_sent:
                return {"type": "http.disconnect"}
            is_sent = True
            return {"type": "http.request", "body": sent, "more_body": False}

        async def send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            elif message["type"] == "http.response.body":
                pieces.append(message.get("body", b""))

        await self.app(scope, receive, send)
        return status, b"".join(pieces).decode("utf-8", "replace")


@contextmanager
def calling(app: FastAPI) -> Generator[Client]:
    """A client of an application, which runs, with what is mounted on it, in an event loop of its own until the end."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(app.router.lifespan_context(app)),
    ):
        yield Client(app, portal)


def _query(given: Mapping[str, str]) -> bytes:
    return "&".join(f"{name}={_escaped(value)}" for name, value in given.items()).encode()


def _escaped(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode("utf-8", "surrogatepass"))
