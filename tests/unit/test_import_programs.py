"""The formats of other programs: Claude, Slack, CSV, mem0, LangGraph."""

from __future__ import annotations

import json
import zipfile

import pytest

from import_kit import ids, imported, lines, words
from mnemic.errors import InvalidFile
from mnemic.importers import Conversation, Skipped, open_source, read
from mnemic.importers.slack import OWN

# claude --------------------------------------------------------------------------------------------------------------


def said(identity, sender, text="", **more):
    message = {"uuid": identity, "sender": sender, "text": text, "created_at": "2024-06-03T18:05:00.000000Z"}
    return message | {"content": [{"type": "text", "text": text}] if text else []} | more


def test_claude(tmp_path):
    blocks = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "I look it up."},
        {"type": "tool_use", "name": "search", "input": {"q": "bees"}},
        {"type": "tool_result", "content": [{"type": "text", "text": "two hives"}]},
    ]
    messages = [
        said("m1", "human", "Who keeps bees?", attachments=[{"file_name": "a.txt", "extracted_content": "Duarte."}]),
        said("m2", "assistant", content=blocks, parent_message_uuid="m1"),
        said("m3", "human", "Thanks.", content=[], files=[{"file_name": "hive.png"}]),
        said("m4", "human"),
        said("m5", "robot", "?"),
        None,
    ]
    conversations, skipped = imported(
        tmp_path, [{"uuid": "c", "name": "Bees", "chat_messages": messages}, {"uuid": "d"}]
    )
    assert read(tmp_path / "chat.json").format == "claude"
    [one] = conversations
    assert (one.session_id, one.metadata) == ("c", {"title": "Bees", "source": "claude"})
    assert words([one]) == [
        [{"type": "text", "text": "Who keeps bees?"}, {"type": "text", "text": "a.txt:\nDuarte."}],
        [*blocks[1:3], {"type": "tool_result", "content": [{"type": "text", "text": "two hives"}]}],
        [
            {"type": "text", "text": "Thanks."},
            {"type": "file", "file": {"filename": "hive.png", "file_id": "hive.png"}},
        ],
    ]
    assert one.messages[1]["metadata"] == {"parent": "m1"}
    assert [found.where for found in skipped] == [
        "conversation 1, message 4",
        "conversation 1, message 5",
        "conversation 1, message 6",
        "conversation 2",
    ]


# slack ---------------------------------------------------------------------------------------------------------------

USERS = [
    {"id": "U1", "name": "ana", "real_name": "Ana Lima", "profile": {"display_name": "Ana"}},
    {"id": "U2", "name": "bo", "real_name": "Bo Berg", "profile": {"display_name": ""}},
    {"id": "U3", "name": "ci", "is_bot": True, "profile": {"real_name": "CI"}},
]
DAY = [
    {"type": "message", "subtype": "channel_join", "user": "U1", "text": "<@U1> joined", "ts": "1717434300.000100"},
    {
        "type": "message",
        "user": "U1",
        "text": "<@U2> see <https://example.org/a|the plan> &amp; <#C1|general>, <!here>",
        "ts": "1717434301.000100",
        "thread_ts": "1717434301.000100",
    },
    {"type": "message", "user": "U2", "text": "Will do.", "ts": "1717434400.000100", "thread_ts": "1717434301.000100"},
    {
        "type": "message",
        "user": "U2",
        "text": "Lunch?",
        "ts": "1717434500.000100",
        "edited": {"user": "U2", "ts": "9.1"},
    },
    {
        "type": "message",
        "subtype": "bot_message",
        "bot_id": "B1",
        "username": "deploys",
        "text": "",
        "ts": "1717434600.1",
        "attachments": [{"fallback": "Deployed 7."}],
    },
    {
        "type": "message",
        "user": "U1",
        "text": "",
        "ts": "1717434700.1",
        "files": [{"id": "F1", "name": "hive.png", "mimetype": "image/png", "url_private": "https://f/hive.png"}],
    },
    {"type": "message", "user": "U9", "text": None, "ts": "1717434800.1"},
    None,
]


def files():
    return {
        "users.json": USERS,
        "channels.json": [{"id": "C1", "name": "general"}],
        "dms.json": [{"id": "D1", "members": ["U1", "U2"]}],
        "general/2024-06-03.json": DAY,
        "D1/2024-06-04.json": [{"type": "message", "user": "U2", "text": "Psst.", "ts": "1717500000.1"}],
    }


@pytest.fixture(params=["zip", "folder"])
def export(request, tmp_path):
    if request.param == "zip":
        with zipfile.ZipFile(tmp_path / "work.zip", "w") as archive:
            for name, value in files().items():
                archive.writestr(name, json.dumps(value))
        return tmp_path / "work.zip"
    for name, value in files().items():
        (tmp_path / "work" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "work" / name).write_text(json.dumps(value))
    return tmp_path / "work"


def test_slack(export):
    source = open_source(export)
    assert (source.format, source.names_users) == ("slack", False)
    records = list(source)
    conversations = [record for record in records if isinstance(record, Conversation)]
    assert {one.session_id: words([one]) for one in conversations} == {
        "D1": ["Psst."],
        "general/1717434301.000100": ["@Bo Berg see the plan (https://example.org/a) & #general, @here", "Will do."],
        "general": [
            "Lunch?",
            "Deployed 7.",
            [{"type": "image_url", "image_url": {"url": "https://f/hive.png"}, "caption": "hive.png"}],
        ],
    }
    by_id = {message["id"]: message for one in conversations for message in one.messages}
    assert by_id["general/1717434301.000100"]["name"] == "Ana"
    assert by_id["general/1717434301.000100"]["timestamp"] == "1717434301.000100"
    assert by_id["general/1717434500.000100"]["metadata"] == {"edited": "9.1"}
    assert (by_id["general/1717434600.1"]["role"], by_id["general/1717434600.1"]["name"]) == ("assistant", "deploys")
    [thread] = [one for one in conversations if "/" in one.session_id]
    assert thread.metadata["thread_of"] == "general/1717434301.000100"
    skipped = [record for record in records if isinstance(record, Skipped)]
    assert [(one.reason, one.where) for one in skipped] == [
        (OWN, "general/2024-06-03.json, message 1"),
        ("a message without words", "general/2024-06-03.json, message 7"),
        ("not a message of Slack", "general/2024-06-03.json, message 8"),
    ]


def test_a_single_file_is_no_slack_export(tmp_path):
    (tmp_path / "day.json").write_text("[]")
    with pytest.raises(InvalidFile, match="is no export of Slack; give its zip file"):
        list(read(tmp_path / "day.json", "slack"))


# csv -----------------------------------------------------------------------------------------------------------------


def test_csv_by_the_names_of_its_columns(tmp_path):
    data = (
        'timestamp,speaker,text,mood\r\n2024-03-01T10:22Z,Ana,"Did you find, ""it""?\r\n\r\nThe key.",curious\r\n'
        "soon,Bo,Yes.,\r\n,,,\r\n2024-03-01,Assistant,,\r\n"
    )
    conversations, skipped = imported(tmp_path, data.encode(), name="talk.csv")
    assert read(tmp_path / "talk.csv").format == "csv"
    [one] = conversations
    assert words([one]) == ['Did you find, "it"?\r\n\r\nThe key.', "Yes."]
    assert one.messages[0]["metadata"] == {"mood": "curious"}
    assert (one.session_id, one.messages[0]["name"], one.messages[0]["timestamp"]) == (
        "talk",
        "Ana",
        "2024-03-01T10:22Z",
    )
    assert [found.where for found in skipped] == ["row 3", "row 5"]


def test_csv_by_named_columns(tmp_path):
    (tmp_path / "t.csv").write_text("Wann;Wer;Was;Nr\n2024-03-01;Ana;Hallo.;7\n2024-03-02;Bo;Ja.;8\n")
    source = read(tmp_path / "t.csv", columns={"content": "Was", "name": "Wer", "timestamp": "Wann", "id": "Nr"})
    [one] = source
    assert (source.format, words([one]), ids([one])) == ("csv", ["Hallo.", "Ja."], ["7", "8"])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"content": "Nope"}, "has no column 'Nope'"),
        ({"mood": "a"}, "has no use for a column as 'mood'"),
        ({"name": "a"}, "has no column with the words .*--column content=NAME"),
    ],
)
def test_csv_without_what_is_needed(tmp_path, columns, message):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InvalidFile, match=message):
        list(read(tmp_path / "t.csv", columns=columns))


def test_csv_that_is_not_utf8(tmp_path):
    conversations, skipped = imported(tmp_path, b"name,text\nAna,caf\xe9\nBo,Yes.\n", name="t.csv")
    assert words(conversations) == ["Yes."]
    assert [(one.reason, one.where) for one in skipped] == [("not UTF-8", "row 2")]


# mem0 and LangGraph --------------------------------------------------------------------------------------------------


def test_mem0(tmp_path):
    memory = {"id": "1", "memory": "Ana keeps bees.", "created_at": "2024-06-03T18:05:00-07:00", "user_id": "ana"}
    found = [memory, {**memory, "id": "2", "metadata": {"a": 1}, "categories": ["pets"]}, {"id": "3", "memory": None}]
    for data in ({"results": found}, found):
        conversations, skipped = imported(tmp_path, data)
        assert read(tmp_path / "chat.json").format == "mem0"
        [one] = conversations
        assert (one.user_id, words([one]), ids([one])) == ("ana", ["Ana keeps bees."] * 2, ["1", "2"])
        assert one.messages[1]["metadata"] == {"a": 1, "source": "mem0", "categories": ["pets"]}
        assert [(s.reason, s.where) for s in skipped] == [("a memory without words", "item 3")]


def test_langgraph(tmp_path):
    item = {"namespace": ["ana", "facts"], "key": "k1", "value": {"content": {"content": "Ana keeps bees."}}}
    item |= {"created_at": "2024-06-03T18:05:00+00:00", "updated_at": "2024-06-04T18:05:00+00:00"}
    found = [item, {**item, "key": "k2", "value": {"data": "Two hives."}}, {**item, "value": None}, {"key": 1}]
    for data in (found, lines(*found), {"items": found}):
        conversations, skipped = imported(tmp_path, data, None, "store.json")
        assert read(tmp_path / "store.json").format == "langgraph"
        [one] = conversations
        assert (one.session_id, words([one])) == ("ana/facts", ["Ana keeps bees.", "Two hives."])
        assert ids([one]) == ["ana/facts/k1", "ana/facts/k2"]
        assert one.messages[0]["metadata"]["value"] == item["value"]
        assert [s.reason for s in skipped] == [
            "an item without words",
            "not an item of a store (namespace, key and value)",
        ]
