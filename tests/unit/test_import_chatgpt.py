"""The ``chatgpt`` format: trees of messages, and what they hold."""

from __future__ import annotations

import json
import zipfile

import pytest

import chatgpt_kit
from import_kit import imported, words
from mnemic.errors import InvalidFile
from mnemic.importers import read, survey
from mnemic.importers.chatgpt import HIDDEN, INSTRUCTIONS, NO_WORDS, REASONING, UNKNOWN
from mnemic.importers.loose import BAD_TIME


def node(identity, parent, content="", role="user", **message):
    said = {
        "id": identity,
        "author": {"role": role, "name": message.pop("name", None)},
        "create_time": message.pop("at", 1717434300.5),
        "content": {"content_type": "text", "parts": [content]} if isinstance(content, str) else content,
        "recipient": message.pop("recipient", "all"),
        "metadata": message.pop("metadata", {}),
    }
    return {"id": identity, "parent": parent, "children": [], "message": said | message}


def tree(*nodes, current=None, **head):
    mapping = {"root": {"id": "root", "parent": None, "children": [], "message": None}}
    mapping |= {one["id"]: one for one in nodes}
    return {"title": "Bees", "mapping": mapping, "current_node": current or nodes[-1]["id"], "id": "c1", **head}


def test_a_conversation(tmp_path):
    data = [tree(node("a", "root", "Who keeps bees?"), node("b", "a", "Duarte.", "assistant"))]
    [one], skipped = imported(tmp_path, data, name="conversations.json")
    assert read(tmp_path / "conversations.json").format == "chatgpt"
    assert (one.session_id, one.user_id, one.metadata) == ("c1", None, {"title": "Bees", "source": "chatgpt"})
    assert one.messages == (
        {"id": "a", "role": "user", "content": "Who keeps bees?", "timestamp": 1717434300.5},
        {"id": "b", "role": "assistant", "content": "Duarte.", "timestamp": 1717434300.5},
    )
    assert skipped == []


def test_the_shown_branch_is_the_session_and_the_others_stay_reachable(tmp_path):
    data = tree(
        node("a", "root", "Who?"),
        node("b", "a", "Left.", "assistant"),
        node("b2", "b", "Why left?"),
        node("c", "a", "Shown.", "assistant"),
        node("d", "c", "Thanks."),
        node("e", "c", "An edited question."),
        current="d",
    )
    conversations, _ = imported(tmp_path, [data])
    assert [(one.session_id, words([one])) for one in conversations] == [
        ("c1", ["Who?", "Shown.", "Thanks."]),
        ("c1/b", ["Left.", "Why left?"]),
        ("c1/e", ["An edited question."]),
    ]
    assert conversations[1].metadata == {
        "title": "Bees",
        "source": "chatgpt",
        "branch_of": "c1",
        "branches_after": "a",
    }
    assert conversations[2].metadata["branches_after"] == "c"


def test_trees_that_are_none(tmp_path):
    circle = tree(node("a", "b", "A."), node("b", "a", "B."), id="circle")
    orphan = tree(node("a", "gone", "A."), node("b", "a", "B.", "assistant"), current="nowhere", id="orphan")
    conversations, _ = imported(tmp_path, [circle, orphan])
    assert sorted(word for one in conversations for word in words([one])) == ["A.", "A.", "B.", "B."]
    assert words([one for one in conversations if one.session_id == "orphan"]) == ["A.", "B."]


def test_kinds_of_content(tmp_path):
    parts = [
        "Look:",
        {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-1", "metadata": None},
        {"content_type": "audio_transcription", "text": "and listen"},
    ]
    code = {"content_type": "code", "language": "python", "text": "print(1)"}
    data = tree(
        node("a", "root", {"content_type": "multimodal_text", "parts": parts}),
        node("b", "a", code, "assistant", recipient="python"),
        node("c", "b", {"content_type": "execution_output", "text": "1"}, "tool", name="python"),
        node("d", "c", {"content_type": "thoughts", "thoughts": [{"content": "hm"}]}, "assistant"),
        node("e", "d", {"content_type": "user_editable_context", "user_profile": "I keep bees."}),
        node("f", "e", "", "system"),
        node("g", "f", "Hidden.", "system", metadata={"is_visually_hidden_from_conversation": True}),
        node("h", "g", "", "assistant"),
        node("i", "h", {"content_type": "hologram"}, "assistant"),
        node("j", "i", "One.", "assistant", metadata={"model_slug": "gpt-4o"}, at=None),
        node("k", "j", "Two.", "assistant", at="tomorrow"),
    )
    [one], skipped = imported(tmp_path, [data])
    assert words([one]) == [
        [
            {"type": "text", "text": "Look:"},
            {"type": "image_url", "image_url": {"url": "file-service://file-1"}},
            {"type": "text", "text": "and listen"},
        ],
        "print(1)",
        "1",
        "One.",
        "Two.",
    ]
    assert one.messages[1]["metadata"] == {"content_type": "code", "recipient": "python", "language": "python"}
    assert (one.messages[2]["role"], one.messages[2]["name"]) == ("tool", "python")
    assert one.messages[3]["metadata"] == {"model": "gpt-4o"}
    assert "timestamp" not in one.messages[3]
    reasons = [(found.reason, found.where.rpartition(" ")[2]) for found in skipped]
    assert reasons == [
        (REASONING, "d"),
        (INSTRUCTIONS, "e"),
        (HIDDEN, "f"),
        (HIDDEN, "g"),
        (NO_WORDS, "h"),
        (UNKNOWN, "i"),
        (BAD_TIME, "k"),
    ]


def test_null_and_wrong_types_are_skipped_and_told(tmp_path):
    broken = [None, 7, {}, {"mapping": None}, {"mapping": {}}, {"mapping": {"a": None}}]
    broken += [
        {"mapping": {"a": {"message": value, "parent": 3}}} for value in (1, [], {"author": None}, {"content": 1})
    ]
    good = tree(node("a", "root", "Still here."))
    conversations, skipped = imported(tmp_path, [good, *broken], "chatgpt")
    assert words(conversations) == ["Still here."]
    assert len(skipped) >= len(broken)
    assert all(one.where.startswith("conversation ") for one in skipped)


def test_in_its_zip_file(tmp_path):
    data = json.dumps([tree(node("a", "root", "Who keeps bees?"))])
    with zipfile.ZipFile(tmp_path / "export.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("chat.html", "<html>")
        archive.writestr("conversations.json", data)
    source = read(tmp_path / "export.zip")
    assert source.format == "chatgpt"
    assert survey(source).messages == 1


def test_a_zip_bomb_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", "[" + " " * (100 << 20) + "]")
    with pytest.raises(InvalidFile, match=r"bomb\.zip: expands to more than 200 times its size"):
        survey(read(tmp_path / "bomb.zip", "chatgpt"))


def test_a_damaged_zip_file_is_named(tmp_path):
    (tmp_path / "cut.zip").write_bytes(b"PK\x03\x04 and then nothing")
    with pytest.raises(InvalidFile, match=r"cut\.zip: is a cut or damaged zip file"):
        read(tmp_path / "cut.zip")


def test_an_export_that_was_cut_keeps_what_is_whole(tmp_path):
    whole = json.dumps([tree(node("a", "root", "Kept."), id="c1"), tree(node("b", "root", "Lost."), id="c2")])
    conversations, skipped = imported(tmp_path, whole[:-30].encode(), "chatgpt")
    assert words(conversations) == ["Kept."]
    assert [(one.reason, one.where) for one in skipped] == [("the file ends in the midst of it", "item 2")]


def test_the_generated_export_is_always_the_same(tmp_path):
    for name in ("a", "b"):
        chatgpt_kit.write(tmp_path / name, 60_000)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    report = survey(read(tmp_path / "a"))
    assert report.messages > 50
    assert report.sessions > len(json.loads((tmp_path / "a").read_bytes()))
