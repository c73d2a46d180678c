"""The ``claude`` format: ``conversations.json`` of Claude's data export, also within its zip file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mnemic.importers.archive import entries
from mnemic.importers.files import SourceFile
from mnemic.importers.loose import kept, listed, mapping, name, set_time, words
from mnemic.importers.records import Conversation, Message, Record, Skipped
from mnemic.types import Json

_ROLES = {"human": "user", "user": "user", "assistant": "assistant"}
_UNSAID = ("thinking", "redacted_thinking", "token_budget", "flag")


def read(file: SourceFile) -> Iterator[Record]:
    """Yield one conversation for each conversation of the export.

    Raises:
        Unusable: It is no JSON array, or the zip file holds none.
    """
    for entry in entries(file, "conversations"):
        if isinstance(entry, Skipped):
            yield entry
        else:
            item, prefix = entry
            yield from _conversation(
                mapping(item.value), f"{file.session}/{item.number}", f"{prefix}conversation {item.number}"
            )


def is_conversation(value: Json) -> bool:
    """Whether a value is one of Claude's conversations."""
    return isinstance(value, dict) and isinstance(value.get("chat_messages"), list)


def _conversation(head: Mapping[str, Json], unnamed: str, where: str) -> Iterator[Record]:
    session = name(head.get("uuid")) or unnamed
    messages: list[Message] = []
    ids: set[str] = set()
    for number, raw in enumerate(listed(head.get("chat_messages")), 1):
        place = f"{where}, message {number}"
        message = _message(mapping(raw), f"{session}/{number}")
        if isinstance(message, str):
            yield Skipped(message, place)
            continue
        if message["id"] in ids:
            message["id"] = f"{session}/{number}"
        ids.add(str(message["id"]))
        if (wrong := set_time(message, mapping(raw).get("created_at"), place)) is not None:
            yield wrong
        messages.append(message)
    if not messages:
        yield Skipped("a conversation without messages", where)
        return
    metadata = kept(
        title=name(head.get("name")), source="claude", project=name(mapping(head.get("project")).get("name"))
    )
    yield Conversation(None, session, tuple(messages), None, metadata)


def _message(raw: Mapping[str, Json], unnamed: str) -> Message | str:
    role = _ROLES.get(words(raw.get("sender")))
    if role is None:
        return "a message of nobody that is known"
    content = _content(raw)
    if not content:
        return "a message without words"
    message: Message = {"id": name(raw.get("uuid")) or unnamed, "role": role, "content": content}
    # Branches are told by nothing but this: which message each one answers.
    if (before := name(raw.get("parent_message_uuid"))) is not None:
        message["metadata"] = {"parent": before}
    return message


def _content(raw: Mapping[str, Json]) -> str | list[Json]:
    """The words: a text, or parts where there are files or tools."""
    blocks = [part for block in listed(raw.get("content")) for part in _block(mapping(block))]
    if not any(part.get("type") == "text" for part in blocks) and (said := words(raw.get("text"))).strip():
        # Older exports have the words beside the blocks, or no blocks at all.
        blocks.insert(0, {"type": "text", "text": said})
    blocks += [_attachment(mapping(one)) for one in listed(raw.get("attachments"))]
    blocks += [_file(mapping(one)) for one in (*listed(raw.get("files")), *listed(raw.get("files_v2")))]
    found: list[Json] = [part for part in blocks if part]
    if len(found) == 1 and mapping(found[0]).get("type") == "text":
        return words(mapping(found[0]).get("text"))
    return found


def _block(block: Mapping[str, Json]) -> list[dict[str, Json]]:
    kind = words(block.get("type"))
    if kind in _UNSAID:
        return []
    if kind == "tool_use" and name(block.get("name")) is not None:
        return [{"type": "tool_use", "name": block["name"], "input": block.get("input")}]
    if kind == "tool_result":
        content = block.get("content")
        texts = [content] if isinstance(content, str) else [mapping(one).get("text") for one in listed(content)]
        inner: list[Json] = [{"type": "text", "text": text} for text in texts if name(text) is not None]
        return [{"type": "tool_result", "content": inner}] if inner else []
    said = name(block.get("text"))
    return [] if said is None else [{"type": "text", "text": said}]


def _attachment(given: Mapping[str, Json]) -> dict[str, Json]:
    """A text that was pasted or attached: its words are part of what was said."""
    title, said = name(given.get("file_name")), name(given.get("extracted_content"))
    if said is not None:
        return {"type": "text", "text": f"{title}:\n{said}" if title else said}
    return {} if title is None else {"type": "file", "file": {"filename": title, "file_id": title}}


def _file(given: Mapping[str, Json]) -> dict[str, Json]:
    title = name(given.get("file_name")) or name(given.get("file_uuid"))
    return {} if title is None else {"type": "file", "file": {"filename": title, "file_id": title}}
