"""The ``mem0`` format: what mem0's ``get_all`` (or ``search``) gives, as JSON.

A dump has memories and no dialogue: each becomes a message in its words, with the id, the times and the metadata
it had.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mnemic.importers.files import SourceFile
from mnemic.importers.items import begins_with, items, items_within
from mnemic.importers.loose import kept, listed, mapping, name, set_time, words
from mnemic.importers.records import Conversation, Message, Record, Skipped, gathered
from mnemic.types import Json

ARRAYS = ("results", "memories")
"""Where the answer of ``get_all`` holds its memories."""
_WORDS = ("memory", "text", "data")
_ROLES = ("user", "assistant", "system", "tool")


def read(file: SourceFile) -> Iterator[Record]:
    """Yield a message for each memory: an array of them, or an object with ``results`` or ``memories``.

    Raises:
        Unusable: It is neither.
    """
    return gathered(_records(file))


def _records(file: SourceFile) -> Iterator[Record]:
    for item in items_within(file, ARRAYS) if begins_with(file, b"{") else items(file):
        yield from [item] if isinstance(item, Skipped) else _memory(item.value, file.session, f"item {item.number}")


def is_memory(value: Json) -> bool:
    """Whether a value is one of mem0's memories."""
    return isinstance(value, dict) and isinstance(value.get("memory"), str) and "id" in value


def _memory(value: Json, unnamed: str, where: str) -> Iterator[Record]:
    raw = mapping(value)
    said = next((words(raw.get(key)) for key in _WORDS if name(raw.get(key)) is not None), None)
    if said is None:
        yield Skipped("a memory without words", where)
        return
    role = words(raw.get("role"))
    message: Message = {"role": role if role in _ROLES else "user", "content": said, "tier": "import"}
    identity = raw.get("id")
    if isinstance(identity, (str, int)) and not isinstance(identity, bool) and identity != "":
        message["id"] = str(identity)
    if (speaker := name(raw.get("actor_id"))) is not None:
        message["name"] = speaker
    if (wrong := set_time(message, raw.get("created_at"), where)) is not None:
        yield wrong
    message["metadata"] = {**mapping(raw.get("metadata")), **_origin(raw)}
    if "id" not in message:
        yield Skipped("a memory without an id", where)
        return
    session = name(raw.get("run_id")) or unnamed
    yield Conversation(name(raw.get("user_id")), session, (message,), name(raw.get("agent_id")))


def _origin(raw: Mapping[str, Json]) -> dict[str, Json]:
    return dict(
        kept(
            source="mem0",
            updated_at=name(raw.get("updated_at")),
            categories=[word for word in listed(raw.get("categories")) if isinstance(word, str)],
        )
    )
