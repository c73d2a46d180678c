"""One event loop in one thread, for libraries whose calls are coroutines."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from queue import SimpleQueue
from typing import Any, TypeVar

P = TypeVar("P")
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


def run_in_pieces(
    coroutine: Callable[[Callable[[P], None]], Coroutine[Any, Any, T]], receive: Callable[[P], object]
) -> T:
    """As ``run``; what the coroutine puts into its argument is handed to ``receive`` in the caller's thread."""
    pieces: SimpleQueue[tuple[P] | None] = SimpleQueue()
    future = asyncio.run_coroutine_threadsafe(coroutine(lambda piece: pieces.put((piece,))), _running_loop())
    future.add_done_callback(lambda _: pieces.put(None))
    try:
        while (piece := pieces.get()) is not None:
            receive(*piece)
        return future.result()
    except BaseException:
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
