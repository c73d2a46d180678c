"""Importing from the command line."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest

from mnemic.memory import Memory


def words(*arguments: str) -> tuple[str, ...]:
    return (*arguments, "--user", "ana", "--embedder", "none")


def test_import_counts_what_it_left_out(cli, tmp_path):
    lines = [
        '{"role": "user", "content": "one"}',
        '{"role": "king", "content": "two"}',
        '{"role": "user", "content": " "}',
        '{"ro',
    ]
    (tmp_path / "chat.jsonl").write_text("\n".join(lines))
    code, out, err = cli(*words("import", "chat.jsonl"))
    assert (code, err) == (0, "Reading chat.jsonl as jsonl\n")
    assert out.startswith("1 message in 1 session of ana; 1 new\n")
    assert out.count("left out 1") == 3
    report = json.loads(cli(*words("import", "chat.jsonl", "--json"))[1])
    assert (report["files"], report["messages"], report["new"], report["users"]) == (
        {"chat.jsonl": "jsonl"},
        1,
        0,
        ["ana"],
    )
    assert {"reason": "not JSON", "count": 1, "first": "line 4", "places": ["line 4"]} in report["skipped"]


@pytest.mark.fault("B137")
def test_import_of_nothing_is_no_success(cli, tmp_path):
    (tmp_path / "chat.jsonl").write_text('{"role": "king", "content": "two"}\n')
    code, out, err = cli(*words("import", "chat.jsonl"))
    assert code == 1
    assert "left out 1" in out
    assert err.endswith("error: nothing could be imported\n")
    assert cli(*words("import", "none.jsonl"))[0] == 1


def test_a_dry_run_reports_and_stores_nothing(cli, tmp_path):
    (tmp_path / "chat.jsonl").write_text('{"role": "user", "content": "one"}\nnope\n')
    code, out, _ = cli("import", "chat.jsonl", "--dry-run")
    assert (code, out) == (
        0,
        "1 message in 1 session could be imported; nothing was stored\n  left out 1: not JSON (first: line 2)\n",
    )
    report = json.loads(cli("import", "chat.jsonl", "--dry-run", "--json")[1])
    assert (report["dry_run"], report["messages"], report["new"], report["unembedded"]) == (True, 1, 0, 0)
    assert not (tmp_path / "m.db").exists()


def test_words_now_and_vectors_by_a_worker(cli, tmp_path):
    (tmp_path / "chat.jsonl").write_text('{"role": "user", "content": "The landlord keeps bees."}\n')
    code, out, _ = cli("import", "chat.jsonl", "--user", "ana", "--embed", "later")
    assert (code, out.splitlines()[1:]) == (
        0,
        ["1 wait for their vectors, and are found by their words: mnemic worker makes them"],
    )
    assert "bees" in cli("search", "bees", "--user", "ana", "--embedder", "none")[1]
    assert cli("worker", "--once")[:2] == (0, "Nothing is left to do\n")
    assert json.loads(cli("status", "--user", "ana", "--json")[1])["counts"]["pending"] == 0


@pytest.mark.parametrize("column", ["Text", "=Text", "content="])
def test_a_column_is_a_field_and_a_name(cli, tmp_path, column):
    (tmp_path / "t.csv").write_text("Text\nHi.\n")
    code, _, err = cli("import", "t.csv", "--user", "ana", "--column", column)
    assert (code, "--column is written FIELD=NAME" in err) == (2, True)


def folder(tmp_path):
    """Two conversations, and three files that are none."""
    (tmp_path / "chats" / "old").mkdir(parents=True)
    (tmp_path / "chats" / "walk.txt").write_text("Ana: Where is the key?\nBo: In my coat.\n")
    (tmp_path / "chats" / "old" / "walk.txt").write_text("Ana: Where is the key?\nBo: On the table.\n")
    (tmp_path / "chats" / "photo.png").write_bytes(b"\x89PNG\r\n")
    (tmp_path / "chats" / "notes.md").write_text("# Notes\n\nWords.\n")
    (tmp_path / "chats" / "more.md").write_text("# More\n\nWords.\n")


def test_a_folder_is_imported_with_one_report(cli, tmp_path):
    folder(tmp_path)
    code, out, err = cli(*words("import", "chats"))
    assert (code, err) == (0, "Reading chats: 2 files as text\n")
    assert out == (
        "4 messages in 2 sessions of ana; 4 new\n"
        "  left out 2: a file that is no conversation (first: more.md)\n"
        "  left out 1: a file that is not UTF-8 text (first: photo.png)\n"
    )
    (tmp_path / "chats" / "late.jsonl").write_text('{"role": "user", "content": "late"}\n')
    report = json.loads(cli(*words("import", "chats", "--json"))[1])
    assert report["files"] == {"late.jsonl": "jsonl", "old/walk.txt": "text", "walk.txt": "text"}
    assert (report["messages"], report["new"], report["sessions"]) == (5, 1, 3)
    with Memory.open("m.db", embedder=None) as memory:
        assert [(turn.session_id, turn.text) for turn in memory.get_all(user_id="ana")] == [
            ("old/walk", "Where is the key?"),
            ("old/walk", "On the table."),
            ("walk", "Where is the key?"),
            ("walk", "In my coat."),
            ("late", "late"),
        ]


def test_a_folder_without_conversations_is_no_success_and_makes_no_database(cli, tmp_path):
    (tmp_path / "chats").mkdir()
    (tmp_path / "chats" / "empty.txt").touch()
    assert cli(*words("import", "chats")) == (
        1,
        "  left out 1: a file that is empty, or damaged from its beginning (first: empty.txt)\n",
        "Reading chats: no conversations\nerror: nothing could be imported\n",
    )
    assert not (tmp_path / "m.db").exists()


def test_many_reasons_are_cut_short(cli, tmp_path):
    (tmp_path / "chat.jsonl").write_text(
        "".join(json.dumps({"role": f"r{i}", "content": "x"}) + "\n" for i in range(21))
        + '{"role": "user", "content": "x"}'
    )
    lines = cli(*words("import", "chat.jsonl"))[1].splitlines()
    assert (len(lines), lines[-1]) == (22, "  and 1 more reason; --json lists them all")


@pytest.mark.fault("B088")
def test_an_updated_import_adds_only_what_is_new(cli, tmp_path):
    chats = [[{"role": "user", "content": f"{i} {j % 2}"} for j in range(4)] for i in range(10)]
    news = []
    for data in (chats, chats, [*chats, [{"role": "user", "content": "late"}]], chats[5:]):
        (tmp_path / "chats.json").write_text(json.dumps(data))
        news.append(json.loads(cli(*words("import", "chats.json", "--json"))[1])["new"])
    assert news == [40, 0, 1, 0]
    assert json.loads(cli("status", "--user", "ana", "--json")[1])["counts"]["turns"] == 41


def test_benchmarks_make_a_user_a_conversation_unless_one_is_named(cli, tmp_path):
    turn = {"speaker": "Ana", "dia_id": "D1:1", "text": "The boat is green."}
    conversation = {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": [turn]}
    samples = [{"sample_id": name, "conversation": conversation} for name in ("conv-1", "conv-2")]
    (tmp_path / "locomo.json").write_text(json.dumps(samples))
    assert json.loads(cli("import", "locomo.json", "--embedder", "none", "--json")[1])["users"] == ["conv-1", "conv-2"]
    [hit] = json.loads(cli("search", "boat", "--user", "conv-2", "--embedder", "none", "--json")[1])["results"]
    assert (hit["turn_ids"], hit["session_id"], hit["timestamp"]) == (
        ["D1:1"],
        "session_1",
        "2023-05-08T13:56:00+00:00",
    )
    assert json.loads(cli(*words("import", "locomo.json", "--json"))[1])["new"] == 2
    with Memory.open("m.db", embedder=None) as memory:
        assert [(t.session_id, t.turn_id) for t in memory.get_all(user_id="ana")] == [
            ("conv-1/session_1", "conv-1/D1:1"),
            ("conv-2/session_1", "conv-2/D1:1"),
        ]


def test_other_formats_need_a_user(cli, tmp_path):
    (tmp_path / "chat.txt").write_text("Ana: hi\n")
    code, out, err = cli("import", "chat.txt", "--embedder", "none")
    assert (code, out) == (2, "")
    assert "--user" in err
    assert "MNEMIC_USER" in err
    assert not (tmp_path / "m.db").exists()


def test_interrupted_import_keeps_what_it_has(tmp_path):
    chat = "\n".join(json.dumps({"role": "user", "content": f"number {i} " * 20, "id": f"n{i}"}) for i in range(2000))
    (tmp_path / "chat.jsonl").write_text(chat)
    command = [sys.executable, "-m", "mnemic", "import", "chat.jsonl", "--db", "m.db", "--user", "ana"]
    process = subprocess.Popen(
        [*command, "--embedder", "none"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    assert process.stderr.readline().startswith("Reading")
    log = tmp_path / "m.db-wal"
    while not (log.exists() and log.stat().st_size):
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err.endswith("Interrupted. What was imported is kept; the same command goes on from there.\n")
    assert "Traceback" not in err
    with Memory.open(tmp_path / "m.db", embedder=None) as memory:
        kept = [turn.turn_id for turn in memory.get_all(user_id="ana")]
        assert kept == [f"n{i}" for i in range(len(kept))]
        assert len(kept) < 2000
        assert memory.check() == []
