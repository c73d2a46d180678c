"""Messages as callers give them: turns with every word, or one clear error that says which message."""

from __future__ import annotations

import copy
import json
from datetime import UTC, datetime
from typing import Any

from fuzz.given import Given
from mnemic.algo.messages import normalise
from mnemic.errors import InvalidInput
from mnemic.types import Turn

FIELDS = ("role", "content", "name", "speaker", "id", "timestamp", "session_id", "agent_id", "metadata", "tier",
          "tool_calls", "tool_call_id", "function_call", "refusal", "audio", "type", "text", "image_url", "url",
          "source",
          "data", "caption", "alt", "transcript", "file", "filename", "input", "function", "arguments", "media_type",
          "file_data", "file_id", "input_audio", "thinking", "tool_use_id", "is_error", "detail", "title")  # fmt: skip
VALUES = ("user", "assistant", "system", "tool", "human", "AI", "text", "input_text", "output_text", "image_url",
          "image",
          "input_image", "input_audio", "audio", "file", "document", "tool_use", "tool_result", "thinking", "refusal",
          "data:image/png;base64,QUJD", "https://example.org/a.png", "2023-05-07T14:30:00Z", "1717434300", "import",
          "unknown", "base64", '{"a": 1}', "a", " ", "\n", "\x00", "\ud800")  # fmt: skip
WORDS = ()
SEEDS = (bytes(range(256)), bytes(reversed(range(256))), b"\xff\x01" * 200)
_SPOKEN = [
    {"role": "user", "content": "Hi\nthere", "name": "Ana", "id": "m1", "timestamp": "2023-05-07T14:30:00Z"},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "c", "function": {"name": "f", "arguments": '{"a": 1}'}}],
     "refusal": "no", "audio": {"transcript": "said"}},
    {"role": "tool", "content": [{"type": "text", "text": "3"}], "tool_call_id": "c",
     "metadata": {"a": [1, {"b": None}]}},
    {"role": "user", "session_id": "t", "agent_id": "b", "tier": "tool", "content": [
        "plain", {"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {"url": "https://e.org/a.png"}},
        {"type": "input_audio", "input_audio": {"data": "QUJD", "format": "mp3"}, "transcript": "heard"},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:x"}}]},
    {"role": "assistant", "content": [
        {"type": "thinking", "thinking": "hm"}, {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}},
        {"type": "text", "text": {"value": "v", "annotations": []}}]},
    {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "r"}]},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}, "alt": "a cat"}]},
    {"speaker": "Bo", "content": "no role"},
    {"type": "function_call", "role": "assistant", "function_call": {"name": "g", "arguments": ""}},
]  # fmt: skip
_NOW = datetime(2026, 1, 1, tzinfo=UTC)


def check(data: bytes) -> None:
    """See the module."""
    given = Given(data)
    messages = _messages(given)
    timestamp = None if given.number(0, 3) else given.value((), VALUES, 0)
    metadata = given.value(FIELDS, VALUES, 2) if given.number(0, 7) == 7 else {}
    before = copy.deepcopy(messages)
    try:
        turns = _turns(messages, timestamp, metadata)
    except InvalidInput as error:
        assert str(error).strip()
        assert messages == before
        return
    assert messages == before
    assert _turns(messages, timestamp, metadata) == turns
    assert len({turn.turn_id for turn in turns}) == len(turns)
    listed = messages if isinstance(messages, list) else [messages]
    for message, turn in zip(listed, turns, strict=True):
        _sound(turn)
        _words_are_kept(message, turn)
        _what_is_kept_says_the_same(turn)


def _messages(given: Given) -> Any:
    kind = given.number(0, 15)
    if kind == 15:
        return given.value(FIELDS, VALUES)
    if kind == 14:
        return given.text(VALUES)
    return [given.altered(given.one(_SPOKEN), FIELDS, VALUES) for _ in range(given.number(1, 3))]


def _turns(messages: Any, timestamp: Any, metadata: Any) -> list[Turn]:
    ids = iter(range(1000))
    return normalise(
        messages,
        session_id="s",
        agent_id=None,
        timestamp=timestamp,
        timezone="Asia/Tokyo",
        metadata=metadata,
        now=_NOW,
        make_id=lambda: f"made {next(ids)}",
    )


def _sound(turn: Turn) -> None:
    assert all(0 <= part.start <= part.end <= len(turn.text) for part in turn.parts)
    assert all(a.end <= b.start for a, b in zip(turn.parts, turn.parts[1:], strict=False))
    assert turn.timestamp is None or turn.timestamp.utcoffset() is not None
    assert turn.speaker.strip()
    assert turn.session_id.strip()
    assert turn.turn_id.strip()
    json.dumps([turn.given, dict(turn.metadata)], allow_nan=False)


def _words_are_kept(message: Any, turn: Turn) -> None:
    """What was said as text is in the turn's text, in one piece; whatever else a message had is in ``given``."""
    content = message if isinstance(message, str) else message.get("content")
    if isinstance(content, str):
        assert turn.text.startswith(content)
        return
    for part in content if isinstance(content, list) else []:
        text = part.get("text") if isinstance(part, dict) and part.get("type") == "text" else part
        if isinstance(text, str):
            assert text in turn.text
    assert turn.given is not None
    if content is not None:
        assert turn.given["content"] == content


def _what_is_kept_says_the_same(turn: Turn) -> None:
    """A turn made again of what is kept of its message has the same words and parts."""
    if turn.given is None:
        return
    placed = {"speaker": turn.speaker, "id": turn.turn_id, "session_id": turn.session_id}
    [again] = _turns({**turn.given, **placed}, turn.timestamp, dict(turn.metadata))
    assert (again.text, again.parts, again.role, again.given) == (turn.text, turn.parts, turn.role, turn.given)
