"""The commands that tend notes and work: one for each method of Memory, of its name and with its defaults."""

from __future__ import annotations

import inspect
import json

import pytest
import typer

from mnemic import Enriching, Memory
from mnemic.cli import app
from model_server_kit import error, serving
from reading_kit import ReadingModel, over_http

METHODS = ("history", "undo", "proposals", "approve", "reject", "confirm", "retract", "reflect", "forget", "restore",
           "episodes", "sessions", "traces", "cues", "neighbours", "enrich", "retry", "diff", "evolution", "quarantine",
           "release", "discard")  # fmt: skip
NOBODY = "User 'nina' has nothing in memory.\n"
WORDS = ("--embedder", "none")


def parameters(callable, *but):
    found = {name: one.default for name, one in inspect.signature(callable).parameters.items()}
    return {name: default for name, default in found.items() if name not in but}


@pytest.mark.parametrize("name", METHODS)
def test_a_command_has_the_names_and_defaults_of_its_method(name):
    [command] = [one.callback for one in app.registered_commands if (one.name or one.callback.__name__) == name]
    given = parameters(command, "db", "user", "embedder", "json")
    wanted = parameters(getattr(Memory, name), "self", "user_id")
    assert given == {name.replace("session_id", "session"): default for name, default in wanted.items()}
    arguments = [one for one in typer.main.get_command(app).commands[name].params if one.required]
    assert {one.name for one in arguments} == {name for name, default in wanted.items() if default is inspect._empty}


@pytest.fixture
def told(cli, monkeypatch):
    """Ana's notes N1 to N3, of which the second contradicts the first."""
    monkeypatch.setenv("MNEMIC_USER", "ana")
    for id, month, text in (("a", 3, "I like Lisbon."), ("b", 6, "I do not like Lisbon."), ("c", 7, "I love tea.")):
        said = ("--speaker", "Ana", "--id", id, "--session", id, "--timestamp", f"2024-0{month}-01T10:00Z")
        assert cli("add", text, *said, *WORDS)[0] == 0
    return cli


def lines(out):
    """Operations as they are shown, without the time."""
    return [line[: line.index("  ")] + line[line.rindex("  ") :] for line in out.splitlines()]


def test_what_reflect_finds_is_first_shown_then_done_then_in_the_history_and_can_be_undone(told):
    found = 'EXPIRE N1 by rules: reflect; "I like Lisbon."; '
    planned = (0, f"{found}N2 is contradictory\n", "1 change, if it were not a dry run\n")
    assert told("reflect", "--dry-run", *WORDS) == planned
    assert told("reflect", "--dry-run", *WORDS) == planned
    code, out, err = told("reflect", *WORDS)
    assert (code, err) == (0, "1 change\n")
    assert lines(out) == [f"O4  {found}current > superseded; N2 is contradictory"]
    assert told("reflect", *WORDS) == (0, "", "0 changes\n")
    code, out, err = told("history", "N1")
    assert (code, err) == (0, "")
    assert lines(out)[0] == 'O1  ADD N1 by add; "I like Lisbon."'
    assert lines(out)[1].startswith("O4  EXPIRE N1")
    assert "N1 " not in told("notes")[1]
    code, out, err = told("undo", "O1")
    assert (code, out) == (1, "")
    assert "undo 'O4' first" in err
    assert lines(told("undo", "O4")[1]) == ['O5  UPDATE N1 by undo O4; "I like Lisbon."; superseded > current']
    assert "N1  Ana, preference: I like Lisbon." in told("notes")[1]


def test_operations_as_json_are_whole(told):
    text = "My sister loves rooibos tea more than anything else in the whole wide world of tea drinkers."
    told("add", text, "--speaker", "Ana", "--id", "d", *WORDS)
    assert told("history", "N4")[1].endswith('"My sister loves rooibos tea more than anything else in the …"\n')
    [added] = json.loads(told("history", "N4", "--json")[1])["operations"]
    assert list(added) == [
        "operation_id", "at", "action", "target_id", "trigger", "before", "after", "version", "detail"
    ]  # fmt: skip
    assert (added["operation_id"], added["action"], added["after"]) == ("O4", "ADD", text)
    [planned] = json.loads(told("reflect", "--dry-run", "--json", *WORDS)[1])["operations"]
    assert (planned["operation_id"], planned["detail"]["relation"]) == ("", "contradictory")
    [undone] = json.loads(told("undo", "O4", "--json")[1])["operations"]
    assert undone["detail"]["status"] == ["current", "retracted"]


def test_a_message_has_a_history_of_its_metadata_in_one_line_each_whatever_its_id(told, tmp_path):
    with Memory.open(tmp_path / "m.db", embedder=None) as memory:
        memory.add({"role": "user", "content": "Hm.", "id": "x\nO9  "}, user_id="ana")
        memory.update("x\nO9  ", user_id="ana", metadata={"mood": "good"})
    assert lines(told("history", "x\nO9  ")[1]) == ['O4  UPDATE x O9 by person; "{}" > "{"mood":"good"}"']
    assert lines(told("undo", "O4")[1]) == ['O5  UPDATE x O9 by person; "{"mood":"good"}" > "{}"']


def test_what_is_forgotten_is_first_shown_then_archived_then_restored(told):
    few = ("forget", "--max-notes", "2", "--half-life-days", "1")
    shown = "N1  Ana, preference: I like Lisbon.\n   since 2024-03-01; from a; archived\n"
    assert told(*few, "--dry-run") == (0, shown, "1 note archived, if it were not a dry run\n")
    assert len(json.loads(told("notes", "--json")[1])["notes"]) == 3
    assert told(*few) == (0, shown, "1 note archived\n")
    assert told(*few) == (0, "", "0 notes archived\n")
    assert "N1 " not in told("notes")[1]
    assert told("restore", "N1") == (0, shown.replace("archived", "current"), "")
    assert "N1 " in told("notes")[1]
    [gone] = json.loads(told(*few, "--json")[1])["notes"]
    assert (gone["note_id"], gone["status"]) == ("N1", "archived")
    assert json.loads(told("restore", "N1", "--json")[1])["note"]["status"] == "current"


# what waits for a person -----------------------------------------------------------------------------------


@pytest.fixture
def waiting(cli, tmp_path, monkeypatch):
    """Two notes of ana's, by a model, that wait: N2 and N3."""
    monkeypatch.setenv("MNEMIC_USER", "ana")
    settings = Enriching(approve=True)
    with Memory.open(tmp_path / "m.db", embedder=None, model=ReadingModel(), enrichment=settings, workers=0) as memory:
        for id, month, text in (("a", 3, "I work at the harbour."), ("b", 6, "I keep bees.")):
            said = {"role": "user", "name": "Ana", "content": text, "id": id, "timestamp": f"2024-0{month}-01T10:00Z"}
            memory.add(said, user_id="ana", session_id=id, enrich="now")
        assert [note.note_id for note in memory.proposals(user_id="ana")] == ["N2", "N3"]
    return cli


def test_a_person_approves_one_proposal_and_rejects_another(waiting):
    shown = (
        "N2  Ana, fact: Ana work at the harbour.\n   since 2024-03-01; from a; proposed\n"
        "N3  Ana, fact: Ana keep bees.\n   since 2024-06-01; from b; proposed\n"
    )
    assert waiting("proposals") == (0, shown, "2 notes wait\n")
    code, out, err = waiting("approve", "N2", *WORDS)
    assert (code, err) == (0, "")
    assert lines(out) == [
        'O4  MERGE N1 by person; "I work at the harbour."; current > archived',
        'O5  ADD N2 by person; "Ana work at the harbour."; proposed > current',
    ]
    assert "N2  Ana, fact: Ana work at the harbour." in waiting("notes")[1]
    [left] = json.loads(waiting("proposals", "--json")[1])["notes"]
    assert (left["note_id"], left["status"]) == ("N3", "proposed")
    code, out, err = waiting("reject", "N3")
    assert (code, err) == (0, "")
    assert lines(out) == ['O6  RETRACT N3 by person; "Ana keep bees."; proposed > retracted']
    assert waiting("proposals") == (0, "", "0 notes wait\n")
    assert "Ana keep bees" not in waiting("notes")[1]
    assert len(json.loads(waiting("history", "N3", "--json")[1])["operations"]) == 2
    for decide in (("approve", "N3", *WORDS), ("reject", "N3")):
        assert waiting(*decide) == (1, "", "error: user 'ana' has no note 'N3' that waits for a decision\n")


def test_decisions_as_json(waiting):
    _, approved = json.loads(waiting("approve", "N2", "--json", *WORDS)[1])["operations"]
    [rejected] = json.loads(waiting("reject", "N3", "--json")[1])["operations"]
    assert [(one["action"], one["detail"]["decision"]) for one in (approved, rejected)] == [
        ("ADD", "approved"), ("RETRACT", "rejected")
    ]  # fmt: skip


# whose it is -----------------------------------------------------------------------------------------------


ABOUT_ONE = [
    ("undo", "O1"), ("undo", "O2"), ("approve", "N2", *WORDS), ("reject", "N2"), ("restore", "N1"), ("restore", "N2")
]  # fmt: skip
ABOUT_ALL = [
    ("proposals",), ("reflect", *WORDS), ("forget", "--max-notes", "1"), ("episodes", *WORDS), ("history", "N1")
]  # fmt: skip


@pytest.mark.parametrize("command", ABOUT_ONE)
@pytest.mark.parametrize("user", ["bo", "nina"])
def test_ids_of_others_are_not_found_and_stay_as_they_are(waiting, command, user):
    waiting("add", "Hm.", "--user", "bo", *WORDS)
    before = waiting("export")[1]
    code, out, err = waiting(*command, "--user", user)
    assert (code, out) == (1, "")
    assert err.startswith(f"error: user '{user}' has no ")
    assert repr(command[1]) in err
    assert waiting("export")[1] == before
    assert json.loads(waiting("proposals", "--json")[1])["notes"] != []


@pytest.mark.parametrize("command", ABOUT_ONE)
def test_unknown_ids_are_named(waiting, command):
    name, id, *more = command
    unknown = f"{id[0]}99\x1b"
    code, out, err = waiting(name, unknown, *more)
    assert (code, out) == (1, "")
    assert "error: user 'ana' has no " in err
    assert "99" in err
    assert "\x1b" not in err
    assert waiting(name, " ", *more)[0] == 1
    assert waiting(name)[0] == 2


@pytest.mark.parametrize("command", ABOUT_ALL)
def test_of_a_user_who_is_not_there_nothing_is_shown_and_it_is_said(waiting, command):
    assert waiting(*command, "--user", "nina") == (0, "", NOBODY)
    code, out, err = waiting(*command, "--user", "nina", "--json")
    assert (code, err) == (0, NOBODY)
    assert list(json.loads(out).values()) == [[]]
    assert waiting(*command, "--user", " ")[0] == 1


def test_others_see_nothing_of_it(waiting):
    waiting("add", "Hm.", "--user", "bo", "--id", "m", *WORDS)
    nothing = "Nothing happened to 'N2', or there is no such note or message.\n"
    assert waiting("history", "N2", "--user", "bo") == (0, "", nothing)
    assert waiting("proposals", "--user", "bo") == (0, "", "0 notes wait\n")
    assert waiting("reflect", "--user", "bo", *WORDS) == (0, "", "0 changes\n")
    assert waiting("forget", "--max-notes", "1", "--user", "bo") == (0, "", "0 notes archived\n")
    assert "E:m  session default" in waiting("episodes", "--user", "bo", *WORDS)[1]
    assert "harbour" not in waiting("episodes", "--user", "bo", "--json", *WORDS)[1]


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        (("forget",), 2, "--max-notes"),
        (("forget", "--max-notes", "0"), 1, "max_notes"),
        (("forget", "--max-notes", "1", "--half-life-days", "0"), 1, "half_life_days"),
        (("forget", "--max-notes", "1", "--half-life-days", "nan"), 1, "half_life_days"),
        (("episodes", "--session", " ", *WORDS), 1, "session_id"),
        (("enrich",), 1, "MNEMIC_MODEL"),
        (("history", "N1", "--db", "none.db"), 1, "none.db"),
        (("reflect", "--embedder", "magic"), 1, "magic"),
    ],
)
def test_what_is_wrong_is_said(told, command, code, message):
    given, out, err = told(*command)
    assert (given, out) == (code, "")
    assert message in err
    assert "Traceback" not in err


@pytest.mark.parametrize("command", [*ABOUT_ONE, *ABOUT_ALL, ("enrich",)])
def test_nobody_is_meant_by_default(waiting, monkeypatch, command):
    monkeypatch.delenv("MNEMIC_USER")
    code, out, err = waiting(*command)
    assert (code, out, "MNEMIC_USER" in err) == (2, "", True)


# episodes --------------------------------------------------------------------------------------------------


def test_episodes_of_a_model_have_topic_and_summary_and_those_of_rules_fill_the_rest(waiting):
    waiting("add", "The landlord keeps bees.", "--id", "c", "--session", "c", *WORDS)
    code, out, err = waiting("episodes", *WORDS)
    assert (code, err) == (0, "3 episodes\n")
    made, _, cut = out.split("\nE")
    assert made == ("E2  session a: talk\n   2024-03-01 10:00; 1 message: a; by scripted:reader\n   They talk.")
    assert cut.startswith(":c  session c: ")
    assert cut.endswith("\n   at an unknown time; 1 message: c; by rules\n")
    [one] = json.loads(waiting("episodes", "--session", "b", "--json", *WORDS)[1])["episodes"]
    assert list(one) == [
        "episode_id", "session_id", "turn_ids", "topic", "summary", "time", "made_by", "recorded_at"
    ]  # fmt: skip
    assert (one["turn_ids"], one["summary"], one["time"]["start"]) == (["b"], "They talk.", "2024-06-01T10:00:00+00:00")


# language models -------------------------------------------------------------------------------------------


@pytest.fixture
def reader():
    return ReadingModel()


@pytest.fixture
def server(reader, monkeypatch):
    pytest.importorskip("pydantic_ai", reason="the extra llm is not installed")
    with serving(over_http(reader)) as serves:
        monkeypatch.setenv("MNEMIC_MODEL", f"openai-compatible:m@{serves.url}")
        yield serves


def test_words_added_without_a_model_are_read_once_one_is_set(told, server):
    assert told("enrich") == (0, "6 pieces of work to do\n", "")
    assert told("enrich") == (0, "0 pieces of work to do\n", "")
    assert server.bodies == []  # it is left to a worker
    assert told("enrich", "--user", "nina", "--json") == (0, '{"pieces": 0}\n', NOBODY)
    assert "6 done" in told("worker", "--once", *WORDS)[1]
    assert "Ana like Lisbon." in told("notes")[1]


def test_what_failed_is_done_again(told, server, monkeypatch):
    assert told("enrich", "--json")[1] == '{"pieces": 6}\n'
    with serving(lambda _: error(401, "bad key")) as closed:
        monkeypatch.setenv("MNEMIC_MODEL", f"openai-compatible:m@{closed.url}")
        assert "6 failed" in told("worker", "--once", *WORDS)[1]
    monkeypatch.setenv("MNEMIC_MODEL", f"openai-compatible:m@{server.url}")
    assert told("retry", "--user", "nina") == (0, "0 pieces of work to do\n", NOBODY)
    assert told("retry") == (0, "6 pieces of work to do\n", "")
    monkeypatch.delenv("MNEMIC_USER")
    assert told("retry", "--json") == (0, '{"pieces": 0}\n', "")  # of all users
    assert server.bodies == []
    assert "6 done" in told("worker", "--once", *WORDS)[1]


def test_reflect_asks_the_model_of_the_environment(told, server, reader, monkeypatch):
    reader.say["conflict"] = lambda _: json.dumps(
        {"pairs": [{"new": 1, "relation": "independent", "old": 0, "text": ""}]}
    )
    assert told("reflect", *WORDS) == (0, "", "0 changes\n")
    assert reader.asked["conflict"] > 0
    assert told("status")[1].count("conflict: ") == 1
    with serving(lambda _: error(401, "bad key")) as closed:
        monkeypatch.setenv("MNEMIC_MODEL_CONFLICT", f"openai-compatible:m@{closed.url}")
        code, out, err = told("reflect", *WORDS)
    assert (code, out) == (1, "")
    assert err.startswith("error: ")
    assert "bad key" in err
