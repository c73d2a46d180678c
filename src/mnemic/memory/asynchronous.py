"""The same memory for async code: each method runs in a thread, nothing blocks the event loop."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Self, TypeVar

from mnemic.memory.facade import Memory

if TYPE_CHECKING:
    from mnemic.types import Json

P = ParamSpec("P")
R = TypeVar("R")


def _threaded(
    method: Callable[Concatenate[Memory, P], R],
) -> Callable[Concatenate[AsyncMemory, P], Awaitable[R]]:
    @functools.wraps(method)
    async def call(self: AsyncMemory, *args: P.args, **kwargs: P.kwargs) -> R:
        return await asyncio.to_thread(method, self.memory, *args, **kwargs)

    return call


def _opening(
    method: Callable[Concatenate[type[Memory], P], Memory],
) -> Callable[Concatenate[type[AsyncMemory], P], Awaitable[AsyncMemory]]:
    @functools.wraps(method)
    async def call(cls: type[AsyncMemory], *args: P.args, **kwargs: P.kwargs) -> AsyncMemory:
        return cls(await asyncio.to_thread(method, Memory, *args, **kwargs))

    return call


class AsyncMemory:
    """``Memory`` with awaitable methods, of the same names, arguments and defaults.

    Attributes:
        memory: The memory behind it.
    """

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def export(self, *, user_id: str) -> list[dict[str, Json]]:
        """As ``Memory.export``, all at once: a generator would read on the event loop."""
        return await asyncio.to_thread(lambda: list(self.memory.export(user_id=user_id)))

    open = classmethod(_opening(Memory.open.__func__))
    add = _threaded(Memory.add)
    add_notes = _threaded(Memory.add_notes)
    answer = _threaded(Memory.answer)
    answer_stream = _threaded(Memory.answer_stream)
    approve = _threaded(Memory.approve)
    backup = _threaded(Memory.backup)
    check = _threaded(Memory.check)
    close = _threaded(Memory.close)
    confirm = _threaded(Memory.confirm)
    context = _threaded(Memory.context)
    cues = _threaded(Memory.cues)
    diff = _threaded(Memory.diff)
    discard = _threaded(Memory.discard)
    quarantine = _threaded(Memory.quarantine)
    release = _threaded(Memory.release)
    delete = _threaded(Memory.delete)
    delete_all = _threaded(Memory.delete_all)
    erase = _threaded(Memory.erase)
    enrich = _threaded(Memory.enrich)
    evolution = _threaded(Memory.evolution)
    forget = _threaded(Memory.forget)
    episodes = _threaded(Memory.episodes)
    get = _threaded(Memory.get)
    get_all = _threaded(Memory.get_all)
    history = _threaded(Memory.history)
    neighbours = _threaded(Memory.neighbours)
    notes = _threaded(Memory.notes)
    notice = _threaded(Memory.notice)
    proposals = _threaded(Memory.proposals)
    recover = _threaded(Memory.recover)
    reembed = _threaded(Memory.reembed)
    reflect = _threaded(Memory.reflect)
    reject = _threaded(Memory.reject)
    restore = _threaded(Memory.restore)
    retract = _threaded(Memory.retract)
    retry = _threaded(Memory.retry)
    search = _threaded(Memory.search)
    sessions = _threaded(Memory.sessions)
    status = _threaded(Memory.status)
    traces = _threaded(Memory.traces)
    undo = _threaded(Memory.undo)
    update = _threaded(Memory.update)
    users = _threaded(Memory.users)
    wait = _threaded(Memory.wait)
    warm = _threaded(Memory.warm)
