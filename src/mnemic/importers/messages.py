"""The ``messages`` format: one JSON value.

An array of chat messages, of conversations ``{"messages": [...]}``, or of both; or one such conversation. Used are a
conversation's own ``session_id``, ``user_id``, ``agent_id``, ``timestamp``, ``title`` and ``metadata``. Its
messages and conversations are read one by one, so the file may be larger than the machine's memory.
"""

from __future__ import annotations

from collections.abc import Iterator

from mnemic.importers.chat import HEAD, Batch, Chat, may_be_conversation
from mnemic.importers.files import SourceFile, Unusable
from mnemic.importers.items import begins_with, items, items_within, members
from mnemic.importers.records import Record, Skipped
from mnemic.types import Json

ARRAYS = ("messages",)
"""Where a conversation holds its messages."""


def read(file: SourceFile) -> Iterator[Record]:
    """Yield the file's conversations; single messages are gathered into some of at most ``chat.BATCH``.

    Raises:
        Unusable: It is not JSON, or neither an object with ``messages`` nor an array.
    """
    chat = Chat(unnamed=file.session)
    if begins_with(file, b"["):
        yield from _array(file, chat)
        return
    if not begins_with(file, b"{"):
        raise Unusable(file.path, "holds one JSON value that is no array and no object: no chat messages")
    yield from _conversation(file, chat)


def _conversation(file: SourceFile, chat: Chat) -> Iterator[Record]:
    """One object: read for what it says of its messages, then for these."""
    head: dict[str, Json] = {}
    for member in members(file, ARRAYS):
        if isinstance(member, Skipped):
            raise Unusable(file.path, f"is not JSON: {member.reason}", place=member.where)
        if member.key in HEAD:
            head[member.key] = member.value
    if head.get("messages") != []:  # not even an array
        raise Unusable(file.path, 'holds one JSON object without "messages": no chat messages')
    listed = (one if isinstance(one, Skipped) else (one.number, one.value) for one in items_within(file, ARRAYS))
    yield from chat.under(head, listed, file.session, "")


def _array(file: SourceFile, chat: Chat) -> Iterator[Record]:
    batch = Batch(chat, file.session)
    number = 0
    for number, item in enumerate(items(file), 1):
        if isinstance(item, Skipped):
            yield item
        elif may_be_conversation(item.value):
            yield from batch.take()
            yield from chat.conversation(item.value, f"{file.session}/{number}", f"conversation {number}")
        else:
            yield from batch.put(item.value, f"message {number}")
    yield from batch.take()
    if not number:
        yield Skipped("a conversation without messages", "the file")
