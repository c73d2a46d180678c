"""Files of indexes: what is not whole, fitting and of the user is not used; what is forgotten is gone."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from graph_kit import Said, World
from mnemic.errors import StoreError
from mnemic.index import Snapshots, UserIndex, snapshots, told
from mnemic.protocols import Mark

MARK = Mark(3, 1, 2, 4, 5)


def anything(*_: object) -> bool:
    return True


@pytest.fixture(scope="module")
def index() -> UserIndex:
    made = World()
    made.add(*[Said(f"t{number}", [f"CAT naps {number}", "rain \ud800"], speaker="Ana\0") for number in range(30)])
    made.add_note("has a CAT", "t1")
    return made.index()


@pytest.fixture
def held(tmp_path: Path) -> Snapshots:
    return Snapshots(tmp_path / "index", max_bytes=1 << 30)


def file_of(tmp_path: Path) -> Path:
    [place] = (tmp_path / "index").iterdir()
    return place


def test_what_was_written_is_read_with_its_mark(held: Snapshots, index: UserIndex, tmp_path: Path) -> None:
    assert held.write("ana", index, MARK, "fp")
    asked: list[object] = []

    def fits(*said: object) -> bool:
        asked.extend(said)
        return True

    found = held.read("ana", fits)
    assert found is not None
    assert told(found.graph()) == told(index.graph())
    assert asked == [MARK, "fp"]
    assert stat.S_IMODE(file_of(tmp_path).stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "index").stat().st_mode) == 0o700
    assert b"ana" not in file_of(tmp_path).name.encode()


def test_nobody_else_gets_it(held: Snapshots, index: UserIndex, tmp_path: Path) -> None:
    held.write("ana", index, MARK, "fp")
    assert held.read("bo", anything) is None
    # Not even where the file has the other one's name.
    file_of(tmp_path).rename(held._place("bo"))
    assert held.read("bo", anything) is None
    assert not any((tmp_path / "index").iterdir())


def test_one_that_does_not_fit_is_removed(held: Snapshots, index: UserIndex, tmp_path: Path) -> None:
    held.write("ana", index, MARK, "fp")
    assert held.read("ana", lambda *_: False) is None
    assert not any((tmp_path / "index").iterdir())


def test_one_of_another_version_is_removed(
    held: Snapshots, index: UserIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held.write("ana", index, MARK, "fp")
    monkeypatch.setattr(snapshots, "version", lambda _: "0.0.1")
    assert held.read("ana", anything) is None
    assert not any((tmp_path / "index").iterdir())


def test_damage_anywhere_is_noticed(held: Snapshots, index: UserIndex, tmp_path: Path) -> None:
    held.write("ana", index, MARK, "fp")
    place = file_of(tmp_path)
    whole = place.read_bytes()
    with place.open("rb") as file:
        header = snapshots._header(file, "ana")
    sections = [section for section in header["sections"] if section["rows"] and section["shape"] != [0]]
    assert len(sections) > 40
    places = {section["offset"] for section in sections} | {0, 15, 200}
    for at in sorted(places):
        place.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        assert held.read("ana", anything) is None, at
        assert not place.exists()
    for length in (0, 5, 300, len(whole) // 2, len(whole) - 70):
        place.write_bytes(whole[:length])
        assert held.read("ana", anything) is None, length
    place.write_bytes(whole)
    assert held.read("ana", anything) is not None


def test_of_more_than_the_bound_the_least_lately_used_go(index: UserIndex, tmp_path: Path) -> None:
    Snapshots(tmp_path / "index", max_bytes=1 << 30).write("ana", index, MARK, None)
    one = snapshots._used(file_of(tmp_path))
    held = Snapshots(tmp_path / "index", max_bytes=2 * one + one // 2)
    held.write("bo", index, MARK, None)
    os.utime(held._place("ana"), (1, 1))
    os.utime(held._place("bo"), (2, 2))
    assert held.read("ana", anything) is not None  # used just now
    assert held.write("cy", index, MARK, None)
    assert {user for user in ("ana", "bo", "cy") if held.read(user, anything)} == {"ana", "cy"}

    tiny = Snapshots(tmp_path / "index", max_bytes=one // 2)
    assert not tiny.write("dan", index, MARK, None)
    assert {user for user in ("ana", "dan", "cy") if held.read(user, anything)} == {"ana", "cy"}


def test_with_no_bytes_none_is_read_or_written_but_all_are_forgotten(
    held: Snapshots, index: UserIndex, tmp_path: Path
) -> None:
    held.write("ana", index, MARK, None)
    none = Snapshots(tmp_path / "index", max_bytes=0)
    assert none.read("ana", anything) is None
    assert not none.write("bo", index, MARK, None)
    none.forget("ana")
    assert not any((tmp_path / "index").iterdir())


def test_what_another_process_is_writing_is_forgotten_too(
    held: Snapshots, index: UserIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Erased words do not come back by a file that was finished after them."""
    write = snapshots._write

    def slowly(*given: object) -> None:
        write(*given)  # pyright: ignore[reportArgumentType]
        assert not held.write("ana", index, MARK, None)  # a third one leaves it to the second
        Snapshots(tmp_path / "index", max_bytes=0).forget("ana")

    monkeypatch.setattr(snapshots, "_write", slowly)
    assert not held.write("ana", index, MARK, None)
    assert not any((tmp_path / "index").iterdir())


def test_what_a_process_left_unfinished_is_written_anew(held: Snapshots, index: UserIndex, tmp_path: Path) -> None:
    held.write("ana", index, MARK, None)
    unfinished = held._unfinished("ana")
    unfinished.write_bytes(b"half")
    assert not held.write("ana", index, MARK, None)
    os.utime(unfinished, (1, 1))
    assert held.write("ana", index, MARK, None)
    assert not unfinished.exists()


def test_a_folder_that_cannot_be_made_costs_nothing_but_the_snapshot(index: UserIndex, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    held = Snapshots(tmp_path / "file" / "index", max_bytes=1 << 30)
    assert not held.write("ana", index, MARK, None)
    assert held.read("ana", anything) is None
    held.forget("ana")


def test_one_that_cannot_be_removed_is_named(held: Snapshots, tmp_path: Path) -> None:
    held._place("ana").mkdir(parents=True)
    with pytest.raises(StoreError, match=held._place("ana").name):
        held.forget("ana")
