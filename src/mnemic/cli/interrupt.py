"""Ctrl-C during long work: it ends between two pieces, at once when pressed again; and work that only it ends."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

_LOOK_S = 0.2


@contextmanager
def between_pieces() -> Generator[Callable[[], None]]:
    """Hold back Ctrl-C until it can stop the work cleanly.

    An exception raised by a signal can surface where Python or a library ignores it, in a weak reference's
    callback for instance; then the work would go on. One that passes through ``exec`` of a text, by which libraries
    make classes and functions as they load, makes Python end by the signal although it was handled: so open the
    database within, not before.

    Yields:
        What to call between two pieces of work; raises KeyboardInterrupt when Ctrl-C was pressed.
    """
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield lambda: None
        return
    pressed = False

    def press(_signal: int, _frame: object) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        pressed = True
        # Not through sys.stderr, in the midst of whose writing this may come.
        os.write(2, b"\nStopping after this piece; Ctrl-C again stops at once.\n")

    def check() -> None:
        if pressed:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, press)
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def until_told() -> Generator[Callable[[Callable[[], object]], int]]:
    """Hold back Ctrl-C and SIGTERM, for a program whose other threads work until it is told to end.

    For the same reasons as ``between_pieces``: open the database within. A second signal ends it at once.

    Yields:
        What waits until one of them comes, doing what it is given again and again, and returns its number.
    """
    told = 0

    def end(number: int, _frame: object) -> None:
        nonlocal told
        if told:
            raise KeyboardInterrupt
        told = number

    def wait(meanwhile: Callable[[], object]) -> int:
        while not told:
            meanwhile()
            time.sleep(_LOOK_S)
        return told

    # Who started it deaf to Ctrl-C, as a shell does in the background, wants that.
    heard = [number for number in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, end) for number in heard}
    try:
        yield wait
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
