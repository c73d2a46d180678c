"""The ``jsonl`` format: one message or one conversation a line, mnemic's own export included.

A broken line, such as a cut last one, is left out and counted, and the rest is read. Lines are read as they
come, so the file may be larger than the machine's memory.
"""

from __future__ import annotations

from collections.abc import Iterator

from mnemic.importers.chat import Chat, first_text, is_message
from mnemic.importers.files import SourceFile, parse
from mnemic.importers.records import Conversation, Derived, Message, Noted, Record, Skipped
from mnemic.types import Json

BATCH = 200
"""Most messages in one conversation made from single lines."""
_EXPORTED = frozenset(("mnemic", "recorded_at", "trace", "note", "episode", "operation"))
SETTLED = 50
"""From this many messages on, a change of session ends the batch."""


def read(file: SourceFile) -> Iterator[Record]:
    """Yield the file's conversations.

    Lines with single messages are gathered, in order, into conversations of at most ``BATCH`` messages; each
    message keeps its own ``session_id``.
    """
    chat = Chat(unnamed=file.session)
    batch = _Batch(file.session)
    for line in file.lines():
        if isinstance(line, Skipped):
            yield line
            continue
        where = f"line {line.number}"
        try:
            value = parse(line.text)
        except ValueError:
            yield Skipped("not JSON", where)
            continue
        if isinstance(value, dict) and len(value) == 1 and not _EXPORTED.isdisjoint(value):
            if "note" in value:
                yield _note(value["note"], where)
        elif not is_message(value):
            yield from batch.take()
            yield from chat.conversation(value, f"{file.session}/{line.number}", where)
        elif isinstance(message := chat.message(value, None), str):
            yield Skipped(message, where)
        else:
            yield from batch.put(message)
    yield from batch.take()


def _note(note: Json, where: str) -> Derived | Noted:
    if not isinstance(note, dict) or note.get("given_id") is None or note.get("status") != "current":
        return Derived()
    fields = ("text", "sources", "about", "kind", "valid", "metadata")
    return Noted({"id": note["given_id"], **{name: note.get(name) for name in fields}}, where)


class _Batch:
    """Gathers consecutive messages of one user."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._messages: list[Message] = []
        self._user: str | None = None

    def put(self, message: Message) -> Iterator[Conversation]:
        """Add a message; yields what is complete before it."""
        user = first_text(message, ("user_id",))
        count = len(self._messages)
        settled = count >= SETTLED and message.get("session_id") != self._messages[-1].get("session_id")
        if user != self._user or settled or count == BATCH:
            yield from self.take()
        self._user = user
        message.pop("user_id", None)
        self._messages.append(message)

    def take(self) -> Iterator[Conversation]:
        """Yield what is gathered, and start anew."""
        if self._messages:
            yield Conversation(self._user, self._session, tuple(self._messages))
            self._messages = []
