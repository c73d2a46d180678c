"""The command line called wrongly, and with hostile words."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mnemic import Enriching
from mnemic.memory import Memory
from reading_kit import ReadingModel

HOSTILE = "[bold]not bold[/bold] [link=http://x]y[/link] \x1b[2J \x9b2J \u202eabc \x07 plain"


def words(*arguments: str) -> tuple[str, ...]:
    return (*arguments, "--user", "ana", "--embedder", "none")


# errors ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("search", "x"), 2, "MNEMIC_USER"),
        (("add", "x"), 2, "MNEMIC_USER"),
        (("search", "x", "--user", " "), 1, "user_id"),
        (("search", " ", "--user", "ana"), 1, "query is blank"),
        (("search", "x", "--user", "ana", "-k", "0"), 1, "top_k"),
        (("search", "x", "--user", "ana", "--config", "best"), 2, "--config"),
        (("search", "x", "--user", "ana", "--since", "soon"), 1, "soon"),
        (("search", "x", "--user", "ana", "--filter", "[1]"), 2, "--filter"),
        (("search", "x", "--user", "ana", "--filter", "{"), 2, "--filter"),
        (("search", "x", "--user", "ana", "--embedder", "magic"), 1, "magic"),
        (("search", "x", "--user", "ana", "--db", "none.db"), 1, "none.db"),
        (("answer", "x"), 2, "MNEMIC_USER"),
        (("answer", "x", "--user", "ana", "--embedder", "none"), 1, "MNEMIC_MODEL"),
        (("answer", "x", "--user", "ana", "--embedder", "none", "--model", "magic"), 1, "'magic'"),
        (("add", " ", "--user", "ana"), 1, "empty"),
        (("add", "x", "--user", "ana", "--timestamp", "soon"), 1, "soon"),
        (("add", "x", "--user", "ana", "--timezone", "Mars"), 1, "Mars"),
        (("import", "none.json", "--user", "ana"), 1, "no such file"),
        (("import", "m.db", "--user", "ana"), 1, "not UTF-8 text"),
        (("import", ".", "--user", "ana", "--session", "s"), 2, "--session"),
        (("delete", "--user", "ana", "--session", "none", "--yes"), 1, "none"),
        (("notes", "--user", "ana", "--as-of", "soon"), 1, "soon"),
        (("fly",), 2, "fly"),
    ],
)  # fmt: skip
def test_an_error_is_one_clear_line(filled, arguments, code, message):
    given, out, err = filled(*arguments)
    assert (given, out) == (code, "")
    assert message in err
    assert "Traceback" not in err
    if code == 1:
        assert err.startswith("error: ")
        assert err.count("\n") == 1


def test_the_environment_names_user_and_database(filled, monkeypatch, tmp_path):
    monkeypatch.setenv("MNEMIC_USER", "ana")
    assert filled("search", "Tadeus", "--embedder", "none")[0] == 0
    monkeypatch.setenv("MNEMIC_DB", str(tmp_path / "other.db"))
    assert filled("search", "Tadeus", "--embedder", "none")[0] == 1


@pytest.mark.fault("B095")
def test_every_user_sees_their_own_words_only(filled):
    filled("add", "My dog is called Rex.", "--user", "bo", "--embedder", "none")
    assert "Rex" not in filled(*words("search", "called"))[1]
    for stranger in ("nobody", "*", "%", "an_", "ana*"):
        found = json.loads(filled("search", "called", "--user", stranger, "--embedder", "none", "--json")[1])
        assert (found["results"], found["nothing_relevant"]) == ([], True)


# hostile words ---------------------------------------------------------------------------------------------


def assert_harmless(out: str) -> None:
    assert "[bold]not bold[/bold] [link=http://x]y[/link]" in out
    assert not any(sign in out for sign in ("\x1b[2J", "\x9b", "\u202e", "\x07"))


@pytest.mark.parametrize("terminal", [False, True])
def test_words_neither_command_the_terminal_nor_the_markup(filled, tmp_path, monkeypatch, terminal):
    said = [{"role": "user", "content": HOSTILE, "name": "\x1b[31mMallory", "id": "x\x1b[2J", "session_id": "\x1b[2J"}]
    (tmp_path / "hostile.json").write_text(json.dumps(said))
    assert "\x1b" not in filled(*words("import", "hostile.json"))[1]
    if terminal:
        monkeypatch.setattr("sys.stdout.isatty", lambda: True)
        monkeypatch.setenv("COLUMNS", "200")
    assert_harmless(filled(*words("search", "plain", "--explain"))[1])
    assert_harmless(filled(*words("context", "plain"))[1])
    for arguments in (words("search", "plain", "--json"), ("export", "--user", "ana")):
        out = filled(*arguments)[1]
        assert "\\u001b[2J" in out
        assert_harmless(out)
    [hit] = json.loads(filled(*words("search", "plain", "--json", "--session", "\x1b[2J"))[1])["results"]
    assert HOSTILE in hit["text"]


@pytest.fixture
def hostile(cli, tmp_path):
    """Notes of ana's in hostile words: N1, by a model of such a name, waits for her; N2 and N3 say the same."""
    model = ReadingModel(name="scripted:\x1b[2J")
    episode = {"start": 0, "end": 0, "topic": HOSTILE, "summary": HOSTILE}
    model.say["facts"] = lambda _: json.dumps({"facts": [{"from": [1], "text": HOSTILE}]})
    model.say["segment"] = lambda _: json.dumps({"segments": [episode]})
    settings = Enriching(approve=True)
    with Memory.open(tmp_path / "m.db", embedder=None, model=model, enrichment=settings, workers=0) as memory:
        for id, enrich in (("x\x1b[2J", "now"), ("y\x9b2J", "never")):
            said = {"role": "user", "name": "\x1b[31mMallory", "content": HOSTILE, "id": id, "session_id": id}
            memory.add(said, user_id="ana", enrich=enrich)
            note = {"id": id, "text": HOSTILE, "sources": [id], "about": "\x1b[31mMallory", "kind": "preference"}
            memory.add_notes(note, user_id="ana")
    return cli


@pytest.mark.parametrize("json_too", [(), ("--json",)], ids=["text", "json"])
@pytest.mark.parametrize("decide", ["approve", "reject"])
@pytest.mark.parametrize("terminal", [False, True])
def test_notes_their_history_and_episodes_do_neither(hostile, monkeypatch, terminal, decide, json_too):
    if terminal:
        monkeypatch.setattr("sys.stdout.isatty", lambda: True)
        monkeypatch.setenv("COLUMNS", "200")
    without = ("--embedder", "none")
    commands = [
        ("proposals",), ("history", "N1"), (decide, "N1", *(without if decide == "approve" else ())),
        ("reflect", "--dry-run", *without), ("reflect", *without), ("undo", "O5"), ("notes",),
        ("forget", "--max-notes", "1", "--dry-run"), ("forget", "--max-notes", "1"), ("restore", "N2"),
        ("history", "N3"), ("episodes", *without),
    ]  # fmt: skip
    for command in commands:
        assert_harmless(hostile(*command, "--user", "ana", *json_too)[1])


@pytest.mark.fault("B196")
def test_any_locale_prints_utf8(tmp_path):
    environment = {
        "PATH": os.environ["PATH"], "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0",
        "PYTHONPATH": os.pathsep.join(sys.path), "MNEMIC_DB": "mémoire.db", "MNEMIC_USER": "zoë",
    }  # fmt: skip

    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", "mnemic", *(argument.encode() for argument in arguments)]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
        assert (done.returncode, done.stderr.replace(b"Reading gespr\xc3\xa4ch.json as messages\n", b"")) == (0, b"")
        return done.stdout.decode()

    said = [{"role": "user", "name": "Zoë", "content": "Die Kaffeemühle 🫘 ist 壊れた", "id": "é"},
            {"role": "user", "content": "halb \ud83d"}]  # fmt: skip
    Path(tmp_path / "gespräch.json").write_text(json.dumps(said))
    assert "; 2 new" in run("import", "gespräch.json", "--embedder", "none")
    assert "Remembered as ö" in run("add", "Noch eine Kaffeemühle 🫘", "--id", "ö", "--embedder", "none")
    out = run("search", "Kaffeemühle halb", "--embedder", "none")
    assert "Die Kaffeemühle 🫘 ist 壊れた" in out
    assert "Noch eine Kaffeemühle 🫘" in out
    assert "halb \ufffd" in out
    exported = [json.loads(line) for line in run("export").splitlines()]
    assert [record["content"] for record in exported if "content" in record] == [
        said[0]["content"], said[1]["content"], "Noch eine Kaffeemühle 🫘",
    ]  # fmt: skip
    assert (tmp_path / "mémoire.db").exists()


@pytest.mark.parametrize("arguments", ["export --user ana", "import --help"])
@pytest.mark.parametrize("onto", ["| true", "| head -n 1", ">&-", "2>&-", ">/dev/full"])
def test_as_a_module_onto_what_does_not_listen(filled, arguments, onto):
    command = f"{sys.executable} -m mnemic {arguments} {onto}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


@pytest.mark.fault("B196")
def test_a_file_gives_its_session_one_name_in_every_locale(tmp_path):
    (tmp_path / "chats").mkdir()
    Path(tmp_path / "chats" / "gespräch.txt").write_text("Ana: ja\n")
    for locale in ("C", "C.UTF-8"):
        environment = {
            "PATH": os.environ["PATH"], "LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0",
            "PYTHONPATH": os.pathsep.join(sys.path), "MNEMIC_DB": "m.db", "MNEMIC_USER": "ana",
        }  # fmt: skip
        for path in ("chats", "chats/gespräch.txt", "chats/kein gespräch.txt"):
            command = [sys.executable, "-m", "mnemic", "import", path.encode(), "--embedder", "none"]
            done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
            assert path in done.stderr.decode()
    with Memory.open(tmp_path / "m.db", embedder=None) as memory:
        assert [turn.session_id for turn in memory.get_all(user_id="ana")] == ["gespräch"]
