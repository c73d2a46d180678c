from __future__ import annotations

import threading
from typing import Any

import pytest

from graph_kit import DIM, LOOSE, Said, World
from mnemic.index import Indexes, told
from mnemic.index.turns import Turns
from mnemic.protocols import Delta, EmbedderRecord

FIRST = EmbedderRecord("first", "first", DIM, LOOSE)


class Rows:
    """The calls of a store that an index needs."""

    def __init__(self, **worlds: World) -> None:
        self.worlds = worlds
        self.record: EmbedderRecord | None = FIRST
        self.loaded: list[tuple[str, int]] = []

    def embedder(self) -> EmbedderRecord | None:
        return self.record

    def revision(self, user_id: str) -> int:
        return self.worlds[user_id].revision if user_id in self.worlds else 0

    def load(self, user_id: str, *, since: int) -> Delta:
        self.loaded.append((user_id, since))
        return self.worlds.get(user_id, World()).delta(since)


def world(*turn_ids: str) -> World:
    made = World()
    made.add(*[Said(turn_id, ["CAT naps"]) for turn_id in turn_ids])
    return made


def indexes(rows: Rows, max_bytes: int = 1 << 30) -> Indexes:
    return Indexes(rows, max_bytes=max_bytes)  # pyright: ignore[reportArgumentType]


def look(held: Indexes, user_id: str) -> dict[str, Any]:
    with held.graph(user_id) as (graph, _):
        return told(graph)


def test_it_reads_everything_once_and_then_what_changed() -> None:
    rows = Rows(ana=world("a"))
    held = indexes(rows)
    look(held, "ana")
    look(held, "ana")
    assert rows.loaded == [("ana", 0)]
    rows.worlds["ana"].add(Said("b", ["TRAIN"]))
    assert look(held, "ana") == told(rows.worlds["ana"].graph())
    assert rows.loaded == [("ana", 0), ("ana", 1)]


def test_an_unknown_user_is_empty() -> None:
    assert look(indexes(Rows()), "nobody")["turns"] == {}


def test_users_are_apart() -> None:
    held = indexes(Rows(ana=world("a"), bo=world("b")))
    assert look(held, "ana")["turns"].keys() == {"a"}
    assert look(held, "bo")["turns"].keys() == {"b"}


def test_another_embedder_starts_afresh() -> None:
    rows = Rows(ana=world("a"))
    rows.record = None
    rows.worlds["ana"].use_embedder()
    held = indexes(rows)
    with held.graph("ana") as (graph, record):
        assert (graph.dim, record) == (0, None)
    for number, record in enumerate((FIRST, EmbedderRecord("second", "second", DIM, LOOSE)), 1):
        rows.record = record
        rows.worlds["ana"].use_embedder()
        with held.graph("ana") as (graph, made_by):
            assert (graph.dim, made_by) == (DIM, record)
        assert rows.loaded == [("ana", 0)] * (number + 1)


def test_an_embedder_that_changes_while_the_rows_are_read_is_noticed() -> None:
    rows = Rows(ana=world("a"))
    rows.worlds["ana"].use_embedder()
    second = EmbedderRecord("second", "second", 8, LOOSE)
    read = rows.load

    def load(user_id: str, *, since: int) -> Delta:
        rows.record = second
        return read(user_id, since=since)

    rows.load = load
    with indexes(rows).graph("ana") as (graph, record):
        assert (graph.dim, record) == (8, second)


def test_an_index_of_mostly_removed_turns_is_built_again() -> None:
    rows = Rows(ana=world("a", "b", "c"))
    held = indexes(rows)
    look(held, "ana")
    rows.worlds["ana"].remove("a", "b")
    look(held, "ana")
    look(held, "ana")
    assert [since for _, since in rows.loaded] == [0, 1, 0]


def test_the_least_recently_used_goes_first_and_the_one_in_use_stays() -> None:
    rows = Rows(ana=world("a"), bo=world("b"), cy=world("c"))
    held = indexes(rows)
    look(held, "ana")
    one = held.nbytes
    held = indexes(rows, max_bytes=2 * one + one // 2)
    for user_id in ("ana", "bo", "ana", "cy"):
        look(held, user_id)
    assert len(held) == 2
    assert held.nbytes <= 2 * one + one // 2
    rows.loaded.clear()
    look(held, "ana")
    assert rows.loaded == []
    look(held, "bo")
    assert rows.loaded == [("bo", 0)]

    tiny = indexes(rows, max_bytes=1)
    look(tiny, "ana")
    assert len(tiny) == 1


def test_putting_out_leaves_room_for_some_to_come_in() -> None:
    names = [f"user{number}" for number in range(41)]
    rows = Rows(**{name: world("a") for name in names})
    held = indexes(rows)
    look(held, names[0])
    one = held.nbytes
    held = indexes(rows, max_bytes=20 * one)
    for name in names[:20]:
        look(held, name)
    assert len(held) == 20
    sizes: list[int] = []
    for name in names[20:]:
        look(held, name)
        assert held.nbytes == len(held) * one <= 20 * one
        sizes.append(len(held))
    # Three go when one comes in, and then none until there is no room again.
    assert sizes == [18, 19, 20] * 7


def test_what_is_forgotten_is_read_again() -> None:
    rows = Rows(ana=world("a"))
    held = indexes(rows)
    look(held, "ana")
    held.forget("ana")
    held.forget("nobody")
    assert held.nbytes == 0
    look(held, "ana")
    assert [since for _, since in rows.loaded] == [0, 0]


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def _fail(*_: Any) -> int:
    raise OSError("the disk is gone")


@pytest.mark.fault("B165")
def test_an_update_that_is_cut_halfway_leaves_no_half_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was applied in part is never searched."""
    rows = Rows(ana=world("a"))
    held = indexes(rows)
    look(held, "ana")
    rows.worlds["ana"].add(Said("b", ["TRAIN"]), Said("c", ["TRAIN"]))
    with monkeypatch.context() as patched:
        patched.setattr(Turns, "_append_units", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            look(held, "ana")
    assert look(held, "ana") == told(rows.worlds["ana"].graph())


def test_a_store_that_cannot_be_read_costs_no_index(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Rows(ana=world("a"))
    held = indexes(rows)
    look(held, "ana")
    with monkeypatch.context() as patched:
        patched.setattr(rows, "revision", _fail)
        with pytest.raises(OSError, match="gone"):
            look(held, "ana")
    look(held, "ana")
    assert rows.loaded == [("ana", 0)]


def test_many_threads_see_whole_revisions() -> None:
    rows = Rows(ana=world("a"))
    held = indexes(rows)
    wrong: list[Any] = []

    def reader() -> None:
        for _ in range(30):
            with held.graph("ana") as (graph, _):
                if graph.frequency.shape != (len(graph.trace_ids), len(graph.cue_keys)):
                    wrong.append(graph)

    threads = [threading.Thread(target=reader) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert rows.loaded == [("ana", 0)]
