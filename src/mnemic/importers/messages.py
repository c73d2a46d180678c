"""The ``messages`` format: one JSON value.

An array of chat messages; ``{"messages": [...]}``; or an array of such conversations. A conversation's own
``session_id``, ``user_id``, ``agent_id``, ``timestamp``, ``title`` and ``metadata`` are used.
"""

from __future__ import annotations

from collections.abc import Iterator

from mnemic.importers.chat import Chat, is_conversation
from mnemic.importers.files import SourceFile, Unusable
from mnemic.importers.records import Record


def read(file: SourceFile) -> Iterator[Record]:
    """Yield the file's conversations.

    Raises:
        Unusable: It is not JSON, or neither an object with ``messages`` nor an array.
    """
    whole = file.json()
    chat = Chat(unnamed=file.session)
    if isinstance(whole, dict):
        if not isinstance(whole.get("messages"), list):
            raise Unusable(file.path, 'holds one JSON object without "messages": no chat messages')
        yield from chat.conversation(whole, file.session, "")
    elif isinstance(whole, list):
        if any(is_conversation(item) for item in whole):
            for number, item in enumerate(whole, 1):
                yield from chat.conversation(item, f"{file.session}/{number}", f"conversation {number}")
        else:
            yield from chat.conversation(whole, file.session, "")
    else:
        raise Unusable(file.path, f"holds one JSON {type(whole).__name__}: no chat messages")
