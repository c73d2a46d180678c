"""Conversations put into a memory."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnemic.errors import InvalidInput, InvalidScope
from mnemic.importers import Conversation, Derived, Noted, Skipped, load, read, survey
from mnemic.memory import Memory


@pytest.fixture
def memory(tmp_path):
    with Memory.open(tmp_path / "m.db", embedder=None) as opened:
        yield opened


def conversation(*texts: str, user: str | None = None, session: str = "s", **fields: Any) -> Conversation:
    messages = ({"role": "user", "content": text, "id": f"{session}:{i}", **fields} for i, text in enumerate(texts))
    return Conversation(user, session, tuple(messages))


def test_what_goes_in_and_how_often(memory):
    source = [
        conversation("a", "b", user="ana"),
        Skipped("why", "line 1"),
        Skipped("why", "line 9"),
        Derived(),
        conversation("c", user="bo"),
    ]
    done: list[int] = []
    report = load(source, memory, advance=done.append)
    assert (report.users, report.sessions, report.messages, report.new) == (["ana", "bo"], 2, 3, 3)
    assert (report.skipped, report.notes) == ({"why": (2, "line 1")}, 1)
    surveyed = survey(source)
    assert (surveyed.skipped, surveyed.notes, surveyed.new) == (report.skipped, 1, 0)
    assert sum(done) == surveyed.messages == 3
    again = load(source, memory)
    assert (again.messages, again.new) == (3, 0)


def test_a_bad_message_costs_only_itself(memory):
    good = conversation("a", "b", "c")
    bad = [
        {"role": "king", "content": "x", "id": "k"},
        {"role": "user", "content": "", "id": "e"},
        {**good.messages[0]},
    ]
    mixed = Conversation(None, "s", (bad[0], *good.messages, *bad[1:]))
    report = load([mixed], memory, user_id="ana")
    assert [turn.text for turn in memory.get_all(user_id="ana")] == ["a", "b", "c"]
    assert sum(count for count, _ in report.skipped.values()) == 3
    assert all("messages[" not in reason for reason in report.skipped)
    assert {place for _, place in report.skipped.values()} == {
        "session 's', message 'k'", "session 's', message 'e'", "session 's', message 's:0'",
    }  # fmt: skip


def test_a_session_that_cannot_be_named_so_costs_only_itself(memory):
    report = load([conversation("a", session="s" * 600), conversation("b")], memory, user_id="ana")
    assert [turn.text for turn in memory.get_all(user_id="ana")] == ["b"]
    [(reason, (count, _))] = report.skipped.items()
    assert (count, "512" in reason) == (1, True)


def test_other_words_under_a_known_id_are_counted_and_the_first_ones_stay(memory):
    load([conversation("a", "b")], memory, user_id="ana")
    report = load([conversation("a", "changed", "c")], memory, user_id="ana")
    assert [turn.text for turn in memory.get_all(user_id="ana")] == ["a", "b", "c"]
    assert (report.messages, report.new) == (2, 1)
    [(reason, found)] = report.skipped.items()
    assert reason.startswith("an id that is stored with other words")
    assert (found, report.warnings) == ((1, "session 's', message 's:1'"), [])


def test_ids_that_every_session_counts_anew_cost_no_words(memory):
    def counted(session: str, *texts: str) -> Conversation:
        said = ({"role": "user", "content": text, "id": f"m{i}"} for i, text in enumerate(texts))
        return Conversation(None, session, tuple(said))

    source = [counted("s", "a", "b"), counted("t", "c", "b"), counted("u", "d")]
    for new in (4, 0):
        report = load(source, memory, user_id="ana")
        assert (report.messages, report.new, report.skipped, report.warnings) == (5, new, {}, [])
    # The same words under the same id are the same message.
    assert [(turn.turn_id, turn.text) for turn in memory.get_all(user_id="ana")] == [
        ("m0", "a"), ("m1", "b"), ("t/m0", "c"), ("u/m0", "d"),
    ]  # fmt: skip
    report = load([counted("t", "changed")], memory, user_id="ana")
    assert (report.new, sum(count for count, _ in report.skipped.values())) == (0, 1)


def test_an_id_that_grows_too_long_costs_only_its_message(memory):
    def long(session: str, text: str) -> Conversation:
        return Conversation(None, session, ({"role": "user", "content": text, "id": "m" * 512},))

    load([long("s", "a")], memory, user_id="ana")
    report = load([long("t", "b"), conversation("c")], memory, user_id="ana")
    assert [turn.text for turn in memory.get_all(user_id="ana")] == ["a", "c"]
    [(reason, _)] = report.skipped.items()
    assert "512" in reason


def test_long_sessions_go_in_by_pieces(memory, monkeypatch):
    sizes: list[int] = []
    add = memory.add
    monkeypatch.setattr(memory, "add", lambda messages, **kw: sizes.append(len(messages)) or add(messages, **kw))
    load([conversation(*map(str, range(450)))], memory, user_id="ana")
    assert sizes == [200, 200, 50]
    assert [turn.text for turn in memory.get_all(user_id="ana")] == [str(i) for i in range(450)]


def test_another_user_gets_the_names_of_the_files_users_as_prefix(memory):
    source = [conversation("a", user="u1"), conversation("b", user="u2", session_id="own")]
    assert load(source, memory, user_id="ana").new == 2
    assert [(t.session_id, t.turn_id) for t in memory.get_all(user_id="ana")] == [
        ("u1/s", "u1/s:0"),
        ("u2/own", "u2/s:0"),
    ]
    assert load([conversation("a", user="u1")], memory, user_id="u1").new == 1
    assert memory.get_all(user_id="u1")[0].turn_id == "s:0"


def test_metadata_agent_and_timezone_arrive(memory):
    talk = Conversation(
        "ana",
        "s",
        ({"role": "user", "content": "x", "id": "1", "timestamp": "2024-03-01T10:00"},),
        "bot",
        {"title": "t"},
    )
    load([talk], memory, timezone="+05:30")
    [turn] = memory.get_all(user_id="ana")
    assert (turn.agent_id, turn.metadata) == ("bot", {"title": "t"})
    assert turn.timestamp is not None
    assert turn.timestamp.isoformat() == "2024-03-01T10:00:00+05:30"


def test_without_a_user_nothing_is_stored(memory):
    for arguments in ({}, {"user_id": ""}, {"user_id": "ana", "timezone": "Mars"}):
        with pytest.raises(InvalidInput):
            load([conversation("a")], memory, **arguments)
    with pytest.raises(InvalidScope):
        load([conversation("a")], memory)
    assert memory.users() == []


TEXTS = st.text(min_size=1, max_size=40).filter(lambda text: text.strip() != "")
CONTENT = (
    TEXTS | st.just("I moved to Lisbon.") | st.lists(TEXTS.map(lambda text: {"type": "text", "text": text}), min_size=1)
)
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant"]), "content": CONTENT},
        optional={
            "name": TEXTS,
            "id": TEXTS,
            "session_id": st.sampled_from(["s1", "s2", "\ud800"]),
            "agent_id": TEXTS,
            "timestamp": st.datetimes().map(lambda moment: f"{moment.isoformat()}+00:00"),
            "metadata": st.dictionaries(TEXTS, st.integers() | TEXTS | st.none(), max_size=2),
        },
    ),
    max_size=12,
    unique_by=lambda message: message.get("id", object()),
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    with Memory.open(tmp_path_factory.mktemp("shared") / "m.db", embedder=None) as opened:
        yield opened


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(MESSAGES.filter(bool))
def test_what_is_exported_comes_back_equal(shared, tmp_path, messages):
    def told(user: str) -> list[tuple[Any, ...]]:
        return [
            (turn.timestamp and turn.timestamp.isoformat(), replace(turn, seq=0, recorded_at=None))
            for turn in shared.get_all(user_id=user)
        ]

    ana, bo = (f"{name}{len(shared.users())}" for name in ("ana", "bo"))
    shared.add(messages, user_id=ana)
    path = Path(tmp_path / "ana.jsonl")
    path.write_text("\n".join(json.dumps(record) for record in shared.export(user_id=ana)))
    report = load(read(path, "jsonl"), shared, user_id=bo)
    assert told(bo) == told(ana)
    assert (report.new, report.skipped) == (len(messages), {})
    assert report.notes == len(shared.notes(user_id=ana)) == len(shared.notes(user_id=bo))
    assert load(read(path, "jsonl"), shared, user_id=ana).new == 0


def test_given_notes_come_back_with_their_messages(memory, tmp_path):
    memory.add(
        [{"id": "a", "name": "Ana", "content": "I sing."}, {"id": "b", "name": "Bo", "content": "Do you?"}],
        user_id="ana",
    )
    notes = [
        {
            "id": "n",
            "text": "Ana makes music",
            "sources": ["a", ["b", 0, 2]],
            "kind": "trait",
            "metadata": {"by": ["x"]},
        },
        {"text": "Bo wonders", "about": "Bo", "sources": ["b"], "valid": ["2024-01-01", None]},
    ]
    memory.add_notes(notes, user_id="ana")
    path = tmp_path / "ana.jsonl"
    # Without its first line it is no export that can be written back, and is added to what is there.
    records = [record for record in memory.export(user_id="ana") if "mnemic" not in record]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert survey(read(path)).given == 2
    report = load(read(path), memory, user_id="bo")
    assert (report.new, report.given, report.skipped) == (2, 2, {})
    assert report.notes == len(memory.notes(user_id="ana")) - 2

    def told(user):
        return [replace(note, note_id="", recorded_at=None) for note in memory.notes(user_id=user)]

    assert told("bo") == told("ana")
    again = load(read(path), memory, user_id="bo")
    assert (again.new, again.given, again.warnings) == (0, 2, [])
    assert told("bo") == told("ana")


def test_a_given_note_that_cannot_be_used_costs_only_itself(memory):
    notes = [{"id": f"n{i}", "text": f"Ana sings {i}", "sources": ["gone" if i in (2, 3) else "a"]} for i in range(6)]
    records = [
        Conversation(None, "s", ({"id": "a", "role": "user", "content": "I sing."},)),
        *(Noted(note, f"line {i}") for i, note in enumerate(notes)),
    ]
    report = load(records, memory, user_id="ana")
    assert report.given == 4
    [(reason, (count, first))] = report.skipped.items()
    assert reason.startswith("there is no turn 'gone'")
    assert (count, first) == (2, "line 2")
    with pytest.raises(InvalidScope):
        load(records[1:], memory)
