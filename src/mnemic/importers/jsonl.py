"""The ``jsonl`` format: one message or one conversation a line, mnemic's own export included.

A broken line, such as a cut last one, is left out and counted, and the rest is read. Lines are read as they
come, so the file may be larger than the machine's memory.
"""

from __future__ import annotations

from collections.abc import Iterator

from mnemic.importers.chat import Batch, Chat, is_message
from mnemic.importers.files import SourceFile, parse
from mnemic.importers.records import Derived, Noted, Record, Skipped
from mnemic.types import Json

_EXPORTED = frozenset(("mnemic", "recorded_at", "trace", "note", "episode", "operation"))


def read(file: SourceFile) -> Iterator[Record]:
    """Yield the file's conversations.

    Lines with single messages are gathered, in order, into conversations of at most ``BATCH`` messages; each
    message keeps its own ``session_id``.
    """
    chat = Chat(unnamed=file.session)
    batch = Batch(chat, file.session)
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
        else:
            yield from batch.put(value, where)
    yield from batch.take()


def _note(note: Json, where: str) -> Derived | Noted:
    if not isinstance(note, dict) or note.get("given_id") is None or note.get("status") != "current":
        return Derived()
    fields = ("text", "sources", "about", "kind", "valid", "metadata")
    return Noted({"id": note["given_id"], **{name: note.get(name) for name in fields}}, where)
