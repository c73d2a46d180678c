"""Running the application in this process, until it is told to end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import uvicorn
from fastapi import FastAPI

_FAREWELL_S: Final = 5
"""Seconds that requests under way have when the server is told to end."""
_IDLE_S: Final = 75
"""Seconds that a connection may rest: longer than proxies and clients keep theirs, or they ask one that just closed."""


class _Server(uvicorn.Server):
    """Says where it listens once it does."""

    def __init__(self, config: uvicorn.Config, started: Callable[[str], None]) -> None:
        super().__init__(config)
        self._tell = started

    async def startup(self, sockets: list[Any] | None = None) -> None:
        """Listen, and say so."""
        await super().startup(sockets)
        for server in self.servers:
            for one in server.sockets:
                host, port = one.getsockname()[:2]
                self._tell(f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}")


def run(app: FastAPI, *, host: str, port: int, started: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM comes; requests under way have five seconds to end.

    Args:
        app: From ``app.create``.
        host: Where to listen.
        port: Where to listen; 0 for any that is free.
        started: Told the address.

    Raises:
        SystemExit: It cannot listen there; the log says why.
    """
    config = uvicorn.Config(
        app, host=host, port=port, log_config=None, access_log=False, server_header=False,
        timeout_graceful_shutdown=_FAREWELL_S, timeout_keep_alive=_IDLE_S,
    )  # fmt: skip
    _Server(config, started).run()
