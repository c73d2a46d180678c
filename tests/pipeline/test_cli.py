"""The command line, as a person or a script meets it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import mnemic
from mnemic.memory import Memory
from mnemic.memory.search import Searcher

COMMANDS = (
    "demo", "add", "import", "search", "context", "answer", "notes", "proposals", "approve", "reject", "history",
    "undo", "reflect", "forget", "restore", "episodes", "status", "export", "delete", "worker", "enrich", "retry",
    "reembed", "migrate", "doctor",
)  # fmt: skip


def words(*arguments: str) -> tuple[str, ...]:
    return (*arguments, "--user", "ana", "--embedder", "none")


# help and start --------------------------------------------------------------------------------------------


def test_help_lists_every_command_and_each_has_its_own(cli):
    code, out, _ = cli("--help")
    assert code == 0
    assert all(f"\n  {command} " in out for command in COMMANDS)
    assert all(cli(command, "--help")[0] == 0 for command in COMMANDS)


def test_version(cli):
    assert cli("--version") == (0, f"mnemic {mnemic.__version__}\n", "")


def test_demo_says_where_its_memory_is(cli):
    assert "a temporary file" in " ".join(cli("demo", "--help")[1].split())


def test_help_loads_none_of_the_heavy_packages():
    script = (
        "import sys\nfrom mnemic.cli import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print(sorted({'numpy', 'scipy', 'onnxruntime', 'sqlalchemy', 'tokenizers', 'alembic'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


# the main path ---------------------------------------------------------------------------------------------


def test_search_json_has_exactly_the_documented_shape(filled):
    code, out, err = filled(*words("search", "Tadeus", "--json"))
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert list(found) == ["results", "relevance", "nothing_relevant", "calibrated", "took_ms"]
    assert list(found["results"][0]) == [
        "trace_id", "turn_ids", "spans", "session_id", "speakers", "timestamp", "text", "score", "signals", "path",
    ]  # fmt: skip
    hit = next(hit for hit in found["results"] if "m2" in hit["turn_ids"])
    assert ["m2", 0, len("My cat is called Tadeus.")] in hit["spans"]
    assert hit["session_id"] == "said"
    assert hit["path"] == []
    assert 0 < hit["score"] < 1
    assert found["calibrated"] is False  # another embedder's cosines


def test_explain_adds_the_path(filled):
    _, out, _ = filled(*words("search", "Tadeus", "--json", "--explain"))
    [first, *_] = json.loads(out)["results"]
    assert [list(step) for step in first["path"][0]] == [["kind", "id", "text", "weight"]] * len(first["path"][0])
    assert (first["path"][0][0]["kind"], first["path"][0][-1]["kind"]) == ("query", "trace")
    assert '"Tadeus" >' in filled(*words("search", "Tadeus", "--explain"))[1]


@pytest.mark.parametrize(
    ("options", "turns"),
    [
        (("--session", "s2"), {"m3"}),
        (("--agent", "helper"), {"m3"}),
        (("--filter", '{"mood": "good"}'), {"m2"}),
        (("--granularity", "turn", "-k", "1"), {"m2"}),
        (("--until", "2024-03-02"), {"m1"}),
        (("--since", "2024-03-02"), set()),
        (("--threshold", "99"), set()),
        (("--config", "hero", "--reference-time", "2024-05-01"), {"m1", "m2", "m3"}),
    ],
)
def test_search_options_narrow(filled, options, turns):
    code, out, _ = filled(*words("search", "called Tadeus", "--json", *options))
    assert code == 0
    assert {turn for hit in json.loads(out)["results"] for turn in hit["turn_ids"]} == turns


def test_search_for_people(filled):
    code, out, err = filled(*words("search", "Tadeus"))
    assert (code, err) == (0, "")
    assert "My cat is called Tadeus." in out
    assert "score" in out


def test_context(filled):
    assert "My cat is called Tadeus." in filled(*words("context", "Tadeus"))[1]
    assert "Tadeus" in json.loads(filled(*words("context", "Tadeus", "--json"))[1])["context"]


@pytest.mark.parametrize(("query", "options"), [("zeppelin", ()), ("Tadeus", ("--max-tokens", "1"))])
def test_a_context_is_one_search_whether_it_finds_or_not(filled, monkeypatch, query, options):
    asked = []
    search = Searcher.search
    monkeypatch.setattr(Searcher, "search", lambda *given: asked.append(given) or search(*given))
    filled(*words("context", query, *options))
    assert len(asked) == 1


def test_nothing_relevant_is_said_and_nothing_printed(filled):
    nothing = "Nothing relevant: nothing in this memory seems to answer that."
    assert filled(*words("context", "zeppelin")) == (0, "", f"{nothing}\n")
    assert filled(*words("context", "zeppelin", "--json")) == (0, '{"context": ""}\n', f"{nothing}\n")
    assert filled(*words("search", "zeppelin", "--threshold", "9")) == (0, "", f"{nothing}\n")
    assert filled(*words("search", "zeppelin"))[2] == f"{nothing} The nearest words are above.\n"
    code, out, err = filled(*words("context", "Tadeus", "--max-tokens", "1"))
    assert (code, out, err) == (0, "", "What is relevant does not fit into 1 token; give more with --max-tokens.\n")


@pytest.mark.parametrize("command", [("search", "Tadeus"), ("context", "Tadeus"), ("notes",), ("export",)])
def test_a_user_who_is_not_there_is_not_the_same_as_nothing_relevant(filled, command):
    embedder = ("--embedder", "none") if len(command) == 2 else ()
    assert filled(*command, "--user", "an\x1ba", *embedder) == (0, "", "User 'an\\x1ba' has nothing in memory.\n")
    for known in (("search", "zeppelin"), ("notes", "--about", "Nobody")):
        assert "has nothing" not in filled(*known, "--user", "ana", *embedder)[2]


def test_add_finds_its_words_again_and_never_twice(cli):
    code, out, err = cli(
        *words(
            "add",
            "Ana's bike is blue 🚲",
            "--session",
            "s",
            "--speaker",
            "Ana",
            "--id",
            "b1",
            "--timestamp",
            "2024-05-06",
        )
    )
    assert (code, out, err) == (0, "Remembered as b1\n", "")
    assert cli(*words("add", "Ana's bike is blue 🚲", "--id", "b1"))[1] == "Known already: b1\n"
    added = json.loads(cli(*words("add", "It squeaks.", "--role", "assistant", "--json"))[1])
    assert (len(added["turn_ids"]), added["new"]) == (1, 1)
    [hit] = json.loads(cli(*words("search", "bike", "--json", "--session", "s"))[1])["results"]
    assert hit["text"] == "Ana (2024-05-06 00:00 UTC): Ana's bike is blue 🚲"


def test_add_reads_standard_input(cli):
    done = subprocess.run(
        [sys.executable, "-m", "mnemic", *words("add", "-", "--id", "x")],
        input=b"caf\xc3\xa9 \xff",
        capture_output=True,
        check=True,
    )
    assert done.stdout == b"Remembered as x\n"
    assert "café" in cli(*words("search", "café"))[1]


def test_notes_and_status(filled):
    [note, *_] = json.loads(filled("notes", "--user", "ana", "--json")[1])["notes"]
    assert (note["about"], note["text"]) == ("Ana", "I moved to Lisbon.")
    assert "I moved to Lisbon." in filled("notes", "--user", "ana", "--about", "Ana")[1]
    assert filled("notes", "--user", "ana", "--about", "Nobody")[1] == ""
    status = json.loads(filled("status", "--user", "ana", "--json")[1])
    assert (status["users"], status["counts"]["turns"], status["counts"]["sessions"]) == (1, 3, 2)
    assert "ana: 3 turns, 2 sessions, 2 traces, " in filled("status", "--user", "ana")[1]
    filled(*words("delete", "--session", "said", "--yes"))
    assert "ana: 1 turn, 1 session, 1 trace, " in filled("status", "--user", "ana")[1]
    assert json.loads(filled("status", "--json")[1])["counts"] is None


def test_export_and_import_again(filled, tmp_path):
    code, out, _ = filled("export", "--user", "ana")
    assert code == 0
    assert filled("export", "--user", "ana", "--output", "out.jsonl")[:2] == (0, "")
    assert (tmp_path / "out.jsonl").read_text(encoding="utf-8") == out
    assert (tmp_path / "out.jsonl").stat().st_mode & 0o077 == 0  # nobody else may read it
    assert filled("import", "out.jsonl", "--user", "bo", "--embedder", "none") == (
        0,
        "3 messages in 2 sessions of bo; 3 new\n4 notes, episodes and log entries written back as they were\n",
        "Reading out.jsonl as mnemic\n",
    )
    assert filled("export", "--user", "bo")[1].splitlines()[1:] == out.splitlines()[1:]
    code, said, _ = filled("import", "out.jsonl", "--user", "ana", "--embedder", "none")
    assert (code, said.splitlines()[0]) == (0, "3 messages in 2 sessions of ana; 0 new")
    assert "ana' has a memory already" in said
    code, _, err = filled("export", "--user", "ana", "--output", "out.jsonl")
    assert (code, err) == (1, "error: out.jsonl exists already: name another file with --output, or remove it first\n")


def test_delete_asks_and_without_anybody_to_ask_refuses(filled, monkeypatch):
    assert filled("delete", "--user", "ana", "--all")[0] == 2
    assert filled("delete", "--user", "ana", "--yes")[0] == 2
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("typer.confirm", lambda question, **_: print(question))
    code, out, _ = filled("delete", "--user", "ana", "--turn", "m2", "--embedder", "none")
    assert (code, out) == (0, "Erase message m2 of ana for ever?\nErased 1 message\n")
    assert "Tadeus" not in filled("search", "cat", "--session", "said", *words()[0:])[1]
    assert json.loads(filled("delete", "--user", "ana", "--session", "s2", "--yes", "--json")[1]) == {"erased": 1}
    assert filled("delete", "--user", "ana", "--all", "--yes")[1] == "Erased 1 message\n"
    assert filled("delete", "--user", "ana", "--turn", "m2", "--yes") == (1, "", "error: user 'ana' has no turn 'm2'\n")


def test_migrate_and_doctor(filled, tmp_path):
    assert json.loads(filled("migrate", "--json")[1])["backup"] is None
    assert filled("migrate")[1].startswith("Nothing to do")
    code, out, _ = filled("doctor", "--json")
    findings = {finding["what"]: finding["verdict"] for finding in json.loads(out)["findings"]}
    assert (findings["integrity"], findings["schema"], findings["file mode"]) == ("ok", "ok", "ok")
    assert findings["tasks"] == "warning"
    assert code == (findings["embedder"] == "wrong")
    code, out, _ = filled("doctor", "--embedder", "none", "--json")
    assert (code, "embedder" in {finding["what"] for finding in json.loads(out)["findings"]}) == (0, False)
    assert filled("doctor", "--embedder", "magic")[0] == 1
    (tmp_path / "m.db").write_bytes(b"not a database" * 1000)
    code, out, _ = filled("doctor")
    assert code == 1
    assert "NO  database: it cannot be opened" in out


def test_reembed_gives_vectors_to_what_was_added_without(filled):
    assert json.loads(filled("status", "--user", "ana", "--json")[1])["counts"]["pending"] == 3
    code, out, _ = filled("reembed", "--json")
    assert (code, json.loads(out)["embedder"]) == (0, "mnemic-minilm-1")
    assert json.loads(filled("status", "--user", "ana", "--json")[1])["counts"]["pending"] == 0
    code, out, _ = filled("search", "Which animal lives with Bo?", "--user", "ana", "--json", "-k", "1")
    assert "unit" in json.loads(out)["results"][0]["signals"]


def test_demo_finds_its_answers_and_leaves_nothing_behind(cli, tmp_path):
    code, out, _ = cli("demo", "--json")
    assert code == 0
    assert all(set(q["found"]) == set(q["turn_ids"]) for q in json.loads(out)["questions"])
    assert list(tmp_path.iterdir()) == []
    code, out, _ = cli("demo", "--db", "kept.db", "--embedder", "none")
    assert code == 0
    assert "Since Monday I live in Groningen" in out
    assert cli("demo", "--db", "kept.db", "--embedder", "none")[0] == 0
    with Memory.open("kept.db", embedder=None) as memory:
        assert len(memory.get_all(user_id="demo")) == 80
