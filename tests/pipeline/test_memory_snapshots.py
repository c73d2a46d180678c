"""Snapshots of indexes through the public interface: a new process answers alike, and erased words are not on disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mnemic import Memory
from mnemic.errors import InvalidInput
from mnemic.index import cache
from mnemic.store.sql import SqlStore

Open = Callable[..., Memory]
SAID = [f"On day {number} I planted tomatoes in bed {number}." for number in range(12)]


@pytest.fixture(autouse=True)
def _small_ones_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_TURNS_WORTH", 3)


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The revisions since which rows are read."""
    seen: list[int] = []
    load = SqlStore.load

    def told(self: SqlStore, user_id: str, *, since: int) -> Any:
        seen.append(since)
        return load(self, user_id, since=since)

    monkeypatch.setattr(SqlStore, "load", told)
    return seen


def files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.exists() else []


def beside(tmp_path: Path) -> list[Path]:
    return files(tmp_path / "memory.db-index")


def filled(memory: Memory) -> Memory:
    for number, text in enumerate(SAID):
        memory.add([{"id": f"m{number}", "role": "user", "name": "Ana", "content": text}], user_id="ana")
    return memory


def hits(memory: Memory, query: str = "tomatoes in bed 7") -> list[tuple[str, float]]:
    return [(hit.turn_ids[0], hit.score) for hit in memory.search(query, user_id="ana").results]


def test_the_next_process_reads_only_what_came_since(open_memory: Open, tmp_path: Path, loads: list[int]) -> None:
    first = filled(open_memory())
    found = hits(first)
    first.close()
    assert len(beside(tmp_path)) == 1
    loads.clear()
    second = open_memory()
    assert hits(second) == found
    assert all(since > 0 for since in loads)
    second.add([{"id": "new", "role": "user", "content": "A zebra ate them."}], user_id="ana")
    assert second.search("zebra", user_id="ana").results[0].turn_ids[-1] == "new"
    assert hits(second) == hits(open_memory(snapshots=None))
    assert [since for since in loads if since == 0] == [0]  # of the one without


@pytest.mark.parametrize("by_another", [False, True])
def test_an_erasure_removes_them_in_the_same_call(open_memory: Open, tmp_path: Path, by_another: bool) -> None:
    writer = filled(open_memory())
    hits(writer)
    assert beside(tmp_path)
    # Also one that keeps none itself.
    eraser = open_memory(snapshots=None) if by_another else writer
    eraser.delete(user_id="ana", turn_id="m7")
    assert not beside(tmp_path)
    hits(writer)
    assert not any(b"m7" in place.read_bytes() for place in beside(tmp_path))
    eraser.delete_all(user_id="ana")
    assert not beside(tmp_path)
    assert hits(writer) == []


def test_one_from_before_an_erasure_is_never_read(open_memory: Open, tmp_path: Path, loads: list[int]) -> None:
    """Put back by hand, or from a backup of the folder."""
    first = filled(open_memory())
    hits(first)
    [place] = beside(tmp_path)
    old = place.read_bytes()
    first.delete(user_id="ana", session_id=first.get("m3", user_id="ana").session_id)  # pyright: ignore[reportAttributeAccessIssue] - a turn
    first.close()
    place.write_bytes(old)
    second = open_memory()
    assert hits(second) == []
    assert not any(b"tomato" in kept.read_bytes() for kept in beside(tmp_path))


def test_one_of_another_database_is_never_read(open_memory: Open, tmp_path: Path, loads: list[int]) -> None:
    first = filled(open_memory())
    hits(first)
    [place] = beside(tmp_path)
    other = Memory.open(tmp_path / "other.db", embedder=None, workers=0)
    for number in range(20):
        other.add([{"id": f"o{number}", "role": "user", "content": f"Rain on day {number}."}], user_id="ana")
    (tmp_path / "other.db-index").mkdir()
    place.rename(tmp_path / "other.db-index" / place.name)
    found = hits(other, "rain on day 7")
    assert found
    assert all(turn_id.startswith("o") for turn_id, _ in found)
    other.close()


def test_where_they_lie_and_how_many_bytes_they_take(open_memory: Open, tmp_path: Path) -> None:
    hits(filled(open_memory(snapshots=tmp_path / "cache")))
    assert not beside(tmp_path)
    [folder] = files(tmp_path / "cache")
    assert len(files(folder)) == 1
    hits(open_memory(snapshots=tmp_path / "small", snapshot_bytes=1000))
    hits(open_memory(snapshots=None))
    assert not beside(tmp_path)
    assert not [place for place in (tmp_path / "small").rglob("*") if place.is_file()]
    with pytest.raises(InvalidInput, match="snapshot_bytes"):
        open_memory(snapshot_bytes=-1)


def test_the_command_line_takes_the_place_from_the_environment(cli: Any, tmp_path: Path, monkeypatch: Any) -> None:
    with Memory.open(tmp_path / "m.db", embedder=None, workers=0, snapshots=None) as memory:
        filled(memory)
    monkeypatch.setenv("MNEMIC_SNAPSHOTS", "none")
    assert cli("search", "tomatoes", "--user", "ana", "--embedder", "none")[0] == 0
    assert not files(tmp_path / "m.db-index")
    monkeypatch.setenv("MNEMIC_SNAPSHOTS", str(tmp_path / "kept"))
    assert cli("search", "tomatoes", "--user", "ana", "--embedder", "none")[0] == 0
    assert len(list((tmp_path / "kept").rglob("*.index"))) == 1
    monkeypatch.delenv("MNEMIC_SNAPSHOTS")
    assert cli("search", "tomatoes", "--user", "ana", "--embedder", "none")[0] == 0
    assert len(files(tmp_path / "m.db-index")) == 1
    monkeypatch.setenv("MNEMIC_SNAPSHOT_BYTES", "many")
    code, _, err = cli("search", "tomatoes", "--user", "ana", "--embedder", "none")
    assert code == 2
    assert "MNEMIC_SNAPSHOT_BYTES" in err
