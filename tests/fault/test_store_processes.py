"""Many threads and processes on one database, and processes that are killed."""

from __future__ import annotations

import random
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from store_faults_kit import NOW, batch, in_fork, python

from mnemic.errors import StoreClosed, StoreConflict
from mnemic.protocols import Batch
from mnemic.store import SqlStore, open_store
from mnemic.types import Enrichment, Turn

WRITER = """
import sys
from contextlib import closing
from store_faults_kit import NOW, batch
from mnemic.store import open_store

path, user, first, last = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
print("ready", flush=True)
sys.stdin.readline() if sys.argv[5:] else None
with closing(open_store(path)) as store:
    for i in range(first, last):
        store.write(user, batch(*(f"{i}.{k}" for k in range(5)), text=f"words {i} " * 50), now=NOW)
        print(i, flush=True)
"""

ENRICHER = """
import sys
from contextlib import closing
from datetime import timedelta
from itertools import count
from store_faults_kit import NOW
from mnemic.protocols import Batch
from mnemic.store import open_store
from mnemic.types import Interval, Note

path, name = sys.argv[1:]
print("ready", flush=True)
sys.stdin.readline()
with closing(open_store(path)) as store:
    for number in count():
        until = NOW + timedelta(hours=1)
        lease = store.claim(("notes",), token=f"{name}.{number}", now=NOW, until=until, limit=2)
        if lease is None and store.enrichment(None).done == 24:
            break
        if lease is None:
            continue
        notes = tuple(Note("", 1, "fact", name, one, Interval(None, None), ()) for one in lease.trace_ids)
        store.write(lease.user_id, Batch(notes=notes, lease=lease), now=NOW)
"""


def wholes(store: SqlStore, user: str) -> list[int]:
    """The numbers of the batches that are there; each has to be there whole."""
    found: dict[int, int] = {}
    for turn in store.turns(user):
        number = int(turn.turn_id.partition(".")[0])
        found[number] = found.get(number, 0) + 1
    counts = store.counts(user)
    assert set(found.values()) <= {5}
    assert (counts.traces, counts.notes, counts.units) == (len(found), len(found), 5 * len(found))
    assert store.check() == []
    return sorted(found)


def test_killed_writers_leave_whole_batches_and_lose_none_that_was_confirmed(tmp_path: Path) -> None:
    path, random_ = tmp_path / "memory.db", random.Random(3)
    done = 0
    for _ in range(3):
        process = python(WRITER, path, "u", done, 10_000, wait=False)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        confirmed = done - 1
        for _ in range(random_.randrange(3, 12)):
            confirmed = int(process.stdout.readline())
        time.sleep(random_.uniform(0, 0.02))
        process.kill()
        confirmed = max([confirmed, *map(int, process.communicate()[0].split())])
        assert process.returncode == -signal.SIGKILL
        with closing(open_store(path)) as store:
            found = wholes(store, "u")
        assert found == list(range(len(found)))
        assert len(found) in (confirmed + 1, confirmed + 2)
        done = len(found)


def test_processes_that_open_a_new_file_at_once_all_succeed(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    writers = [python(WRITER, path, f"u{i}", 0, 3, wait=False) for i in range(3)]
    for writer in writers:
        assert writer.communicate(timeout=60) == ("ready\n0\n1\n2\n", "")
    with closing(open_store(path)) as store:
        assert [wholes(store, user) for user in store.users()] == [[0, 1, 2]] * 3
    assert [file.name for file in tmp_path.iterdir()] == ["memory.db"]


def test_threads_and_stores_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(open_store(path)) as one, closing(open_store(path)) as two:

        def work(worker: int) -> None:
            store = (one, two)[worker % 2]
            for i in range(10):
                store.write("u", Batch(turns=(Turn(f"{worker}.{i}", "s", "user", "Ana", "hi"),)), now=NOW)
                store.load("u", since=0)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))
        assert one.counts("u").turns == two.revision("u") == 80
        assert [turn.seq for turn in one.turns("u")] == list(range(80))


def test_of_two_that_plan_the_same_one_has_to_plan_again(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    outcomes: list[str] = []
    with closing(open_store(path)) as store:
        start = threading.Barrier(6)

        def work(worker: int) -> None:
            start.wait()
            try:
                turn = Turn(f"t{worker}", "s", "user", "Ana", "hi")
                store.write("u", Batch(turns=(turn,), tails={"s": None}), now=NOW)
                outcomes.append("written")
            except StoreConflict:
                outcomes.append("conflict")

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(work, range(6)))
        assert sorted(outcomes) == ["conflict"] * 5 + ["written"]
        assert store.counts("u").turns == 1


def test_processes_share_the_work_and_never_hold_the_same(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(open_store(path)) as store:
        for user in ("u", "v"):
            for i in range(12):
                store.write(user, replace(batch(f"{i}"), notes=(), work=("notes",), due=NOW), now=NOW)
        workers = [python(ENRICHER, path, f"w{i}", wait=False) for i in range(3)]
        for worker in workers:
            assert worker.stdout is not None
            assert worker.stdout.readline() == "ready\n"
        for worker in workers:
            assert worker.stdin is not None
            worker.stdin.write("go\n")
            worker.stdin.flush()
        for worker in workers:
            assert worker.communicate(timeout=60) == ("", "")
        assert store.enrichment(None) == Enrichment(done=24)
        for user in ("u", "v"):
            assert sorted(note.text for note in store.notes(user)) == sorted(f"T{i}" for i in range(1, 13))


def test_opening_many_new_files_in_threads(tmp_path: Path) -> None:
    def make(number: int) -> int:
        with closing(open_store(tmp_path / f"{number % 3}.db")) as store:
            return store.write(f"u{number}", batch("a"), now=NOW).revision

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(make, range(6))) == [1] * 6


# forks -------------------------------------------------------------------------------------------------


def test_a_forked_process_has_connections_of_its_own(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "memory.db")) as store:
        store.write("u", batch("before"), now=NOW)

        def child() -> list[str]:
            store.write("u", batch("child"), now=NOW)
            found = [turn.turn_id for turn in store.turns("u")]
            store.close()
            return found

        assert in_fork(child) == ["before", "child"]
        store.write("u", batch("after"), now=NOW)
        assert [turn.turn_id for turn in store.turns("u")] == ["before", "child", "after"]
        assert in_fork(lambda: store.counts("u").turns) == 3
        assert store.check() == []


def test_forking_while_other_threads_write(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "memory.db")) as store:
        stop = threading.Event()
        written: list[str] = []

        def write_on() -> None:
            while not stop.is_set():
                turn_id = f"t{len(written)}"
                store.write("u", Batch(turns=(Turn(turn_id, "s", "user", "Ana", "hi"),)), now=NOW)
                written.append(turn_id)

        writer = threading.Thread(target=write_on)
        writer.start()
        try:
            for i in range(5):
                in_fork(_write(store, f"c{i}"))
        finally:
            stop.set()
            writer.join()
        assert store.known_turns("u", [*written, *(f"c{i}" for i in range(5))]) == {
            *written,
            *(f"c{i}" for i in range(5)),
        }
        assert store.check() == []


def _write(store: SqlStore, turn_id: str) -> Callable[[], None]:
    def write() -> None:
        store.write("u", batch(turn_id), now=NOW)

    return write


# closing -----------------------------------------------------------------------------------------------


def test_closing_waits_for_the_calls_under_way(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    store = open_store(path)
    said = tuple(Turn(f"t{i}", "s", "user", "Ana", "hi") for i in range(5000))
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(store.write, "u", Batch(turns=said), now=NOW)
        time.sleep(0.02)
        store.close()
        if writing.exception() is not None:
            pytest.fail(f"the write under way failed: {writing.exception()}")
    with pytest.raises(StoreClosed):
        store.users()
    assert [file.name for file in tmp_path.iterdir()] == ["memory.db"]
    with closing(open_store(path)) as again:
        assert again.counts("u").turns == 5000
