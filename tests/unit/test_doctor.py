"""What could be wrong with an installation or a database."""

from __future__ import annotations

import sqlite3
from collections import namedtuple
from contextlib import closing

import pytest

from mnemic import doctor
from mnemic.errors import EmbedderUnavailable
from mnemic.memory import Memory
from mnemic.memory.verifying import against_rows
from mnemic.models.doubles import HashEmbedder
from mnemic.store import open_store

Usage = namedtuple("Usage", "total used free")


def verdicts(findings) -> dict[str, str]:
    return {finding.what: finding.verdict for finding in findings}


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "m.db"
    with Memory.open(path, embedder=HashEmbedder()) as memory:
        memory.add("I moved to Lisbon.", user_id="ana")
    return path


def checked(path, fingerprint=None, otherwise="wrong"):
    def fits(held):
        return "ok" if fingerprint in (None, held) else otherwise

    return list(
        doctor.database(
            lambda: open_store(path, migrate=False), fits, lambda name: f"make those of {name}", against_rows
        )
    )


def test_this_python_will_do_and_older_ones_will_not():
    assert set(verdicts(doctor.runtime()).values()) == {"ok"}
    old = list(doctor.runtime((3, 10, 9), (3, 31, 1)))
    assert verdicts(old) == {"Python": "wrong", "SQLite": "wrong"}
    assert [finding.found for finding in old] == ["3.10.9", "3.31.1"]


def test_the_embedder_says_itself_what_is_wrong():
    def missing() -> None:
        raise EmbedderUnavailable("model.onnx is missing: pip install it")

    assert doctor.embedder(lambda: None).verdict == "ok"
    assert doctor.embedder(missing) == doctor.Finding(
        "embedder", "wrong", "search is by words alone", "model.onnx is missing: pip install it"
    )


def test_a_sound_database(database):
    assert set(verdicts(doctor.place(database)).values()) == {"ok"}
    assert set(verdicts(checked(database, HashEmbedder().fingerprint)).values()) == {"ok"}
    assert set(verdicts(checked(database)).values()) == {"ok"}


def test_vectors_that_serve_though_there_are_better_ones_are_a_warning(database):
    (found,) = [one for one in checked(database, "newer", "warning") if one.what == "vectors"]
    assert (found.verdict, found.way_out) == ("warning", "make those of None")


def test_a_database_that_is_not_there_yet(tmp_path):
    assert verdicts(doctor.place(tmp_path / "folder" / "none.db")) == {"database": "warning", "disk": "ok"}


def test_others_can_read_it(database):
    database.chmod(0o644)
    [mode] = [finding for finding in doctor.place(database) if finding.what == "file mode"]
    assert (mode.verdict, mode.way_out) == ("warning", f"chmod 600 {database}")


def test_a_full_disk(database, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _: Usage(1 << 40, 1 << 40, 1 << 20))
    assert verdicts(doctor.place(database))["disk"] == "warning"


def test_vectors_of_another_embedder(database):
    assert verdicts(checked(database, "another"))["vectors"] == "wrong"


def test_turns_that_wait_for_their_vectors(database):
    with Memory.open(database, embedder=None) as memory:
        memory.add("More.", user_id="bo")
    [tasks] = [finding for finding in checked(database) if finding.what == "tasks"]
    assert (tasks.verdict, tasks.found) == ("warning", "turns and notes that wait for their vectors: 1")


def test_not_a_database(tmp_path):
    path = tmp_path / "m.db"
    path.write_bytes(b"words " * 4000)
    [finding] = checked(path)
    assert (finding.what, finding.verdict) == ("database", "wrong")
    assert "m.db" in finding.way_out


def test_a_damaged_database(database):
    connection = sqlite3.connect(database)
    connection.execute("DELETE FROM units")
    connection.commit()
    connection.close()
    assert verdicts(checked(database))["integrity"] == "wrong"


def changed(path, statement):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


def test_what_no_vector_is_made_for_is_found(database):
    changed(database, "DELETE FROM unit_vectors")
    [lost] = [finding for finding in checked(database) if finding.what == "lost vectors"]
    assert (lost.verdict, lost.way_out) == ("wrong", "make those of hash-64")
    with Memory.open(database, embedder=HashEmbedder()) as memory:
        memory.reembed(HashEmbedder())
    assert set(verdicts(checked(database)).values()) == {"ok"}


def test_an_index_that_lacks_what_the_rows_have(database):
    with Memory.open(database, embedder=HashEmbedder()) as memory:
        memory.add([{"role": "user", "content": text} for text in ("I like tea.", "Rain.")], user_id="bo")
    changed(database, "DELETE FROM trace_spans WHERE user_id = CAST('bo' AS BLOB) AND seq = 1")
    [index] = [finding for finding in checked(database) if finding.what == "index"]
    assert (index.verdict, "'bo'" in index.found, "'ana'" in index.found) == ("wrong", True, False)
    assert "turns in traces 1, not 2" in index.found


def test_an_index_in_use_that_was_changed_is_told_and_made_anew(database):
    with Memory.open(database, embedder=HashEmbedder()) as memory:
        memory.search("Lisbon", user_id="ana")
        assert memory.check() == []
        with memory._indexes.graph("ana") as (graph, _):
            graph.unit_vectors[0, 0] += 1
        [problem] = memory.check()
        assert "'ana'" in problem
        assert "units" in problem
        assert memory.check() == []
        assert memory.search("Lisbon", user_id="ana").results


def test_files_beside_it_that_others_can_read_or_nobody_can_write(database, monkeypatch):
    beside = database.with_name("m.db-wal")
    beside.write_bytes(b"")
    beside.chmod(0o640)
    [mode] = [finding for finding in doctor.place(database) if finding.what == "file mode"]
    assert (mode.verdict, mode.way_out) == ("warning", f"chmod 600 {beside}")
    assert verdicts(doctor.place(database))["permissions"] == "ok"
    monkeypatch.setattr("os.access", lambda path, mode: path != database)  # root may write everything
    [found] = [finding for finding in doctor.place(database) if finding.what == "permissions"]
    assert (found.verdict, found.found) == ("wrong", f"you may not write {database}")
