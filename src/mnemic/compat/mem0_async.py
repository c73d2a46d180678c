"""mem0's ``AsyncMemory``: its methods are those of ``compat.mem0_memory``, each in a thread."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable, Mapping
from typing import Concatenate, ParamSpec, Self, TypeVar

from mnemic.compat.mem0_memory import Memory
from mnemic.memory import Memory as Words

P = ParamSpec("P")
R = TypeVar("R")


def _threaded(method: Callable[Concatenate[Memory, P], R]) -> Callable[Concatenate[AsyncMemory, P], Awaitable[R]]:
    @functools.wraps(method)
    async def call(self: AsyncMemory, *args: P.args, **kwargs: P.kwargs) -> R:
        return await asyncio.to_thread(method, self.memory, *args, **kwargs)

    return call


class AsyncMemory:
    """mem0's ``AsyncMemory``: the same methods to await, each in a thread.

    Attributes:
        memory: The ``Memory`` behind it.
    """

    def __init__(self, config: Words | Mapping[str, object] | None = None) -> None:
        self.memory = Memory(config)

    @classmethod
    def from_config(cls, config_dict: Mapping[str, object]) -> Self:
        """One with a configuration: see ``Memory``."""
        return cls(config_dict)

    def close(self) -> None:
        """Close the database; twice is allowed."""
        self.memory.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    add = _threaded(Memory.add)
    chat = _threaded(Memory.chat)
    delete = _threaded(Memory.delete)
    delete_all = _threaded(Memory.delete_all)
    get = _threaded(Memory.get)
    get_all = _threaded(Memory.get_all)
    history = _threaded(Memory.history)
    reset = _threaded(Memory.reset)
    search = _threaded(Memory.search)
    update = _threaded(Memory.update)
