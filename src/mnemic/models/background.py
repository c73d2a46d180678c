"""One event loop in one thread, for libraries whose calls are coroutines."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_owner = -1


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end and return its result, from any thread, inside a running event loop or not.

    All run on one loop, because HTTP clients keep connections that belong to the loop which opened them.
    """
    future = asyncio.run_coroutine_threadsafe(coroutine, _running_loop())
    try:
        return future.result()
    except BaseException:
        # The caller was interrupted: nobody waits for the request any more.
        future.cancel()
        raise


def _running_loop() -> asyncio.AbstractEventLoop:
    global _loop, _owner
    with _lock:
        # A fork copies the loop but not the thread that drives it.
        if _loop is None or _owner != os.getpid():
            _loop, _owner = asyncio.new_event_loop(), os.getpid()
            threading.Thread(target=_loop.run_forever, name="mnemic-models", daemon=True).start()
        return _loop
