"""pydantic-ai: a toolset that searches a memory, a history processor that recalls, and a way to store what was said.

agent = Agent(model, toolsets=[memory_toolset(memory, user_id="ana")])
agent = Agent(model, capabilities=[ProcessHistory(recalling(memory, user_id="ana"))])
add_messages(memory, result.new_messages(), user_id="ana", session_id="monday")
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.tools import Tool
from pydantic_ai.toolsets import FunctionToolset

from mnemic.adapters import tools
from mnemic.adapters.recall import PREFACE, Whose, quietly_recalled
from mnemic.memory import Memory
from mnemic.types import Added


def memory_toolset(
    memory: Memory, *, user_id: str, session_id: str | None = None, agent_id: str | None = None
) -> FunctionToolset[Any]:
    """Tools by which an agent searches a user's memory, ``search_memories``, and adds to it, ``add_memory``."""
    whose = Whose(memory, user_id, session_id, agent_id)

    async def search_memories(query: str, top_k: int = 10) -> str:
        return await asyncio.to_thread(tools.search, whose, query, top_k)

    async def add_memory(text: str) -> str:
        return await asyncio.to_thread(tools.remember, whose, text)

    made = [Tool(search_memories, description=tools.SEARCH), Tool(add_memory, description=tools.REMEMBER)]
    return FunctionToolset(made, id="mnemic")


def recalling(
    memory: Memory, *, user_id: str, max_tokens: int = 1500
) -> Callable[[list[ModelMessage]], Awaitable[list[ModelMessage]]]:
    """A history processor: what memory has on the last thing that the user said, in a system prompt of its own.

    What a request shows anyway is left out, and what was recalled for an earlier request is taken away. Where memory
    fails, that is logged, and nothing is recalled.
    """
    whose = Whose(memory, user_id)

    async def process(messages: list[ModelMessage]) -> list[ModelMessage]:
        cleared = [_without_recalled(message) for message in messages]
        asked = [text for message in cleared if (text := _asked(message))]
        if not asked:
            return cleared
        shown = [text for message in cleared for text in _texts(message)]
        block = await asyncio.to_thread(quietly_recalled, whose, asked[-1], shown=shown, max_tokens=max_tokens)
        first = next(place for place, message in enumerate(cleared) if isinstance(message, ModelRequest))
        if block:
            cleared[first] = _with_recalled(cleared[first], block)
        return cleared

    return process


def add_messages(
    memory: Memory,
    messages: Sequence[ModelMessage],
    *,
    user_id: str,
    session_id: str | None = None,
    agent_id: str | None = None,
) -> Added:
    """Store what was said in a run, word for word: ``result.new_messages()``, or ``all_messages()``, however often.

    Of a history that was stored before only what is new is added. System prompts are left out, and so is what was
    recalled.
    """
    said = [one for message in messages for one in _said(_without_recalled(message))]
    return memory.add(said, user_id=user_id, session_id=session_id, agent_id=agent_id, resend="prefix")


def _with_recalled(message: ModelMessage, block: str) -> ModelMessage:
    """A request with what was recalled behind its system prompts: a later one would be sent as words of the user."""
    if not isinstance(message, ModelRequest):
        return message
    place = 0
    while place < len(message.parts) and isinstance(message.parts[place], SystemPromptPart):
        place += 1
    return replace(message, parts=[*message.parts[:place], SystemPromptPart(block), *message.parts[place:]])


def _without_recalled(message: ModelMessage) -> ModelMessage:
    if not isinstance(message, ModelRequest):
        return message
    kept = [part for part in message.parts if not (isinstance(part, SystemPromptPart) and _is_recalled(part.content))]
    return message if len(kept) == len(message.parts) else replace(message, parts=kept)


def _is_recalled(text: str) -> bool:
    return text.startswith(PREFACE)


def _asked(message: ModelMessage) -> str:
    """What the user says in a message."""
    if not isinstance(message, ModelRequest):
        return ""
    return "\n".join(_user_text(part) for part in message.parts if isinstance(part, UserPromptPart))


def _user_text(part: UserPromptPart) -> str:
    if isinstance(part.content, str):
        return part.content
    return "\n".join(one for one in part.content if isinstance(one, str))


def _texts(message: ModelMessage) -> Iterable[str]:
    for one in _said(message):
        if isinstance(one["content"], str):
            yield one["content"]


def _said(message: ModelMessage) -> list[dict[str, object]]:
    """The messages, in OpenAI's shape, that one of pydantic-ai's is."""
    if isinstance(message, ModelRequest):
        return [one for part in message.parts if (one := _requested(part)) is not None]
    return _responded(message)


def _requested(part: object) -> dict[str, object] | None:
    if isinstance(part, UserPromptPart):
        text = _user_text(part)
        return {"role": "user", "content": text, "timestamp": part.timestamp} if text.strip() else None
    if isinstance(part, ToolReturnPart):
        answered = {"role": "tool", "tool_call_id": part.tool_call_id, "timestamp": part.timestamp}
        return {**answered, "content": part.model_response_str() or "[empty]"}
    return None


def _responded(message: ModelResponse) -> list[dict[str, object]]:
    text = "".join(part.content for part in message.parts if isinstance(part, TextPart))
    calls = [
        {
            "id": part.tool_call_id,
            "type": "function",
            "function": {"name": part.tool_name, "arguments": part.args_as_json_str()},
        }
        for part in message.parts
        if isinstance(part, ToolCallPart)
    ]
    if not text.strip() and not calls:
        return []
    said: dict[str, object] = {"role": "assistant", "content": text or None, "timestamp": message.timestamp}
    return [{**said, "tool_calls": calls} if calls else said]
