"""What of a conversation a memory can hold: a field that it cannot costs itself, never the words beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mnemic.algo.jsonable import as_json
from mnemic.errors import InvalidInput
from mnemic.importers.records import Conversation, Message
from mnemic.types import Json

UNFIT = "a field that cannot be kept (a number too large for JSON elsewhere, or nested too deep)"


def storable(conversation: Conversation) -> tuple[Conversation, list[str]]:
    """A conversation with what a memory can hold, and the places of the fields that are left out.

    Content is never left out: a message whose words cannot be held is for the memory to refuse.
    """
    metadata, lost = _fields(conversation.metadata, "metadata")
    messages: list[Message] = []
    for message in conversation.messages:
        held, gone = _message(message)
        messages.append(held)
        lost += [f"message {message.get('id')!r}, {name}" for name in gone]
    if not lost:
        return conversation, lost
    return replace(conversation, metadata=metadata, messages=tuple(messages)), lost


def _message(message: Message) -> tuple[Message, list[str]]:
    held, lost = _fields({name: value for name, value in message.items() if name not in ("content", "metadata")}, "")
    own = message.get("metadata")
    if isinstance(own, dict):
        held["metadata"], gone = _fields(own, "metadata")
        lost += gone
    elif "metadata" in message:
        held["metadata"] = own
    if "content" in message:
        held["content"] = message["content"]
    return (held, lost) if lost else (message, lost)


def _fields(given: Mapping[str, Json], path: str) -> tuple[dict[str, Json], list[str]]:
    held: dict[str, Json] = {}
    lost: list[str] = []
    for name, value in given.items():
        try:
            held[name] = as_json(value)
        except InvalidInput:
            lost.append(f"{path}.{name}" if path else name)
    return held, lost
