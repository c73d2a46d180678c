"""Formats of files to import: chat messages, JSON lines, the benchmarks, and telling them apart."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from import_kit import HI, YES, ids, imported, lines, words
from mnemic.errors import InvalidFile
from mnemic.importers import Derived, Noted, Skipped, read
from mnemic.importers.ids import StableIds

# messages --------------------------------------------------------------------------------------------------


def test_an_array_of_messages(tmp_path):
    [one], skipped = imported(tmp_path, [HI, YES])
    assert (one.user_id, one.session_id) == (None, "chat")
    assert words([one]) == ["hi", "yes"]
    assert not skipped


def test_a_conversation_brings_its_own_names(tmp_path):
    data = {"messages": [HI, {**YES, "timestamp": 7}], "session_id": "s9", "user_id": "ana", "agent_id": "helper"}
    [one], _ = imported(tmp_path, {**data, "timestamp": "2024-03-01", "title": "trip", "metadata": {"a": 1}})
    assert (one.user_id, one.session_id, one.agent_id) == ("ana", "s9", "helper")
    assert [m["timestamp"] for m in one.messages] == ["2024-03-01", 7]
    assert one.metadata == {"a": 1, "title": "trip"}


def test_an_array_of_conversations(tmp_path):
    three, skipped = imported(tmp_path, [[HI], {"messages": [YES]}, {"messages": []}, {"id": 4, "messages": [HI]}, 7])
    assert [c.session_id for c in three] == ["chat/1", "chat/2", "4"]
    assert len(set(ids(three))) == 3
    assert skipped == [
        Skipped("a conversation without messages", "conversation 3"),
        Skipped("not a message (a JSON object with role and content)", "message 5"),
    ]


def test_messages_pass_through_as_they_are(tmp_path):
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": {"name": "f"}}], "id": "m1"}
    parts = {"role": "user", "content": [{"type": "text", "text": "a"}], "id": "m2", "x": {"y": None}}
    [one], _ = imported(tmp_path, [call, parts])
    assert list(one.messages) == [call, parts]


def test_text_and_speaker_are_understood(tmp_path):
    [one], _ = imported(tmp_path, [{"speaker": "Ana", "text": "hi", "created_at": 1700000000}])
    [message] = one.messages
    assert {k: v for k, v in message.items() if k != "id"} == {
        "speaker": "Ana", "content": "hi", "timestamp": 1700000000, "role": "user",
    }  # fmt: skip


def test_what_is_no_message_is_counted(tmp_path):
    [one], skipped = imported(tmp_path, [HI, "words", {"role": "user"}, {"a": 1}, None, YES])
    assert words([one]) == ["hi", "yes"]
    assert [(s.reason.split(" (")[0], s.where) for s in skipped] == [
        ("not a message", "message 2"),
        ("a message without content", "message 3"),
        ("not a message", "message 4"),
        ("not a message", "message 5"),
    ]


def test_messages_and_conversations_may_stand_in_one_array_of_any_length(tmp_path):
    many = [{**HI, "content": f"turn {number}"} for number in range(450)]
    read, skipped = imported(tmp_path, [*many, {"id": "c", "messages": [YES]}, HI])
    assert [(one.session_id, len(one.messages)) for one in read] == [
        ("chat", 200), ("chat", 200), ("chat", 50), ("c", 1), ("chat", 1),
    ]  # fmt: skip
    assert len(set(ids(read))) == 452
    assert not skipped


def test_what_is_broken_in_an_array_costs_only_itself(tmp_path):
    path = tmp_path / "chat.json"
    path.write_text('[{"role": "user", "content": "hi"}, {"role": broken}, {"role": "user", "content": "yes"}]')
    records = list(read(path, "messages"))
    assert words([one for one in records if not isinstance(one, Skipped)]) == ["hi", "yes"]
    assert [(one.reason, one.where) for one in records if isinstance(one, Skipped)] == [("not JSON", "item 2")]


def test_ids_that_are_only_places_are_made_unique(tmp_path):
    data = [
        {"id": "a", "messages": [{**HI, "id": 1}, {**HI, "id": "x"}]},
        {"id": "b", "messages": [{**YES, "id": 1}, {**HI, "id": "x"}]},
    ]
    assert ids(imported(tmp_path, data)[0]) == ["a/1", "x", "b/1", "b/x"]


@pytest.mark.fault("B055")
def test_one_lone_surrogate_does_not_stop_the_others(tmp_path):
    data = [{**HI, "content": f"turn {i}"} for i in range(99)] + [
        {
            "role": "user",
            "name": "\ud800",
            "content": "ok \ud800 end",
            "session_id": "\udfff",
            "metadata": {"\ud800": "\ud800"},
        }
    ]
    read, skipped = imported(tmp_path, data)
    assert [len(one.messages) for one in read] == [99, 1]
    assert read[1].messages[0]["content"] == "ok \ud800 end"
    assert len(set(ids(read))) == 100
    assert not skipped


def test_an_id_that_comes_again_is_the_same_message_or_another(tmp_path):
    said = [{**HI, "id": "x"}, {**HI, "id": "x"}, {**YES, "id": "x"}, {**YES, "id": "x"}, {**HI, "id": "y"}]
    [one], skipped = imported(tmp_path, said)
    assert words([one]) == ["hi", "yes", "hi"]
    assert len(set(ids([one]))) == 3
    assert [s.where for s in skipped] == ["message 2", "message 4"]
    assert ids(imported(tmp_path, said)[0]) == ids([one])


# stable ids ------------------------------------------------------------------------------------------------


def test_two_people_who_say_ok_twice_are_four_turns(tmp_path):
    data = [{"role": "user", "name": name, "content": "ok"} for name in ("Ana", "Bo", "Ana", "Bo")]
    [one], _ = imported(tmp_path, data)
    assert len(set(ids([one]))) == 4


@pytest.mark.fault("B088")
def test_an_updated_export_names_the_old_messages_as_before(tmp_path):
    ten = [[{**HI, "content": f"{i}-{j % 3}"} for j in range(6)] for i in range(10)]
    first = ids(imported(tmp_path, ten)[0])
    second = ids(imported(tmp_path, [*ten, [YES]])[0])
    assert len(set(first)) == 60
    assert second[:60] == first
    assert set(second) - set(first) == {second[60]}


@pytest.mark.fault("B146")
@pytest.mark.parametrize("shape", ["messages", "jsonl"])
def test_a_cut_export_names_nothing_new(tmp_path, shape):
    log = [{"role": "user", "content": "ok" if i % 2 else f"turn {i}", "session_id": f"s{i // 10}"} for i in range(60)]
    write = (lambda data: lines(*data)) if shape == "jsonl" else (lambda data: data)
    whole = ids(imported(tmp_path, write(log))[0])
    for cut in (log[30:], log[:30], log[7:]):
        assert set(ids(imported(tmp_path, write(cut))[0])) <= set(whole)
    assert len(set(whole)) == 60


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["ok", "no", "\ud800"]))), st.integers(0, 30))
def test_ids_are_unique_and_a_prefix_keeps_them(said, cut):
    def named(part: list[tuple[str, str]]) -> list[str]:
        made = StableIds()
        return [made.of("s", {"role": "user", "name": name, "content": text}) for name, text in part]

    whole = named(said)
    assert len(set(whole)) == len(said)
    assert named(said[:cut]) == whole[:cut]
    assert set(named(said[cut:])) <= set(whole)


def test_ids_depend_on_everything_that_tells_messages_apart():
    base: dict[str, Any] = {"role": "user", "name": "Ana", "content": "ok", "timestamp": "2024-03-01"}
    changed = [base | change for change in ({"role": "tool"}, {"name": "Bo"}, {"content": "no"}, {"timestamp": 1})]
    made = {StableIds().of("s", message) for message in [base, *changed]} | {StableIds().of("t", base)}
    assert len(made) == 6
    assert StableIds().of("s", base | {"metadata": {"seen": True}}) == StableIds().of("s", base)


# jsonl -----------------------------------------------------------------------------------------------------


@pytest.mark.fault("B116")
def test_a_broken_line_is_isolated(tmp_path):
    data = (
        lines(HI) + b'{"role": "user", "con\n' + lines(YES, [1], {"a": 1}, 3) + b'{"role": "user", "content": "cut of'
    )
    [one], skipped = imported(tmp_path, data)
    assert words([one]) == ["hi", "yes"]
    assert [s.where for s in skipped if s.reason == "not JSON"] == ["line 2", "line 7"]
    assert Counter(s.where for s in skipped).keys() == {
        "line 2",
        "line 4, message 1",
        "line 4",
        "line 5",
        "line 6",
        "line 7",
    }


@pytest.mark.fault("B116")
def test_wherever_a_file_is_cut_its_whole_lines_are_read(tmp_path):
    data = lines(*({"role": "user", "content": f"né {i}"} for i in range(3)))
    for cut in range(1, len(data)):
        conversations, skipped = imported(tmp_path, data[:cut], "jsonl")
        whole = data[:cut].count(b"}")
        assert words(conversations) == [f"né {i}" for i in range(whole)]
        assert len(skipped) == (0 if data[:cut].endswith((b"}", b"\n")) else 1)


def test_single_messages_are_gathered_in_order(tmp_path):
    data = lines(*({"role": "user", "content": str(i), "session_id": f"s{i // 70}"} for i in range(500)))
    several, _ = imported(tmp_path, data)
    assert words(several) == [str(i) for i in range(500)]
    assert [len(c.messages) for c in several] == [70] * 7 + [10]
    [one], _ = imported(tmp_path, lines(*({"role": "user", "content": str(i)} for i in range(200))))
    assert one.session_id == "chat"


def test_interleaved_sessions_stay_in_order_and_batches_bounded(tmp_path):
    data = lines(*({"role": "user", "content": str(i), "session_id": f"s{i % 2}"} for i in range(200)))
    several, _ = imported(tmp_path, data)
    assert words(several) == [str(i) for i in range(200)]
    assert [len(c.messages) for c in several] == [50] * 4


@pytest.mark.fault("B095")
def test_users_are_kept_apart(tmp_path):
    data = lines({**HI, "user_id": "ana"}, {**YES, "user_id": "ana", "agent_id": "x"}, {**HI, "user_id": "bo"})
    two, _ = imported(tmp_path, data)
    assert [(c.user_id, words([c])) for c in two] == [("ana", ["hi", "yes"]), ("bo", ["hi"])]
    assert two[0].messages[1]["agent_id"] == "x"
    assert not any("user_id" in m for c in two for m in c.messages)


def test_notes_of_our_own_export_follow_from_the_messages(tmp_path):
    (tmp_path / "export.jsonl").write_bytes(lines(HI, {"note": {"id": "N1"}}))
    note, one = read(tmp_path / "export.jsonl")
    assert note == Derived()
    assert words([one]) == ["hi"]


def test_notes_of_our_own_export_that_somebody_else_wrote_are_read(tmp_path):
    given = {"given_id": "g", "status": "current", "text": "Ana sings", "sources": [["m", 0, 3]], "kind": "trait"}
    old = {**given, "status": "superseded"}
    (tmp_path / "export.jsonl").write_bytes(lines({"note": given}, {"note": old}, {"note": 7}))
    expected = {"id": "g", "text": "Ana sings", "sources": [["m", 0, 3]], "kind": "trait"}
    absent = dict.fromkeys(("about", "valid", "metadata"))
    assert [*read(tmp_path / "export.jsonl", "jsonl")] == [
        Noted({**expected, **absent}, "line 1"),
        Derived(),
        Derived(),
    ]


def test_a_conversation_a_line(tmp_path):
    data = lines({"session_id": "s1", "messages": [HI, 3]}, [YES], HI)
    three, skipped = imported(tmp_path, data, name="log.jsonl")
    assert [(c.session_id, words([c])) for c in three] == [("s1", ["hi"]), ("log/2", ["yes"]), ("log", ["hi"])]
    assert [s.where for s in skipped] == ["line 1, message 2"]


def test_gzip_is_read_too(tmp_path):
    [one], _ = imported(tmp_path, gzip.compress(lines(HI, YES)), name="chat.jsonl.gz")
    assert (one.session_id, words([one])) == ("chat", ["hi", "yes"])


# telling formats apart -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "format"),
    [
        (json.dumps([HI]), "messages"),
        (json.dumps([HI], indent=2), "messages"),
        (json.dumps({"messages": [HI]}, indent=2), "messages"),
        (json.dumps([[HI], [YES]]), "messages"),
        (json.dumps({"messages": [HI]}), "jsonl"),
        ("\n" + json.dumps(HI) + "\n", "jsonl"),
        ('{"broken\n' + json.dumps(HI), "jsonl"),
        ("\ufeff" + json.dumps(HI), "jsonl"),
        ("[2024-03-01 10:22] Ana: hi", "text"),
        ("# Session 1\nAna: hi", "text"),
        (json.dumps([{"sample_id": "c", "conversation": {}, "qa": []}]), "locomo"),
        (json.dumps({"ab" * 32: [HI]}), "personamem"),
        (json.dumps({"question_id": "q", "haystack_sessions": []}), "longmemeval"),
        (json.dumps([{"question_id": "q", "haystack_sessions": []}], indent=1), "longmemeval"),
    ],
)
def test_auto(tmp_path, data, format):
    (tmp_path / "file").write_text(data, encoding="utf-8")
    assert read(tmp_path / "file").format == format


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"SQLite format 3\0...", "not UTF-8 text"),
        (b"\xff\xfea\0", "not UTF-8 text"),
        (b"ID3\x04\0\0\0", "not UTF-8 text"),
        (b"only words", "--format"),
        (b"# Read me\n\nProse.\nMore prose.\n\nUsage: none.\n", "is no conversation"),
        (b'{"a": 1}', "--format"),
        (b"[1, 2]", "--format"),
        (b'[{"role": "user", "content": "cut', r"is not JSON \(line 1, column"),
    ],
)
def test_auto_refuses_what_it_does_not_know(tmp_path, data, message):
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(InvalidFile, match=message):
        read(tmp_path / "file")


@pytest.mark.parametrize("format", ["messages", "locomo", "text"])
def test_a_wrong_format_is_refused(tmp_path, format):
    with pytest.raises(InvalidFile, match="file"):
        imported(tmp_path, {"a": [1]}, format, "file")
