"""Shared by tests of servers: an application that listens on this machine, with its lifespan."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI


@contextmanager
def listening(app: FastAPI) -> Iterator[str]:
    """A server of an application on a port of its own; its address."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, access_log=False, lifespan="on"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
