"""The content of a chat message as one text and slices of it.

The shapes are OpenAI's (chat completions and responses) and, where they differ, Anthropic's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from mnemic.errors import InvalidMessage
from mnemic.types import Json, Part, PartKind

_KINDS: Final[dict[str, PartKind]] = {
    "text": "text", "input_text": "text", "output_text": "text", "refusal": "text",
    "image_url": "image", "input_image": "image", "image": "image",
    "input_audio": "audio", "audio": "audio",
    "file": "file", "input_file": "file", "document": "file",
    "video_url": "file", "input_video": "file", "video": "file",
    "tool_use": "tool_call", "function_call": "tool_call",
    "tool_result": "tool_result", "function_call_output": "tool_result",
}  # fmt: skip
# The words of a part: the first of these fields that holds any.
_WORDS: Final[dict[PartKind, tuple[str, ...]]] = {
    "image": ("caption", "alt_text", "alt"),
    "audio": ("transcript", "caption"),
    "file": ("filename", "title", "caption", "name", "transcript"),
}
_OBVIOUS_WORDS: Final = ("text", "content", "caption", "transcript", "title")
_ADDRESSES: Final = ("url", "image_url", "file_url", "video_url", "file_id", "uri", "id", "file_data")
_BODIES: Final = ("image_url", "input_audio", "audio", "file", "source", "image", "video_url", "input_video", "video")


class Content:
    """The texts of a message as they are gathered, to be joined by newlines, and the parts that lie in them.

    Attributes:
        parts: So far; their slices are those of the joined text.
    """

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self._pieces: list[str] = []
        self._length = 0

    @property
    def text(self) -> str:
        """All pieces, joined."""
        return "\n".join(self._pieces)

    def add(self, kind: PartKind, words: str, ref: str | None = None) -> None:
        """Append a part; one without words is an empty slice and adds no newline."""
        if words:
            self._length += 1 if self._pieces else 0
            self._pieces.append(words)
        self.parts.append(Part(kind, self._length, self._length + len(words), ref))
        self._length += len(words)

    def add_all(self, given: Json, *, text_kind: PartKind = "text") -> None:
        """Append a content: a string, None, a part or a list of parts.

        Args:
            given: The content.
            text_kind: The kind of what is mere text in it: ``tool_result`` for what a tool returned.

        Raises:
            InvalidMessage: It is something else; the message says what.
        """
        if given is None:
            return
        if isinstance(given, str):
            self.add(text_kind, given)
            return
        if not isinstance(given, (list, dict)):
            raise InvalidMessage(f"must be a string, a list of parts or None, not {type(given).__name__}")
        for number, part in enumerate(given if isinstance(given, list) else [given]):
            if isinstance(part, str):
                self.add(text_kind, part)
            elif isinstance(part, dict):
                self._add_part(part, number, text_kind)
            else:
                raise InvalidMessage(f"part {number} must be a mapping or a string, not {type(part).__name__}")

    def add_call(self, call: Json) -> None:
        """Append the call of a tool: ``name(arguments)``. Raises InvalidMessage when it names no tool."""
        body = call.get("function", call) if isinstance(call, dict) else None
        name = body.get("name") if isinstance(body, dict) else None
        if not isinstance(body, dict) or not isinstance(name, str) or not name:
            raise InvalidMessage("a tool call must be a mapping with the name of its function")
        arguments = next((body[key] for key in ("arguments", "input", "args") if body.get(key) is not None), "")
        written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        self.add("tool_call", f"{name}({written})", name)

    def _add_part(self, part: dict[str, Json], number: int, text_kind: PartKind) -> None:
        kind = _KINDS.get(str(part.get("type", "text")))
        if kind == "text":
            self.add(text_kind, _text_of(part, number))
        elif kind == "tool_call":
            self.add_call(part)
        elif kind == "tool_result":
            self.add_all(part.get("content", part.get("output")), text_kind="tool_result")
        elif kind is None:
            words = _first(_OBVIOUS_WORDS, part)
            if words:
                self.add(text_kind, words)
        else:
            body = next((part[key] for key in _BODIES if part.get(key) is not None), None)
            inner = body if isinstance(body, dict) else {}
            words = _first(_WORDS[kind], part, inner)
            self.add(kind, words, body if isinstance(body, str) else _address(part, inner, kind))


def _text_of(part: Mapping[str, Json], number: int) -> str:
    words = part.get("text", part.get("refusal"))
    if isinstance(words, dict):  # the assistants' shape: {"text": {"value": ..., "annotations": ...}}
        words = words.get("value")
    if not isinstance(words, str):
        raise InvalidMessage(f"part {number} has no text")
    return words


def _first(names: tuple[str, ...], *holders: Mapping[str, Json]) -> str:
    """The first non-blank text among these fields of these mappings; empty when there is none."""
    for holder in holders:
        for name in names:
            words = holder.get(name)
            if isinstance(words, str) and words.strip() and not words.startswith("data:"):
                return words
    return ""


def _address(part: Mapping[str, Json], body: Mapping[str, Json], kind: PartKind) -> str | None:
    """Where the thing itself lies: a URL, the id of a file, or a data URL made of the bytes that were sent along."""
    for holder in (body, part):
        for name in _ADDRESSES:
            value = holder.get(name)
            if isinstance(value, str) and value:
                return value
    data = body.get("data")
    if not isinstance(data, str):
        return None
    media = body.get("media_type")
    sort = body.get("format")
    name = media if isinstance(media, str) else f"{kind}/{sort}" if isinstance(sort, str) else ""
    return f"data:{name};base64,{data}"
