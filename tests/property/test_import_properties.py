"""Any bytes under any format: what they hold, or an error that names the file; never anything else."""

from __future__ import annotations

import json
import tempfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.errors import InvalidFile
from mnemic.importers import FORMATS, Conversation, Exported, Skipped, read

KEYS = (
    "mapping", "current_node", "message", "parent", "id", "author", "role", "content", "content_type", "parts", "text",
    "create_time", "metadata", "chat_messages", "sender", "uuid", "type", "user", "ts", "thread_ts", "files", "memory",
    "results", "namespace", "key", "value", "items", "name", "messages", "mnemic", "note", "trace", "recorded_at",
    "created_at", "attachments", "profile", "title",
)  # fmt: skip
VALUES = ("text", "user", "assistant", "human", "message", "multimodal_text", "1717434300.1", "a", "")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(VALUES) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=25,
)
DATA = (
    st.binary(max_size=300)
    | JSON.map(lambda value: json.dumps(value).encode())
    | st.lists(JSON, max_size=4).map(lambda values: json.dumps(values).encode())
    | st.lists(JSON, max_size=4).map(lambda values: b"\n".join(json.dumps(value).encode() for value in values))
    | st.text(alphabet='123/.-:, AnaPM[]\u200e\n"', max_size=200).map(str.encode)
)


def taken(path, format):
    records, wrong = [], ""
    try:
        records += read(path, format)
    except InvalidFile as error:
        wrong = str(error)
    assert not wrong or wrong.startswith(str(path))
    for record in records:
        if isinstance(record, Exported):
            records.extend(record.merged())
            list(record.lines())
        elif isinstance(record, Conversation):
            assert record.messages
            assert all(isinstance(message.get("id"), str) for message in record.messages)
        elif isinstance(record, Skipped):
            assert record.reason
            assert record.where


@pytest.mark.parametrize("format", [None, *FORMATS])
def test_any_bytes(format):
    @settings(max_examples=60)
    @given(DATA)
    def check(data):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.json"
            path.write_bytes(data)
            taken(path, format)

    check()


@pytest.mark.parametrize("format", [None, "chatgpt", "claude", "slack", "whatsapp"])
def test_any_bytes_in_a_zip_file(format):
    names = st.sampled_from(
        ["conversations.json", "users.json", "general/2024-06-03.json", "a.txt", "../x", "channels.json"]
    )

    @settings(max_examples=40)
    @given(st.dictionaries(names, DATA, max_size=4), st.integers(0, 400))
    def check(members, cut):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.zip"
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                for name, data in members.items():
                    archive.writestr(name, data)
            if cut < 200:
                path.write_bytes(path.read_bytes()[:-cut] or b"P")
            taken(path, format)
            assert [one.name for one in Path(folder).iterdir()] == ["x.zip"]

    check()
