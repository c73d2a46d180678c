"""Calling an application in this process, without a network."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message

    from mnemic.types import Json


class Client:
    """Sends one request at a time to an ASGI application.

    Args:
        app: The application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(
        self, method: str, path: str, *, key: str, query: Mapping[str, str] | None = None, body: Json = None
    ) -> tuple[int, str]:
        """One request with an API key; the status and the text of its reply."""
        sent = b"" if body is None else json.dumps(body).encode()
        scope: dict[str, Any] = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
            "path": path, "raw_path": path.encode("utf-8", "replace"),
            "root_path": "", "query_string": _query(query or {}),
            "headers": [
                (b"host", b"127.0.0.1"), (b"authorization", f"Bearer {key}".encode()),
                (b"content-type", b"application/json"), (b"content-length", str(len(sent)).encode()),
            ],
            "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80), "state": {},
        }  # fmt: skip
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

        await self._app(scope, receive, send)
        return status, b"".join(pieces).decode("utf-8", "replace")


def _query(given: Mapping[str, str]) -> bytes:
    return "&".join(f"{name}={_escaped(value)}" for name, value in given.items()).encode()


def _escaped(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode("utf-8", "surrogatepass"))
