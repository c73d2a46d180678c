"""The ``messages`` format: one JSON value.

An array of chat messages, of conversations ``{"messages": [...]}``, or of both; or one such conversation. Used are a
conversation's own ``session_id``, ``user_id``, ``agent_id``, ``timestamp``, ``title`` and ``metadata``. An array is
read item by item, so it may be larger than the machine's memory.
"""

from __future__ import annotations

from collections.abc import Iterator

from mnemic.importers.chat import Batch, Chat, may_be_conversation
from mnemic.importers.files import SourceFile, Unusable
from mnemic.importers.items import is_array, items
from mnemic.importers.records import Record, Skipped


def read(file: SourceFile) -> Iterator[Record]:
    """Yield the file's conversations; single messages are gathered into some of at most ``chat.BATCH``.

    Raises:
        Unusable: It is not JSON, or neither an object with ``messages`` nor an array.
    """
    chat = Chat(unnamed=file.session)
    if is_array(file):
        yield from _array(file, chat)
        return
    whole = file.json()
    if not isinstance(whole, dict):
        raise Unusable(file.path, f"holds one JSON {type(whole).__name__}: no chat messages")
    if not isinstance(whole.get("messages"), list):
        raise Unusable(file.path, 'holds one JSON object without "messages": no chat messages')
    yield from chat.conversation(whole, file.session, "")


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
