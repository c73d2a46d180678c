"""Memory: what its methods promise, one after the other. Searching, erasing and repeating have files of their own."""

from __future__ import annotations

import logging
import time
from dataclasses import fields
from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from mnemic.errors import (
    EmbedderUnavailable,
    ImmutableWords,
    InvalidInput,
    NotFound,
    StoreClosed,
    StoreError,
)
from mnemic.memory import Memory
from mnemic.models.doubles import HashEmbedder
from mnemic.models.mnemic_minilm import MnemicMiniLM
from mnemic.types import Interval, Note, Span, Trace, Turn

NOON = datetime(2023, 5, 8, 12, 0, tzinfo=UTC)


def texts(turns):
    return [turn.text for turn in turns]


def ids(turns):
    return [turn.turn_id for turn in turns]


def only(memory, **given):
    (turn,) = memory.get_all(user_id="u", **given)
    return turn


# add ---------------------------------------------------------------------------------------------------


def test_add_takes_a_text_a_message_or_a_list_and_keeps_every_word(memory):
    words = "  two blanks before,\ttabs, and a line end\r\n"
    first = memory.add(words, user_id="u")
    second = memory.add({"role": "assistant", "content": "Noted."}, user_id="u")
    third = memory.add([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}], user_id="u")
    assert (first.new, second.new, third.new) == (1, 1, 2)
    assert (first.warnings, second.warnings, third.warnings) == ((), (), ())
    turns = memory.get_all(user_id="u")
    assert texts(turns) == [words, "Noted.", "a", "b"]
    assert ids(turns) == [*first.turn_ids, *second.turn_ids, *third.turn_ids]
    assert len(set(ids(turns))) == 4
    assert [turn.role for turn in turns] == ["user", "assistant", "user", "user"]
    assert {turn.session_id for turn in turns} == {"default"}
    assert [turn.seq for turn in turns] == [0, 1, 2, 3]


def test_nothing_to_add_adds_nothing(memory):
    assert memory.add([], user_id="u").turn_ids == ()
    assert memory.users() == []


def test_what_a_message_says_is_stronger_than_what_the_call_says(memory):
    message = {
        "role": "user",
        "content": "hello",
        "id": 7,
        "name": "Ana",
        "session_id": "own",
        "agent_id": "own agent",
        "timestamp": "2023-05-07T14:30:00+02:00",
        "metadata": {"a": 1},
    }
    call = {
        "session_id": "s",
        "agent_id": "agent",
        "timestamp": NOON,
        "metadata": {"a": 0, "b": [2, {"c": None}]},
    }
    memory.add([message, {"role": "assistant", "content": "hi", "id": "h"}], user_id="u", **call)
    own, plain = memory.get_all(user_id="u")
    assert (own.turn_id, own.speaker, own.session_id, own.agent_id) == ("7", "Ana", "own", "own agent")
    assert own.timestamp == datetime(2023, 5, 7, 12, 30, tzinfo=UTC)
    assert own.timestamp.utcoffset() == timedelta(hours=2)
    assert own.metadata == {"a": 1, "b": [2, {"c": None}]}
    assert (plain.speaker, plain.session_id, plain.agent_id, plain.timestamp) == ("assistant", "s", "agent", NOON)
    assert plain.metadata == {"a": 0, "b": [2, {"c": None}]}


BERLIN = datetime(2023, 5, 8, 14, 0, tzinfo=ZoneInfo("Europe/Berlin"))
MOMENTS = {
    "aware": BERLIN,
    "naive, in the call's zone": datetime(2023, 5, 8, 14, 0),
    "ISO text with zone": "2023-05-08T12:00:00Z",
    "ISO text in the call's zone": "2023-05-08T14:00:00",
    "seconds": NOON.timestamp(),
    "milliseconds": int(NOON.timestamp() * 1000),
    "digits": str(int(NOON.timestamp())),
}


@pytest.mark.fault("B069")
@pytest.mark.parametrize("given", MOMENTS.values(), ids=MOMENTS)
def test_times_are_understood_in_every_shape(memory, given):
    memory.add("hello", user_id="u", timestamp=given, timezone="Europe/Berlin")
    assert only(memory).timestamp == NOON


def test_a_date_is_its_midnight_in_the_memorys_zone(open_memory):
    memory = open_memory(timezone="+05:30")
    memory.add("hello", user_id="u", timestamp=date(2023, 5, 8))
    assert only(memory).timestamp == datetime(2023, 5, 8, tzinfo=timezone(timedelta(hours=5.5)))


def test_without_a_time_it_stays_unknown(memory):
    memory.add("hello", user_id="u")
    assert only(memory).timestamp is None
    assert "(undated)" in memory.search("hello", user_id="u").results[0].text


@pytest.mark.fault("B060")
@pytest.mark.parametrize("place", ["Asia/Tokyo", "Pacific/Honolulu", "UTC"])
def test_the_machines_own_zone_means_nothing(memory, monkeypatch, place):
    monkeypatch.setenv("TZ", place)
    time.tzset()
    try:
        memory.add("aware", user_id="u", timestamp="2024-01-02T01:30Z")
        memory.add("naive", user_id="u", timestamp="2024-01-02T01:30")
        memory.add("seconds", user_id="u", timestamp=datetime(2024, 1, 2, 1, 30, tzinfo=UTC).timestamp())
        moments = [turn.timestamp for turn in memory.get_all(user_id="u")]
        assert [at.isoformat() for at in moments] == ["2024-01-02T01:30:00+00:00"] * 3
        since = memory.search("aware naive seconds", user_id="u", granularity="turn", since="2024-01-02T01:30")
        assert len(since.results) == 3
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.fault("B048")
def test_tool_calls_without_content_are_kept_in_order(memory):
    given = [
        {"role": "assistant", "content": None, "tool_calls": [{"name": "clock"}]},
        {"role": "tool", "content": "12:00"},
        {"role": "assistant", "content": "Noon", "tool_calls": None},
    ]
    memory.add(given, user_id="u")
    assert texts(memory.get_all(user_id="u")) == ["clock()", "12:00", "Noon"]
    assert memory.search("clock", user_id="u").results


@pytest.mark.fault("B057")
def test_order_is_kept_whatever_the_roles(memory):
    roles = ["user", "user", "assistant", "user", "tool", "assistant", "assistant", "system", "user", "user"]
    given = [{"role": role, "content": f"message number {n}"} for n, role in enumerate(roles)]
    memory.add(given, user_id="u")
    assert texts(memory.get_all(user_id="u")) == [message["content"] for message in given]
    spans = [span for trace in memory._store.traces("u") for span in trace.spans]
    assert [span.turn_id for span in spans] == ids(memory.get_all(user_id="u"))
    assert len(given) == 10


@pytest.mark.fault("B091")
def test_added_at_once_or_one_by_one_the_same_is_derived(memory):
    given = [
        {"role": "user", "speaker": "Ana", "content": "I live in Oulu with my dog Rex.", "id": "1"},
        {"role": "user", "speaker": "Bo", "content": "I moved to Turku last week. Rex is a good name.", "id": "2"},
    ]
    memory.add(given, user_id="together", timestamp=NOON)
    for message in given:
        memory.add(message, user_id="apart", timestamp=NOON)

    def derived(user_id):
        store = memory._store
        notes = [(n.kind, n.about, n.text, n.valid, n.sources, n.cues) for n in store.notes(user_id)]
        return store.units(user_id, ["1", "2"]), notes, sorted(key for key, _, _ in store.load(user_id, since=0).cues)

    assert derived("together") == derived("apart")
    assert derived("together")[1]


@pytest.mark.fault("B058")
def test_relative_dates_count_from_the_messages_own_time(memory):
    memory.add("Yesterday I planted the pear tree.", user_id="u", timestamp="2021-03-10T10:00Z")
    (row,) = memory._store.load("u", since=0).turns
    assert [phrase.interval for phrase in row.phrases] == [
        Interval(datetime(2021, 3, 9, tzinfo=UTC), datetime(2021, 3, 10, tzinfo=UTC))
    ]


# notes -------------------------------------------------------------------------------------------------


def test_notes_are_quotations_with_their_source(memory):
    added = memory.add(
        [
            {"role": "user", "name": "Ana", "content": "The weather was bad. I love green tea!", "id": "a"},
            {"role": "assistant", "content": "I love it too.", "id": "b"},
        ],
        user_id="u",
        timestamp=NOON,
    )
    (note,) = memory.notes(user_id="u")
    assert added.notes == (note.note_id,)
    (source,) = note.sources
    assert source.turn_id == "a"
    assert memory.get("a", user_id="u").text[source.start : source.end] == note.text
    assert (note.about, note.kind, note.status, note.version) == ("Ana", "preference", "current", 1)
    assert note.valid == Interval(NOON, None)
    assert "tea" in " ".join(note.cues)
    assert memory.get(note.note_id, user_id="u") == note


def test_notes_by_person_time_and_number(memory):
    for year, name in enumerate(("Ana", "Bo", "Ana", "Bo"), 2020):
        words = {"role": "user", "name": name, "content": f"I live in city number {year}."}
        memory.add(words, user_id="u", timestamp=datetime(year, 1, 1, tzinfo=UTC))
    assert [note.about for note in memory.notes(user_id="u")] == ["Ana", "Bo", "Ana", "Bo"]
    assert [note.text for note in memory.notes(user_id="u", about="Bo")] == [
        "I live in city number 2021.",
        "I live in city number 2023.",
    ]
    assert len(memory.notes(user_id="u", limit=3)) == 3
    assert memory.notes(user_id="u", as_of="2019-06-01") == []
    assert len(memory.notes(user_id="u", as_of=datetime(2021, 6, 1))) == 2
    assert len(memory.notes(user_id="u", as_of=date(2021, 1, 1))) == 2
    latest = memory.notes(user_id="u", as_of="2023-06-01", about="Bo", limit=1)
    assert [note.text for note in latest] == ["I live in city number 2021."]


def test_a_note_that_says_until_when_it_holds_does_not_hold_afterwards(memory):
    memory.add("I lived in Rome in 2015.", user_id="u", timestamp="2020-01-01T00:00Z")
    bounded = [note for note in memory.notes(user_id="u") if note.valid.end is not None]
    for note in bounded:
        assert note not in memory.notes(user_id="u", as_of=note.valid.end)
        assert note in memory.notes(user_id="u", as_of=note.valid.end - timedelta(seconds=1))
    assert bounded


# get, get_all ------------------------------------------------------------------------------------------


def test_get_finds_turns_traces_and_notes(memory):
    added = memory.add("I love green tea.", user_id="u")
    assert isinstance(memory.get(added.turn_ids[0], user_id="u"), Turn)
    trace = memory.get("T1", user_id="u")
    assert isinstance(trace, Trace)
    assert trace.spans == (Span(added.turn_ids[0], 0, 17),)
    assert isinstance(memory.get("N1", user_id="u"), Note)
    for unknown in ("x", "T2", "N2", "t1"):
        with pytest.raises(NotFound, match="'u'"):
            memory.get(unknown, user_id="u")
    with pytest.raises(NotFound):
        memory.get("T1", user_id="other")


def test_a_callers_id_goes_before_one_of_ours(memory):
    memory.add({"role": "user", "content": "mine", "id": "T1"}, user_id="u")
    found = memory.get("T1", user_id="u")
    assert isinstance(found, Turn)
    assert found.text == "mine"


def test_get_all_pages_through_a_scope(memory):
    for n in range(10):
        memory.add(
            {"role": "user", "content": f"message {n}", "id": str(n)},
            user_id="u",
            session_id=f"s{n % 2}",
            agent_id="even" if n % 4 == 0 else None,
        )
    assert ids(memory.get_all(user_id="u", session_id="s1")) == ["1", "3", "5", "7", "9"]
    assert ids(memory.get_all(user_id="u", agent_id="even")) == ["0", "4", "8"]
    assert memory.get_all(user_id="u", agent_id="even", session_id="s1") == []
    pages, after = [], None
    while page := memory.get_all(user_id="u", limit=4, after=after):
        pages.append(ids(page))
        after = page[-1].turn_id
    assert pages == [["0", "1", "2", "3"], ["4", "5", "6", "7"], ["8", "9"]]
    with pytest.raises(NotFound, match="'x'"):
        memory.get_all(user_id="u", after="x")


# update, history ---------------------------------------------------------------------------------------


@pytest.mark.fault("B083")
def test_update_replaces_metadata_and_nothing_else(memory):
    memory.add({"role": "user", "content": "hi", "id": "a", "extra": 1}, user_id="u", metadata={"src": "chat", "n": 1})
    before = memory.get("a", user_id="u")
    after = memory.update("a", user_id="u", metadata={"colour": "green"})
    assert after == memory.get("a", user_id="u")
    assert after.metadata == {"colour": "green"}
    unchanged = [field.name for field in fields(Turn) if field.name != "metadata"]
    assert [getattr(after, name) for name in unchanged] == [getattr(before, name) for name in unchanged]
    assert memory.update("a", user_id="u", metadata={}).metadata == {}
    log = memory.history("a", user_id="u")
    assert [(entry.action, entry.before, entry.after) for entry in log] == [
        ("UPDATE", '{"src":"chat","n":1}', '{"colour":"green"}'),
        ("UPDATE", '{"colour":"green"}', "{}"),
    ]


def test_words_never_change(memory):
    memory.add({"role": "user", "content": "hi", "id": "a"}, user_id="u")
    with pytest.raises(ImmutableWords, match="'a'"):
        memory.update("a", user_id="u", metadata={}, text="ho")
    with pytest.raises(NotFound, match="'b'"):
        memory.update("b", user_id="u", metadata={})
    with pytest.raises(NotFound, match="'a'"):
        memory.update("a", user_id="v", metadata={})
    for wrong in (None, "text", [1], {"a": {1}}, {1: 2}, {"a": float("nan")}):
        with pytest.raises(InvalidInput):
            memory.update("a", user_id="u", metadata=wrong)
    assert memory.get("a", user_id="u").text == "hi"
    assert memory.history("a", user_id="u") == []


def test_history_tells_where_a_note_came_from(memory):
    memory.add("I love green tea.", user_id="u")
    (entry,) = memory.history("N1", user_id="u")
    assert (entry.action, entry.trigger, entry.before, entry.after) == ("ADD", "add", None, "I love green tea.")
    assert memory.history("N2", user_id="u") == []


# status, users, check ----------------------------------------------------------------------------------


def test_status_users_and_check(memory):
    assert memory.users() == []
    memory.add("I love green tea.", user_id="bo")
    memory.add("I moved to Oulu.", user_id="ana", session_id="s")
    assert memory.users() == ["ana", "bo"]
    whole = memory.status()
    assert (whole.embedder, whole.users, whole.counts, whole.warnings) == ("hash-64", 2, None, ())
    assert whole.size_bytes > 0
    assert whole.index_bytes == 0
    memory.search("tea", user_id="bo")
    assert memory.status().index_bytes > 0
    counts = memory.status(user_id="ana").counts
    assert (counts.turns, counts.sessions, counts.traces, counts.units, counts.notes, counts.pending) == (
        1, 1, 1, 1, 1, 0,
    )  # fmt: skip
    nobody = memory.status(user_id="nobody").counts
    assert (nobody.turns, nobody.revision) == (0, 0)
    assert memory.check() == []
    assert memory.users() == ["ana", "bo"]


# export ------------------------------------------------------------------------------------------------

CHAT = [
    {"role": "human", "content": [{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {"url": "u"}}]},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]},
    {"role": "tool", "content": "42", "tool_call_id": "c", "name": "f"},
    {"role": "tool", "content": ""},
    {"speaker": "Ana", "content": "no role"},
    {"speaker": "Ana", "content": "no role", "mood": None, "weight": [1, {"deep": 2.5}]},
    {"role": "Assistant", "name": "Bot", "content": "ok", "refusal": None},
    {"role": "user", "content": "ok"},
    {"role": "user", "content": "ok"},
    {"role": "user", "content": "in a zone", "timestamp": "1890-01-01T00:00:00+00:53:28"},
    {"role": "user", "content": "to the microsecond", "timestamp": "2023-05-08T12:00:00.123456-03:30"},
    {
        "role": "user",
        "content": "nul \0 surrogate \ud800 pair \ud83d\ude00 e\u0301 \u202e",
        "metadata": {"k\0": "\udfff"},
    },
    {"role": "user", "content": "I love green tea.", "id": 12, "agent_id": "a", "session_id": "s", "extra": True},
]


def test_export_and_add_is_the_same_memory(memory):
    memory.add(CHAT, user_id="u", session_id="first", metadata={"from": "test"}, timestamp=BERLIN)
    records = list(memory.export(user_id="u"))
    messages = [record for record in records if "session_id" in record and "episode" not in record]
    notes = [record["note"] for record in records if "note" in record]
    memory.add(messages, user_id="copy", session_id="elsewhere", timestamp=NOON, timezone="+09:00")
    original, copy = memory.get_all(user_id="u"), memory.get_all(user_id="copy")
    compared = [field.name for field in fields(Turn) if field.name != "recorded_at"]
    for one, other in zip(original, copy, strict=True):
        assert [getattr(other, name) for name in compared] == [getattr(one, name) for name in compared]
        assert other.timestamp.utcoffset() == one.timestamp.utcoffset()
    again = list(memory.export(user_id="copy"))
    assert [record for record in again if "session_id" in record and "episode" not in record] == messages
    assert [{**record["note"], "recorded_at": 0} for record in again if "note" in record] == [
        {**note, "recorded_at": 0} for note in notes
    ]
    assert notes


def test_export_tells_a_note_with_all_it_rests_on(memory):
    memory.add({"role": "user", "content": "I love green tea.", "id": "a"}, user_id="u", timestamp=NOON)
    [record] = [record for record in memory.export(user_id="u") if "note" in record]
    recorded = record["note"].pop("recorded_at")
    assert datetime.fromisoformat(recorded).tzinfo is not None
    assert record["note"] == {
        "id": "N1",
        "version": 1,
        "kind": "preference",
        "about": "user",
        "text": "I love green tea.",
        "status": "current",
        "valid": ["2023-05-08T12:00:00+00:00", None],
        "sources": [["a", 0, 17]],
    }


# opening and closing -----------------------------------------------------------------------------------


def test_several_memories_on_one_file_see_each_other(open_memory):
    one, two = open_memory(), open_memory()
    one.add("The barge is called Aurora.", user_id="u")
    assert two.search("Aurora", user_id="u").results
    two.add("Aurora was painted green.", user_id="u")
    assert [len(m.search("Aurora", user_id="u", granularity="turn").results) for m in (one, two)] == [2, 2]
    one.delete_all(user_id="u")
    assert two.search("Aurora", user_id="u").results == ()


@pytest.mark.fault("B134")
def test_what_was_just_said_is_found(memory):
    memory.search("anything", user_id="u")
    memory.add("The password of the shed is heron.", user_id="u", session_id="one")
    hit = memory.search("What is the password of the shed?", user_id="u", session_id=None).results[0]
    assert hit.quotes == ("The password of the shed is heron.",)


def test_a_memory_is_a_context_manager_and_closes_twice(tmp_path):
    with Memory.open(tmp_path / "m.db", embedder=HashEmbedder()) as memory:
        memory.add("hello", user_id="u")
    memory.close()
    calls = [
        lambda: memory.add("x", user_id="u"),
        lambda: memory.search("x", user_id="u"),
        lambda: memory.context("x", user_id="u"),
        lambda: memory.notes(user_id="u"),
        lambda: memory.get("x", user_id="u"),
        lambda: memory.get_all(user_id="u"),
        lambda: memory.update("x", user_id="u", metadata={}),
        lambda: memory.delete(user_id="u", turn_id="x"),
        lambda: memory.delete_all(user_id="u"),
        lambda: memory.history("x", user_id="u"),
        lambda: list(memory.export(user_id="u")),
        lambda: memory.users(),
        lambda: memory.status(),
        lambda: memory.check(),
        lambda: memory.reembed(HashEmbedder()),
    ]
    for call in calls:
        with pytest.raises(StoreClosed, match=r"m\.db.*open it again"):
            call()
    with Memory.open(tmp_path / "m.db", embedder=HashEmbedder()) as again:
        assert texts(again.get_all(user_id="u")) == ["hello"]


def test_opening_creates_one_file_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (tmp_path / "db").mkdir()
    with Memory.open(str(tmp_path / "db" / "m.db"), embedder=HashEmbedder()) as memory:
        memory.add("hello", user_id="u")
        memory.search("hello", user_id="u")
    assert [path.name for path in (tmp_path / "db").iterdir()] == ["m.db"]
    assert list((tmp_path / "home").iterdir()) == []


@pytest.mark.parametrize("wrong", [{"embedder": "nonsense"}, {"cue_extractor": "nonsense"}, {"timezone": "Mars/Base"}])
def test_what_open_cannot_use_is_named_and_makes_no_file(tmp_path, wrong):
    with pytest.raises(InvalidInput, match=r"nonsense|Mars/Base"):
        Memory.open(tmp_path / "m.db", **{"embedder": None, **wrong})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["", ":memory:", "no/such/folder/m.db", "postgresql://x/y", "nul\0l", "."])
def test_what_is_no_file_cannot_be_opened(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError):
        Memory.open(name, embedder=None)
    assert list(tmp_path.iterdir()) == []


def test_without_the_embedded_embedders_files_memory_is_lexical_and_says_so(tmp_path, monkeypatch, caplog):
    def missing(self):
        raise EmbedderUnavailable("model.onnx is missing: pip install it")

    monkeypatch.setattr(MnemicMiniLM, "locate", missing)
    with caplog.at_level(logging.WARNING, "mnemic"), Memory.open(tmp_path / "m.db") as memory:
        assert "lexical only" in caplog.text
        added = memory.add("The barge is called Aurora.", user_id="u")
        found = memory.search("barge", user_id="u")
        warnings = {added.warnings, found.warnings, memory.status().warnings}
        assert warnings == {("retrieval is lexical only: model.onnx is missing: pip install it",)}
        assert found.results[0].quotes == ("The barge is called Aurora.",)
        assert not found.nothing_relevant
        assert memory.status(user_id="u").embedder is None
