"""The OpenAI Agents SDK: a ``Session`` whose items are a memory's turns, and tools that search it.

session = MemorySession(memory, user_id="ana", session_id="monday")
agent = Agent(name="Assistant", tools=memory_tools(memory, user_id="ana"))
await Runner.run(agent, "…", session=session)
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, cast

from agents import FunctionTool, Tool, TResponseInputItem, function_tool
from agents.memory import SessionABC, SessionSettings

from mnemic.adapters import tools
from mnemic.adapters.recall import Whose, words
from mnemic.algo.jsonable import as_object
from mnemic.algo.scope import check_id
from mnemic.errors import NotFound
from mnemic.memory import Memory
from mnemic.types import Json, Turn

_ITEM: Final = "openai_agents"
_ROLES: Final = {"function_call": "assistant", "function_call_output": "tool"}


class MemorySession(SessionABC):
    """A conversation of the Agents SDK, kept in a memory: word for word, and found by every search of it.

    Args:
        memory: Where it lies.
        user_id: Whose conversation.
        session_id: Which.
        agent_id: The agent that is spoken to, where there are several.
        session_settings: The SDK's: how many items a run is given.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        user_id: str,
        session_id: str,
        agent_id: str | None = None,
        session_settings: SessionSettings | None = None,
    ) -> None:
        check_id(session_id, "session_id")
        self._whose = Whose(memory, user_id, session_id, agent_id)
        self.session_id = session_id
        self.session_settings = session_settings

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The conversation's items, as they were given; the last ``limit`` where there is a limit.

        No result of a tool is given without its call, which providers refuse: then there are fewer.
        """
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        items = [_item(turn) for turn in await asyncio.to_thread(self._turns)]
        return items if limit is None else items[_window(items, limit) :]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items, in one transaction."""
        if items:
            await asyncio.to_thread(self._add, [_message(cast(Mapping[str, object], item)) for item in items])

    async def pop_item(self) -> TResponseInputItem | None:
        """Erase the last item, and return it."""
        return await asyncio.to_thread(self._pop)

    async def clear_session(self) -> None:
        """Erase the conversation, with all that was derived from it alone."""
        await asyncio.to_thread(self._clear)

    def _turns(self) -> list[Turn]:
        return self._whose.memory.get_all(user_id=self._whose.user_id, session_id=self.session_id)

    def _add(self, messages: Sequence[Mapping[str, object]]) -> None:
        self._whose.memory.add(
            messages,
            user_id=self._whose.user_id,
            session_id=self.session_id,
            agent_id=self._whose.agent_id,
            timestamp=datetime.now(UTC),
        )

    def _pop(self) -> TResponseInputItem | None:
        turns = self._turns()
        if not turns:
            return None
        self._whose.memory.delete(user_id=self._whose.user_id, turn_id=turns[-1].turn_id)
        return _item(turns[-1])

    def _clear(self) -> None:
        try:
            self._whose.memory.delete(user_id=self._whose.user_id, session_id=self.session_id)
        except NotFound:
            return  # there was nothing in it


def memory_tools(
    memory: Memory, *, user_id: str, session_id: str | None = None, agent_id: str | None = None
) -> list[Tool]:
    """Tools by which an agent searches a user's memory, ``search_memories``, and adds to it, ``add_memory``."""
    whose = Whose(memory, user_id, session_id, agent_id)

    async def search_memories(query: str, top_k: int = 10) -> str:
        return await asyncio.to_thread(tools.search, whose, query, top_k)

    async def add_memory(text: str) -> str:
        return await asyncio.to_thread(tools.remember, whose, text)

    made: list[FunctionTool] = [
        function_tool(search_memories, description_override=tools.SEARCH),
        function_tool(add_memory, description_override=tools.REMEMBER),
    ]
    return [*made]


def _message(item: Mapping[str, object]) -> dict[str, object]:
    """An item as a message: its words for the memory, itself for the SDK."""
    kept = as_object(item, "item")
    kind = str(item.get("type") or "message")
    role = str(item.get("role") or _ROLES.get(kind, "assistant"))
    return {"role": role, "content": _words(item, kind) or f"[{kind}]", "metadata": {_ITEM: kept}}


def _words(item: Mapping[str, object], kind: str) -> str:
    if kind == "function_call":
        return f"{item.get('name')}({item.get('arguments')})"
    said = item.get("output") if kind == "function_call_output" else item.get("content", item.get("summary"))
    text = words(said)
    return text if text.strip() else ""


def _window(items: Sequence[TResponseInputItem], limit: int) -> int:
    """Where the last items begin, at most so many, that hold the call of every result that they hold."""
    called: dict[object, int] = {}
    results: list[tuple[int, int]] = []
    for place, item in enumerate(items):
        if item.get("type") == "function_call":
            called[item.get("call_id")] = place
        elif item.get("type") == "function_call_output":
            results.append((place, called.get(item.get("call_id"), -1)))
    start = max(0, len(items) - max(0, limit))
    for place, call in results:
        if call < start <= place:
            start = place + 1
    return start


def _item(turn: Turn) -> TResponseInputItem:
    """A turn as the item that it was; one that came another way as a plain message."""
    kept: Json = turn.metadata.get(_ITEM)
    plain: dict[str, Json] = {"role": turn.role if turn.role != "tool" else "assistant", "content": turn.text}
    return cast(TResponseInputItem, kept if isinstance(kept, dict) else plain)
