"""Anthropic's memory tool over a memory, for the SDK's tool runner; ``memory_files`` has it without the SDK."""

from __future__ import annotations

import asyncio

from anthropic import BaseModel
from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError

from mnemic.adapters.memory_files import MemoryFiles
from mnemic.errors import MnemicError
from mnemic.memory import Memory


def _done(files: MemoryFiles, command: BaseModel) -> str:
    try:
        return files.do(command.model_dump(exclude_none=True))
    except MnemicError as error:
        raise ToolError(str(error)) from error


class MemoryTool(BetaAbstractMemoryTool):
    """The tool ``memory_20250818`` over virtual files of one user: ``client.beta.messages.tool_runner(tools=[…])``.

    Args:
        memory: Where the files lie.
        user_id: Whose they are; the model cannot name another one.
    """

    def __init__(self, memory: Memory, *, user_id: str) -> None:
        super().__init__()
        self.files = MemoryFiles(memory, user_id=user_id)

    def view(self, command: BaseModel) -> str:
        """See ``MemoryFiles``."""
        return _done(self.files, command)

    create = str_replace = insert = delete = rename = view


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for ``AsyncAnthropic``; each command runs in a thread."""

    def __init__(self, memory: Memory, *, user_id: str) -> None:
        super().__init__()
        self.files = MemoryFiles(memory, user_id=user_id)

    async def view(self, command: BaseModel) -> str:
        """See ``MemoryFiles``."""
        return await asyncio.to_thread(_done, self.files, command)

    create = str_replace = insert = delete = rename = view
