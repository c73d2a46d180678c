"""The ``langgraph`` format: the items of a LangGraph store, one a line or in an array (``item.dict()`` of each).

An item has a namespace, a key and a value. The value's words become a message whose session is the namespace; all of
the value is kept in its metadata.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from mnemic.importers.files import SourceFile, parse
from mnemic.importers.items import Item, Member, begins_with, items, items_within, members
from mnemic.importers.loose import listed, mapping, name, set_time
from mnemic.importers.records import Conversation, Message, Record, Skipped, gathered
from mnemic.types import Json

ARRAYS = ("items",)
"""Where an object holds its items."""
_WORDS = ("content", "text", "memory", "data", "value", "summary")
_NOT_AN_ITEM = "not an item of a store (namespace, key and value)"


def read(file: SourceFile) -> Iterator[Record]:
    """Yield a message for each item: an array, an object with ``items``, or lines of them.

    Raises:
        Unusable: It cannot be read.
    """
    return gathered(_records(file))


def _records(file: SourceFile) -> Iterator[Record]:
    if begins_with(file, b"["):
        yield from _each(items(file))
    elif any(member == Member(ARRAYS[0], []) for member in _members(file)):
        yield from _each(items_within(file, ARRAYS))
    else:
        yield from _lines(file)


def _members(file: SourceFile) -> Iterator[Member | Skipped]:
    return members(file, ARRAYS) if begins_with(file, b"{") else iter(())


def _each(found: Iterator[Item | Skipped]) -> Iterator[Record]:
    for item in found:
        yield from [item] if isinstance(item, Skipped) else _item(item.value, f"item {item.number}")


def _lines(file: SourceFile) -> Iterator[Record]:
    for line in file.lines():
        if isinstance(line, Skipped):
            yield line
            continue
        where = f"line {line.number}"
        try:
            yield from _item(parse(line.text), where)
        except ValueError:
            yield Skipped("not JSON", where)


def is_item(value: Json) -> bool:
    """Whether a value is an item of a store."""
    found = mapping(value)
    return isinstance(found.get("namespace"), (list, str)) and "key" in found and "value" in found


def _item(raw: Json, where: str) -> Iterator[Record]:
    if not is_item(raw):
        yield Skipped(_NOT_AN_ITEM, where)
        return
    item = mapping(raw)
    space = item["namespace"]
    names = [space] if isinstance(space, str) else [one for one in listed(space) if isinstance(one, str)]
    key = item["key"]
    said = _said(item["value"])
    if not isinstance(key, str) or not key or not names:
        yield Skipped(_NOT_AN_ITEM, where)
        return
    if not said.strip():
        yield Skipped("an item without words", where)
        return
    session = "/".join(names)
    message: Message = {"id": f"{session}/{key}", "role": "user", "content": said, "tier": "import"}
    if (wrong := set_time(message, item.get("created_at"), where)) is not None:
        yield wrong
    metadata: dict[str, Json] = {"source": "langgraph", "namespace": list[Json](names), "key": key}
    if not isinstance(item["value"], str):
        metadata["value"] = item["value"]
    if (updated := name(item.get("updated_at"))) is not None:
        metadata["updated_at"] = updated
    message["metadata"] = metadata
    yield Conversation(None, session, (message,))


def _said(value: Json) -> str:
    """The words of an item: those of the field that holds any; without one, the value as JSON."""
    if isinstance(value, str):
        return value
    fields: Mapping[str, Json] = mapping(value)
    inner = fields.get("content")
    if isinstance(inner, dict):  # langmem's: {"kind": "Memory", "content": {"content": "…"}}
        return _said(inner)
    for key in _WORDS:
        if (said := name(fields.get(key))) is not None:
            return said
    return json.dumps(value, ensure_ascii=False) if value not in (None, {}, []) else ""
