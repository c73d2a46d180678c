"""Files of any bytes, read as any format: messages that a memory takes, what was left out, or an error that says it."""

from __future__ import annotations

import gzip
import io
import json
import tempfile
import zipfile
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fuzz import exports
from fuzz.given import Given
from mnemic.algo.jsonable import as_json
from mnemic.algo.messages import normalise
from mnemic.errors import InvalidFile, InvalidInput
from mnemic.importers import FORMATS, Conversation, Exported, Format, Noted, Record, Skipped, read
from mnemic.importers.storable import storable

KEYS = ("mapping", "current_node", "message", "parent", "children", "id", "author", "role", "content", "content_type",
        "parts", "text", "create_time", "metadata", "chat_messages", "sender", "uuid", "type", "user", "ts",
        "thread_ts",
        "files", "memory", "results", "namespace", "key", "value", "items", "name", "messages", "mnemic", "note",
        "trace",
        "recorded_at", "created_at", "updated_at", "attachments", "profile", "title", "conversation", "session_1",
        "session_1_date_time", "speaker_a", "speaker_b", "speaker", "dia_id", "sample_id", "qa", "question",
        "question_id", "question_date", "answer", "haystack_sessions", "haystack_session_ids", "haystack_dates",
        "answer_session_ids", "question_type", "session_id", "timestamp", "user_id", "agent_id", "subtype", "blocks",
        "elements", "real_name", "turn", "given", "spans")  # fmt: skip
VALUES = ("text", "user", "assistant", "human", "message", "multimodal_text", "1717434300.1", "2024-06-03T10:00:00Z",
          "1:56 pm on 8 May, 2023", "2023/05/20 (Sat) 02:21", "a", "", "U1", "<@U1>", "Ana", "\ud800",
          "\x00")  # fmt: skip
WORDS = (*(f'"{key}":' for key in KEYS), "[3/6/24, 10:15:00] Ana: ", "03/06/2024, 10:15 - Ana: ", "\u200e", "\u202f",
         "Ana: ", "[2024-06-03 10:15] ", "role,content\n", "\r\n", '""', "a.m.", "PM", "\ufeff", "PK\x03\x04",
         "<Media omitted>", "<attached: a.jpg>", "User: ", "Assistant: ", "\t", ";")  # fmt: skip
SEEDS = tuple(text.encode() + bytes(6) for text in exports.TEXTS)
_FORMATS: tuple[Format | None, ...] = (None, *FORMATS)
_NOW = datetime(2026, 1, 1, tzinfo=UTC)


def check(data: bytes) -> None:
    """See the module."""
    given = Given(data)
    order = given.one((None, "dmy", "mdy"))
    other = given.one(_FORMATS)
    own, held = _held(given)
    format = own if given.number(0, 7) < 6 else other
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:  # noqa: S108 - faster
        path = Path(folder) / "chat.json"
        path.write_bytes(held)
        first, failed = _taken(path, format, order)
        again, failed_again = _taken(path, format, order)
        assert [one.name for one in Path(folder).iterdir()] == ["chat.json"]
    assert (again, failed_again) == (first, failed)
    _sound(first)


def _held(given: Given) -> tuple[Format | None, bytes]:
    """A format, and what is in the file: any bytes, an altered export, or one of them packed and perhaps cut."""
    kind = given.number(0, 15)
    if kind < 5:
        return given.one(_FORMATS), given.rest()
    if kind < 9:
        name = given.one([*exports.WHOLE])
        return name, _dumped(given.altered(exports.WHOLE[name], KEYS, VALUES))
    if kind < 12:
        name = given.one([*exports.LINES])
        return name, b"\n".join(_dumped(given.altered(one, KEYS, VALUES)) for one in exports.LINES[name])
    cut = given.number(0, 200) if given.number(0, 3) == 3 else 0
    name, packed = (None, gzip.compress(given.rest())) if kind == 12 else _zipped(given)
    return name, packed[: len(packed) - cut]


def _zipped(given: Given) -> tuple[Format | None, bytes]:
    folder = given.one(("", "a/", "../", "/"))
    name = given.one(("chatgpt", "claude", "slack", "whatsapp", None))
    members = {
        "users.json": _dumped(given.altered(exports.SLACK_USERS, KEYS, VALUES)),
        "channels.json": _dumped(given.altered(exports.SLACK_CHANNELS, KEYS, VALUES)),
        "general/2024-06-03.json": _dumped(given.altered(exports.SLACK_DAY, KEYS, VALUES)),
    }
    if name in ("chatgpt", "claude"):
        members = {f"{folder}conversations.json": _dumped(given.altered(exports.WHOLE[name], KEYS, VALUES))}
    elif name == "whatsapp":
        members = {f"{folder}_chat.txt": given.one(exports.CHATS).encode()}
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", given.one((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED))) as archive:
        for member, data in members.items():
            archive.writestr(zipfile.ZipInfo(member), data)
    return name, made.getvalue()


def _dumped(value: object) -> bytes:
    return json.dumps(value).encode()


def _taken(path: Path, format: Any, order: Any) -> tuple[list[Record], str]:
    records: list[Record] = []
    try:
        for record in read(path, format, date_order=order):
            records.extend(_merged(record))
    except InvalidFile as error:
        assert str(error).startswith(str(path))
        return records, str(error)
    return records, ""


def _merged(record: Record) -> Iterable[Record]:
    """Of an export what is in it: the functions that read it are no two times the same."""
    if not isinstance(record, Exported):
        return [record]
    assert all(isinstance(line, Skipped) or line[0] > 0 for line in record.lines())
    return record.merged()


def _sound(records: Iterable[Record]) -> None:
    seen: set[tuple[str | None, str]] = set()
    for record in records:
        if isinstance(record, Skipped):
            assert record.reason
            assert record.where
        elif isinstance(record, Noted):
            as_json(record.note)
        elif isinstance(record, Conversation):
            assert record.messages
            held, _ = storable(record)
            as_json(held.metadata)
            for message in held.messages:
                _taken_or_refused(message, held)
                seen.add((record.user_id, str(message["id"])))


def _taken_or_refused(message: dict[str, Any], record: Conversation) -> None:
    """A message has an id and is one that ``Memory.add`` takes or refuses by name, and what it takes has its words."""
    assert isinstance(message["id"], str)
    try:
        [turn] = normalise(
            message,
            session_id=record.session_id,
            agent_id=record.agent_id,
            timestamp=None,
            timezone="UTC",
            metadata=record.metadata,
            now=_NOW,
            make_id=lambda: "made",
        )
    except InvalidInput:
        return
    assert turn.turn_id == message["id"]
    content = message.get("content")
    if isinstance(content, str):
        assert turn.text.startswith(content)
