"""A database that cannot be used as it is: each failure names the file and the way out, and changes nothing."""

from __future__ import annotations

import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from store_faults_kit import NOW, batch, in_fork

from mnemic.errors import StoreCorrupt, StoreError, StoreFull, StoreLocked, StoreNewer, StoreReadOnly
from mnemic.store import migrate, open_store
from mnemic.store.sqlite import APPLICATION_ID, SqliteFile


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A closed database with one turn."""
    path = tmp_path / "memory.db"
    with closing(open_store(path)) as store:
        store.write("u", batch("a"), now=NOW)
    return path


def turn_ids(path: Path) -> list[str]:
    with closing(open_store(path)) as store:
        assert store.check() == []
        return [turn.turn_id for turn in store.turns("u")]


# locks -------------------------------------------------------------------------------------------------


def test_a_writer_waits_for_another_and_gives_up_in_the_end(path: Path) -> None:
    with closing(open_store(path, busy_timeout_s=0.05)) as store, closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreLocked, match=r"memory\.db is locked by another process"):
            store.write("u", batch("b"), now=NOW)
        assert [turn.turn_id for turn in store.turns("u")] == ["a"]
        other.rollback()
        store.write("u", batch("b"), now=NOW)
    assert turn_ids(path) == ["a", "b"]


def test_a_new_file_that_somebody_locks(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreLocked, match=r"new\.db"):
            open_store(path, busy_timeout_s=0.05)
    assert turn_ids(path) == []


# permissions -------------------------------------------------------------------------------------------


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that another user may enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    yield folder
    folder.chmod(0o777)
    shutil.rmtree(folder)


def test_a_read_only_file_can_be_read(path: Path, open_folder: Path) -> None:
    copy = Path(shutil.copy(path, open_folder))
    copy.chmod(0o444)

    def read() -> list[str]:
        with closing(open_store(copy)) as store:
            found = [turn.turn_id for turn in store.turns("u")]
            with pytest.raises(StoreReadOnly, match=r"memory\.db cannot be written"):
                store.write("u", batch("b"), now=NOW)
            with pytest.raises(StoreReadOnly):
                store.set_setting("a", "b")
            return found + [turn.turn_id for turn in store.turns("u")]

    assert in_fork(read, as_nobody=True) == ["a", "a"]


@pytest.mark.parametrize(("file_mode", "folder_mode"), [(0o444, 0o555), (0o666, 0o555), (None, 0o555)])
def test_a_read_only_folder_is_refused(path: Path, open_folder: Path, file_mode: int | None, folder_mode: int) -> None:
    copy = open_folder / "memory.db"
    if file_mode is not None:
        shutil.copy(path, copy)
        copy.chmod(file_mode)
    open_folder.chmod(folder_mode)
    with pytest.raises(StoreReadOnly, match="allow writing to the file and to its folder"):
        in_fork(lambda: open_store(copy), as_nobody=True)


def test_an_unreadable_file_is_refused(path: Path, open_folder: Path) -> None:
    copy = Path(shutil.copy(path, open_folder))
    copy.chmod(0)
    with pytest.raises(StoreError, match="check its permissions"):
        in_fork(lambda: open_store(copy), as_nobody=True)


@pytest.mark.parametrize("mask", [0, 0o022, 0o777])
def test_files_are_private_whatever_the_umask(tmp_path: Path, mask: int) -> None:
    path = tmp_path / "memory.db"

    def modes() -> dict[str, int]:
        import os

        os.umask(mask)
        with closing(open_store(path)) as store:
            store.write("u", batch("a"), now=NOW)
            return {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}

    assert in_fork(modes) == {"memory.db": 0o600, "memory.db-wal": 0o600, "memory.db-shm": 0o600}


# not ours ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"not a database at all\n" * 400, b"\0" * 5000, b"x"])
def test_a_file_that_is_no_database(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    for attempt in (open_store, migrate):
        with pytest.raises(StoreCorrupt, match=r"notes\.txt is not a database"):
            attempt(path)
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_the_database_of_another_program(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute(f"PRAGMA journal_mode={mode}")
        other.execute("CREATE TABLE turns (text)")
        other.execute("CREATE TABLE alembic_version (version_num)")
    before = path.read_bytes()
    with pytest.raises(StoreCorrupt, match="another program"):
        open_store(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_an_empty_file_becomes_a_database(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.touch()
    assert turn_ids(path) == []


def test_a_newer_database_is_left_alone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("UPDATE alembic_version SET version_num = '9999'")
    before = path.read_bytes()
    for attempt in (open_store, migrate):
        with pytest.raises(StoreNewer, match=r"memory\.db was written by a newer mnemic .*9999.*; update"):
            attempt(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("stamps", [0, 2])
def test_a_database_without_one_stamp_is_damaged(path: Path, stamps: int) -> None:
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("DELETE FROM alembic_version")
        other.executemany("INSERT INTO alembic_version VALUES (?)", [(str(i),) for i in range(stamps)])
    with pytest.raises(StoreCorrupt, match="does not say which schema"):
        open_store(path)


def test_damage_is_named(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        (page,) = other.execute("SELECT rootpage FROM sqlite_master WHERE name = 'turns'").fetchone()
        (size,) = other.execute("PRAGMA page_size").fetchone()
    content = bytearray(path.read_bytes())
    content[(page - 1) * size : page * size] = bytes(size)
    path.write_bytes(content)
    with (
        closing(open_store(path)) as store,
        pytest.raises(StoreCorrupt, match=r"memory\.db is damaged .*restore a backup"),
    ):
        store.turns("u")
    content[100:] = bytes(len(content) - 100)
    path.write_bytes(content)
    with pytest.raises(StoreCorrupt, match=r"memory\.db is damaged .*restore a backup"):
        open_store(path)


def test_a_damaged_text_is_named(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("UPDATE turns SET text = x'ff'")
    with closing(open_store(path)) as store, pytest.raises(StoreCorrupt, match="text is damaged"):
        store.turns("u")


def test_check_finds_what_does_not_fit_together(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("DELETE FROM trace_spans")
        other.execute("DELETE FROM unit_cues")
        other.execute("DELETE FROM note_cues")
        other.execute("INSERT INTO embedders VALUES (1, 'fp', 'fp', 4, NULL, 1)")
        other.execute("INSERT INTO cue_vectors SELECT user_id, cue, 1, x'0000' FROM cues")
        other.execute("INSERT INTO unit_vectors SELECT user_id, 99, 0, 1, zeroblob(8) FROM users")
    with closing(open_store(path)) as store:
        problems = store.check()
    assert [problem.removeprefix(f"{path}: ") for problem in problems] == [
        "a row of unit_vectors has lost its row of turns",
        "1 cues are mentioned nowhere",
        "1 traces hold no words",
        "1 rows of cue_vectors have the wrong size; run: mnemic reembed",
    ]


def test_the_header_says_whose_it_is(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    assert APPLICATION_ID.to_bytes(4, "big") == b"mnem" == path.read_bytes()[68:72]


# places ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("missing/folder/memory.db", "the folder .*missing/folder does not exist; create it first"),
        (".", "is a folder; name a file in it"),
        ("file/memory.db", "does not exist; create it first"),
    ],
)
def test_a_place_where_no_file_can_be(tmp_path: Path, place: str, message: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=message):
        open_store(tmp_path / place)
    assert [found.name for found in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("postgresql+asyncpg://host/db", r"does not know postgresql\+asyncpg:// databases"),
        ("postgresql://host:port/db", "this is no address of a database"),
        ("postgresql://host/db?schema=A-b", "a schema is named by small letters"),
        ("mysql://host/db", "does not know mysql://"),
        (":memory:", "names no file"),
        ("sqlite://", "names no file"),
        ("sqlite:///:memory:", "names no file"),
        ("", "names no file"),
        ("a\0b", "names no file"),
        (None, "by its path, not by None"),
        (7, "by its path, not by 7"),
    ],
)
def test_a_name_that_is_no_file(name: str, message: str) -> None:
    with pytest.raises(StoreError, match=message):
        open_store(name)


@pytest.mark.parametrize("name", ["with space.db", "100%.db", "a?b#c.db", "日本語 é.db", "-wal"])
def test_odd_names_are_taken_literally(tmp_path: Path, name: str) -> None:
    with closing(open_store(tmp_path / name)) as store:
        store.write("u", batch("a"), now=NOW)
    assert [found.name for found in tmp_path.iterdir()] == [name]
    assert turn_ids(tmp_path / name) == ["a"]
    assert turn_ids(Path(f"{tmp_path}/./{name}")) == ["a"]


def test_a_url_and_a_relative_path_name_the_same_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with closing(open_store("memory.db")) as store:
        store.write("u", batch("a"), now=NOW)
        monkeypatch.chdir("/")
        assert [turn.turn_id for turn in store.turns("u")] == ["a"]
    with closing(open_store(f"sqlite:///{tmp_path}/memory.db")) as store:
        assert store.users() == ["u"]


def test_a_file_that_vanished(path: Path) -> None:
    with closing(open_store(path)) as store:
        path.unlink()
        with pytest.raises(StoreError, match=r"memory\.db is gone"):
            store.turns("u")


# the disk ----------------------------------------------------------------------------------------------


def test_a_full_disk_rolls_the_write_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect = SqliteFile._connect

    def connect_to_small_disk(self: SqliteFile, timeout_s: float | None = None) -> sqlite3.Connection:
        connection = connect(self, timeout_s)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count={pages + 3}")
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(SqliteFile, "_connect", connect_to_small_disk)
        with closing(open_store(path)) as store:
            with pytest.raises(StoreFull, match=r"the disk is full: nothing of this write to .*memory\.db was stored"):
                store.write("u", batch("big", text="words " * 100_000), now=NOW)
            store.write("u", batch("small"), now=NOW)
            assert store.revision("u") == 2
    assert turn_ids(path) == ["a", "small"]
