"""Shared by the tests of the importers: writing a file and reading it back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mnemic.importers import Conversation, Skipped, read

HI = {"role": "user", "content": "hi"}
YES = {"role": "assistant", "content": "yes"}


def imported(
    tmp_path: Path, data: Any, format: Any = None, name: str = "chat.json"
) -> tuple[list[Conversation], list[Skipped]]:
    """Write a file (JSON value, lines, or text) and read it."""
    (tmp_path / name).write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
    records = list(read(tmp_path / name, format))
    return (
        [record for record in records if isinstance(record, Conversation)],
        [record for record in records if isinstance(record, Skipped)],
    )


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def words(conversations: list[Conversation]) -> list[Any]:
    return [message["content"] for conversation in conversations for message in conversation.messages]


def ids(conversations: list[Conversation]) -> list[Any]:
    return [message["id"] for conversation in conversations for message in conversation.messages]
