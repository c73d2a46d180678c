"""Backups of a database that is used, and what the doctor mends: asked for, checked, and never half."""

from __future__ import annotations

import sqlite3
import stat
import threading
from contextlib import closing

import pytest

from mnemic.errors import StoreError
from mnemic.models.doubles import HashEmbedder

WORDS = "The barge Aurora lies in Rotterdam."


@pytest.mark.fault("B194")
def test_a_backup_of_a_database_that_is_written_is_one_moment_of_it_and_is_restored(open_memory, tmp_path):
    memory = open_memory(workers=0)
    memory.add(WORDS, user_id="u", session_id="before")
    stop = threading.Event()
    added = []

    def write():
        while not stop.is_set():
            number = len(added)
            said = [{"role": "user", "content": f"Load {number}, part {part}."} for part in range(3)]
            added.append(memory.add(said, user_id="u", session_id=f"s{number}").turn_ids)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        while len(added) < 3:
            stop.wait(0.01)
        known = len(added)
        size = memory.backup(tmp_path / "copy.db")
    finally:
        stop.set()
        writer.join()
    path = tmp_path / "copy.db"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sorted(one.name for one in tmp_path.glob("copy*")) == ["copy.db"]
    assert size == path.stat().st_size
    with type(memory).open(path, embedder=HashEmbedder(), workers=0) as restored:
        assert restored.check() == []
        turns = [turn.turn_id for turn in restored.get_all(user_id="u")]
        calls = (len(turns) - 1) // 3
        assert known <= calls <= len(added)
        assert turns[1:] == [turn_id for call in added[:calls] for turn_id in call]
        assert restored.search("Where is the barge Aurora?", user_id="u", top_k=1).results[0].quotes == (WORDS,)
        restored.add("It sails.", user_id="u")


def test_a_backup_replaces_nothing_and_leaves_nothing_where_it_fails(memory, tmp_path, monkeypatch):
    memory.add(WORDS, user_id="u")
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(StoreError, match=r"mine\.txt exists already"):
        memory.backup(tmp_path / "mine.txt")
    assert (tmp_path / "mine.txt").read_text() == "mine"
    with pytest.raises(StoreError, match="no backup was written to"):
        memory.backup(tmp_path / "no folder" / "copy.db")
    monkeypatch.setattr("mnemic.store.sql_restoring.check.inconsistencies", lambda _: ["3 cues are mentioned nowhere"])
    with pytest.raises(StoreError, match="not sound, and was removed: 3 cues"):
        memory.backup(tmp_path / "copy.db")
    assert not list(tmp_path.glob("copy*"))


def test_the_command_backs_up_and_a_damaged_copy_is_no_good_backup(filled, tmp_path):
    code, out, _ = filled("backup", "copy.db")
    assert (code, "found sound" in out) == (0, True)
    assert filled("backup", "copy.db")[0] == 1
    code, out, _ = filled("search", "Lisbon", "--db", "copy.db", "--user", "ana", "--embedder", "none")
    assert "I moved to Lisbon." in out
    body = bytearray((tmp_path / "copy.db").read_bytes())
    body[8192 * 3 : 8192 * 3 + 16] = b"\xff" * 16
    (tmp_path / "copy.db").write_bytes(body)
    assert filled("doctor", "--db", "copy.db", "--embedder", "none")[0] == 1


def test_the_doctor_mends_only_what_it_was_told_yes_to(filled, tmp_path, monkeypatch):
    path = tmp_path / "m.db"
    path.chmod(0o644)
    asked = []
    monkeypatch.setattr("typer.confirm", lambda question, **_: asked.append(question))
    assert "others can read it" in filled("doctor", "--repair", "--embedder", "none")[1]
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert any("chmod 600" in question for question in asked)
    monkeypatch.setattr("typer.confirm", lambda question, **_: "chmod" in question)
    _, out, _ = filled("doctor", "--repair", "--embedder", "none")
    assert "others can read it" not in out
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_doctor_makes_vectors_that_nothing_waits_for(tmp_path, cli, monkeypatch):
    monkeypatch.setattr("typer.confirm", lambda question, **_: "lacking" in question)
    assert cli("add", "I moved to Lisbon.", "--db", "v.db", "--user", "ana")[0] == 0
    with closing(sqlite3.connect(tmp_path / "v.db")) as raw, raw:
        raw.execute("DELETE FROM trace_vectors")
    code, out, _ = cli("doctor", "--db", "v.db")
    assert (code, "nothing says that it waits" in out) == (1, True)
    code, out, _ = cli("doctor", "--db", "v.db", "--repair")
    assert (code, "nothing says that it waits" in out) == (0, False)


def test_the_doctor_names_orphans_and_vectors_of_a_wrong_size(filled, tmp_path):
    with sqlite3.connect(tmp_path / "m.db") as raw:
        raw.execute("DELETE FROM unit_cues")
        raw.execute("DELETE FROM note_cues")
    code, out, _ = filled("doctor", "--embedder", "none")
    assert code == 1
    assert "cues are mentioned nowhere" in out
