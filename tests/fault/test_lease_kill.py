"""Kill -9 of a process that holds a lease: whoever waits takes the work over soon, whatever the clocks say."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mnemic import Enriching, Memory
from mnemic.memory import liveness
from mnemic.models.cues import RuleCues
from mnemic.models.doubles import HashEmbedder
from mnemic.models.purposes import LanguageModels
from mnemic.store import open_store
from postgres_kit import emptied
from reading_kit import ReadingModel

TESTS = Path(__file__).parents[1]
DATABASES = {"sqlite": lambda folder: folder / "m.db", "postgres": emptied}

# Its clock is a day ahead; it says of what it is in the midst, and never ends it.
PROGRAM = """
import sys, time
sys.path.insert(0, sys.argv[1])
from datetime import UTC, datetime, timedelta
from mnemic import Enriching, Memory
from mnemic.models.cues import RuleCues
from mnemic.models.doubles import HashEmbedder
from mnemic.models.purposes import LanguageModels
from mnemic.store import open_store
from reading_kit import ReadingModel

def stop(what):
    print(what, flush=True)
    time.sleep(600)

class Stopping(HashEmbedder):
    def embed(self, texts, *, kind="passage"):
        stop("vectors")

model = ReadingModel()
model.complete = lambda _: stop("models")
clock = lambda: datetime.now(UTC) + timedelta(days=1)
store = open_store(sys.argv[2])
memory = Memory(
    store, embedder=Stopping(), cue_extractor=RuleCues(), clock=clock, models=LanguageModels(model, store, clock=clock),
    enrichment=Enriching(settle_s=0.0), workers=1,
)
memory.add("I moved to Lisbon.", user_id="ana", embed="later")
time.sleep(600)
"""


@pytest.fixture(params=DATABASES)
def database(request, tmp_path):
    return DATABASES[request.param](tmp_path)


@pytest.mark.fault("B125")
def test_who_waits_takes_over_what_a_killed_process_held(database, monkeypatch):
    monkeypatch.setattr(liveness, "SILENCE_S", 0.5)
    command = [sys.executable, "-c", PROGRAM, str(TESTS), str(database)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert {process.stdout.readline(), process.stdout.readline()} == {"vectors\n", "models\n"}
        process.kill()
    with Memory.open(database, embedder=HashEmbedder(), model=ReadingModel(), workers=0) as memory:
        assert (len(memory._store.leases()), len(memory._store.embedding_leases())) == (1, 1)
        begun = time.monotonic()
        found = memory.wait(user_id="ana", timeout=60)
        assert time.monotonic() - begun < 10
        assert (found.unembedded, found.pending, found.running, found.failed) == (0, 0, 0, 0)
        assert found.done > 0
        assert all(row.unit_vectors is not None for row in memory._store.load("ana", since=0).turns)


class Slow(HashEmbedder):
    def __init__(self, delay_s):
        super().__init__()
        self.delay_s, self.calls = delay_s, 0

    def embed(self, texts, *, kind="passage"):
        self.calls += 1
        time.sleep(self.delay_s)
        return super().embed(texts, kind=kind)


def test_who_is_alive_and_slow_keeps_its_work(tmp_path, monkeypatch):
    monkeypatch.setattr(liveness, "SILENCE_S", 1.0)
    monkeypatch.setattr("mnemic.memory.working.HEARTBEAT_S", 0.1)
    slow, idle = Slow(2.5), Slow(0.0)
    with (
        Memory.open(tmp_path / "m.db", embedder=slow, workers=0) as memory,
        Memory.open(tmp_path / "m.db", embedder=idle, workers=0) as other,
    ):
        memory.add("I moved to Lisbon.", user_id="ana", embed="later")
        thread = threading.Thread(target=memory.wait)
        thread.start()
        while not slow.calls:
            time.sleep(0.01)
        assert other.wait(timeout=60).unembedded == 0
        thread.join()
        assert idle.calls == 0


def test_work_that_an_error_ended_is_given_back_at_once(tmp_path):
    class Interrupted(HashEmbedder):
        def embed(self, texts, *, kind="passage"):
            raise KeyboardInterrupt

    model = ReadingModel()
    model.say["facts"] = lambda _: (_ for _ in ()).throw(KeyboardInterrupt())
    later, path = datetime.now(UTC) + timedelta(days=1), tmp_path / "m.db"
    store = open_store(path)
    memory = Memory(
        store,
        embedder=Interrupted(),
        cue_extractor=RuleCues(),
        clock=lambda: later,
        models=LanguageModels(model, store, clock=lambda: later),
        enrichment=Enriching(episodes="rules"),
    )
    memory.add("I moved to Lisbon.", user_id="ana", embed="later")
    with pytest.raises(KeyboardInterrupt):
        memory.wait()
    memory._use(None)
    with pytest.raises(KeyboardInterrupt):
        memory.wait()
    assert (store.leases(), store.embedding_leases()) == ({}, {})
    memory.close()
