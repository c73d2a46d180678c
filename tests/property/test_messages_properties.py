"""Whatever JSON a caller sends as messages, it becomes turns or one clear error."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.algo.messages import normalise
from mnemic.errors import InvalidInput
from mnemic.types import Turn

TEXT = st.text(st.characters(), max_size=20)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
TYPES = st.sampled_from(
    [
        "text",
        "input_text",
        "image_url",
        "input_image",
        "image",
        "input_audio",
        "file",
        "tool_use",
        "tool_result",
        "x",
        None,
    ]
)
FIELDS = st.sampled_from(
    [
        "text",
        "image_url",
        "url",
        "source",
        "data",
        "caption",
        "alt",
        "transcript",
        "file",
        "filename",
        "name",
        "input",
        "content",
    ]
)
PARTS = st.builds(lambda kind, fields: {"type": kind, **fields}, TYPES, st.dictionaries(FIELDS, JSON, max_size=4))
CONTENT = st.one_of(TEXT, st.lists(PARTS | TEXT, max_size=4), JSON)
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "role": st.sampled_from(["user", "assistant", "tool", "developer", "AI"]) | JSON,
        "content": CONTENT,
        "name": TEXT | JSON,
        "speaker": TEXT,
        "id": st.integers() | TEXT | JSON,
        "timestamp": st.floats() | st.integers() | TEXT | st.datetimes() | JSON,
        "tool_calls": st.lists(st.fixed_dictionaries({"name": TEXT}, optional={"arguments": JSON})) | JSON,
        "tool_call_id": TEXT,
        "metadata": st.dictionaries(TEXT, JSON, max_size=3) | JSON,
        "session_id": TEXT,
        "audio": JSON,
        "anything": JSON,
    },
)
CALLS = st.one_of(JSON, MESSAGES, st.lists(MESSAGES | TEXT, max_size=4))
TIMES = st.none() | st.floats() | st.datetimes() | TEXT
WORDS = st.text("ab \ud800\x00é", min_size=1).filter(str.strip)
ROLES = st.sampled_from(["user", "assistant"])
GOOD = st.lists(st.fixed_dictionaries({"role": ROLES, "content": WORDS}), max_size=6)


def turns(messages: Any, timestamp: Any = None) -> list[Turn]:
    ids = iter(range(1000))
    return normalise(
        messages,
        session_id="s",
        agent_id=None,
        timestamp=timestamp,
        timezone="Asia/Tokyo",
        metadata={},
        now=datetime(2026, 1, 1, tzinfo=UTC),
        make_id=lambda: f"m{next(ids)}",
    )


@settings(max_examples=200)
@given(messages=CALLS, timestamp=TIMES)
def test_turns_or_invalid_input(messages: Any, timestamp: Any) -> None:
    try:
        made = turns(messages, timestamp)
    except InvalidInput:
        return
    for turn in made:
        assert all(0 <= part.start <= part.end <= len(turn.text) for part in turn.parts)
        assert all(a.end <= b.start for a, b in zip(turn.parts, turn.parts[1:], strict=False))
        assert turn.timestamp is None or turn.timestamp.utcoffset() is not None
        json.dumps([turn.given, dict(turn.metadata)], allow_nan=False)
        assert turn.speaker
        assert turn.session_id.strip()
    assert len({turn.turn_id for turn in made}) == len(made)


@settings(max_examples=100)
@given(messages=GOOD)
def test_plain_messages_come_back_word_for_word(messages: list[dict[str, str]]) -> None:
    assert [(t.role, t.text) for t in turns(messages)] == [(m["role"], m["content"]) for m in messages]


@settings(max_examples=100)
@given(words=st.lists(st.text(max_size=8), min_size=1, max_size=6))
def test_texts_are_joined_by_newlines_and_parts_lie_in_them(words: list[str]) -> None:
    content = [{"type": "text", "text": word} for word in words]
    try:
        (turn,) = turns({"role": "user", "content": content})
    except InvalidInput:
        assert not "".join(words).strip()
        return
    assert turn.text == "\n".join(word for word in words if word)
    assert [turn.text[p.start : p.end] for p in turn.parts] == words
