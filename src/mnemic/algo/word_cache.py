"""Memories of functions of words, which an erasure empties: what they hold are words of dialogue."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_forgetting: list[Callable[[], None]] = []


def word_cache(size: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """``lru_cache`` of a size, for a pure function of words."""

    def wrap(function: Callable[P, R]) -> Callable[P, R]:
        cached = lru_cache(maxsize=size)(function)
        _forgetting.append(cached.cache_clear)
        return cached  # pyright: ignore[reportReturnType] - typeshed forgets what a cached function takes

    return wrap


def forget() -> None:
    """Empty all of them, and the patterns that were compiled of names."""
    for clear in _forgetting:
        clear()
    re.purge()
