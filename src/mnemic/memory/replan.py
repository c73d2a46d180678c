"""Planning again where another writer came between a plan and its execution."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from mnemic.errors import StoreConflict

R = TypeVar("R")

_ATTEMPTS = 50
"""Each failure means that another writer of the same user succeeded."""


def replanned(attempt: Callable[[], R]) -> R:
    """The result of the first attempt that nobody disturbs.

    Raises:
        StoreConflict: Somebody disturbed every one.
    """
    for _ in range(_ATTEMPTS - 1):
        with suppress(StoreConflict):
            return attempt()
    return attempt()
