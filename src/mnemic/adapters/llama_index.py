"""LlamaIndex: a memory for its chat engines and agents.

chat = MemoryChat.from_defaults(memory=memory, user_id="ana", session_id="monday")
engine = SimpleChatEngine.from_defaults(llm=llm, memory=chat)
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final, Self

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemory
from pydantic import ConfigDict, Field, PrivateAttr

from mnemic.adapters.recall import PREFACE, Whose, quietly_recalled
from mnemic.algo.jsonable import as_object
from mnemic.memory import Memory
from mnemic.types import Json, Turn

_KEPT: Final = "llama_index"


class MemoryChat(BaseMemory):
    """A conversation kept in a memory, word for word; ``get`` adds what the whole memory has on what is asked.

    ``reset`` begins a new conversation; the old one stays in memory, where ``Memory.delete`` erases it.

    Attributes:
        memory: Where it lies.
        user_id: Whose conversation.
        session_id: Which.
        agent_id: The agent that is spoken to, where there are several.
        max_tokens: Of what is recalled, at most.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    memory: Memory = Field(exclude=True)
    user_id: str
    session_id: str
    agent_id: str | None = None
    max_tokens: int = 1500
    _whose: Whose = PrivateAttr()

    def model_post_init(self, _: object, /) -> None:
        """Check whose it is. Raises InvalidScope."""
        self._whose = Whose(self.memory, self.user_id, self.session_id, self.agent_id)

    @classmethod
    def class_name(cls) -> str:
        """The name that LlamaIndex knows it by."""
        return "MnemicMemoryChat"

    @classmethod
    def from_defaults(cls, **kwargs: Any) -> Self:  # noqa: ANN401 - LlamaIndex's signature
        """One with these attributes."""
        return cls(**kwargs)

    def get(self, input: str | None = None, **_: Any) -> list[ChatMessage]:  # noqa: ANN401 - LlamaIndex's signature
        """The conversation, and before it what memory has on ``input``, or on what the user said last."""
        messages = self.get_all()
        asked = [message.content or "" for message in messages if message.role == MessageRole.USER]
        query = input or (asked[-1] if asked else "")
        shown = [message.content or "" for message in messages]
        block = quietly_recalled(self._whose, query, shown=shown, max_tokens=self.max_tokens)
        return [ChatMessage(role=MessageRole.SYSTEM, content=block), *messages] if block else messages

    def get_all(self) -> list[ChatMessage]:
        """The conversation."""
        turns = self.memory.get_all(user_id=self.user_id, session_id=self.session_id)
        return [_chat_message(turn) for turn in turns]

    def put(self, message: ChatMessage) -> None:
        """Add a message."""
        self._add([message], resend=False)

    def put_messages(self, messages: list[ChatMessage]) -> None:
        """Add messages, in one transaction."""
        self._add(messages, resend=False)

    def set(self, messages: list[ChatMessage]) -> None:
        """Have the conversation hold these messages: what is new of them is added; no word that was said is lost."""
        self._add(messages, resend=True)

    def reset(self) -> None:
        """Begin a new conversation."""
        self.session_id = f"{self.session_id.partition('#')[0]}#{uuid.uuid4().hex}"
        self._whose = Whose(self.memory, self.user_id, self.session_id, self.agent_id)

    def _add(self, messages: Sequence[ChatMessage], *, resend: bool) -> None:
        said = [_message(one) for one in messages if not _is_recalled(one) and (one.content or one.additional_kwargs)]
        if said:
            self.memory.add(
                said,
                user_id=self.user_id,
                session_id=self.session_id,
                agent_id=self.agent_id,
                timestamp=datetime.now(UTC),
                resend="prefix" if resend else None,
            )


def _is_recalled(message: ChatMessage) -> bool:
    return message.role == MessageRole.SYSTEM and (message.content or "").startswith(PREFACE)


def _message(message: ChatMessage) -> dict[str, object]:
    """A message for the memory: its words, and for LlamaIndex its role, and what else it has that is JSON."""
    kept: dict[str, Json] = {"role": message.role.value}
    more = message.model_dump(mode="json")["additional_kwargs"]
    if more:
        kept["additional_kwargs"] = as_object(more, "additional_kwargs")
    role = "assistant" if message.role == MessageRole.CHATBOT else message.role.value
    return {"role": role, "content": message.content or f"[{role}]", "metadata": {_KEPT: kept}}


def _chat_message(turn: Turn) -> ChatMessage:
    kept = turn.metadata.get(_KEPT)
    known = kept if isinstance(kept, dict) else {}
    more = known.get("additional_kwargs")
    return ChatMessage(
        role=MessageRole(str(known.get("role", turn.role))),
        content=turn.text,
        additional_kwargs=more if isinstance(more, dict) else {},
    )
