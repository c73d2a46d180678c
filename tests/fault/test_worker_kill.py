"""Kill -9 of a process whose models are reading: nothing is lost, and nothing that was finished is asked for again."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from mnemic import Enriching, Memory
from mnemic.store import open_store
from reading_kit import ReadingModel

TESTS = Path(__file__).parents[1]
USER, TURNS = "conv-26", 150
LEASE_S = 1.5
KILLS = 3

# Each call is written down when it begins and when it ends.
PROGRAM = """
import os, sys
sys.path.insert(0, sys.argv[1])
from reading_kit import ReadingModel
from mnemic import Enriching, Memory

class Logged(ReadingModel):
    def complete(self, request):
        log = os.open("calls.txt", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(log, b"begin\\n")
        reply = super().complete(request)
        os.write(log, b"end\\n")
        os.close(log)
        return reply

settings = Enriching(**eval(sys.argv[2], {"__builtins__": {}}))
with Memory.open("m.db", embedder=None, model=Logged(delay_s=0.05), enrichment=settings, workers=2) as memory:
    found = memory.wait()
    print(found.done, found.failed, found.pending, flush=True)
"""

# Settings, and how many calls a piece of work takes at most: one reads traces; two people have three stages each.
HERO = ({"cues": "model", "notes": "trace", "episodes": "rules", "conflicts": None, "batch": 3, "lease_s": LEASE_S}, 1)
STAGES = ({"episodes": "rules", "conflicts": "rules", "batch": 6, "lease_s": LEASE_S}, 6)


@pytest.fixture
def folder(locomo_turns, tmp_path):
    """A folder with a conversation's first turns in a database, unread."""
    messages = [
        {
            "id": turn.turn_id,
            "role": turn.role,
            "name": turn.speaker,
            "content": turn.text,
            "timestamp": turn.timestamp,
            "session_id": turn.session_id,
        }
        for turn in locomo_turns[USER][:TURNS]
    ]
    with Memory.open(tmp_path / "m.db", embedder=None) as memory:
        memory.add(messages, user_id=USER)
    return tmp_path


def enqueue(folder: Path, settings: dict[str, object]) -> int:
    with Memory.open(
        folder / "m.db", embedder=None, model=ReadingModel(), enrichment=Enriching(**settings), workers=0
    ) as memory:
        return memory.enrich(user_id=USER)


def run(folder: Path, settings: dict[str, object]) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PROGRAM, str(TESTS), repr(settings)]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)


def calls(folder: Path) -> Counter[str]:
    """``begin`` and ``end`` of calls so far."""
    log = folder / "calls.txt"
    return Counter(log.read_text().split()) if log.exists() else Counter()


def read(folder: Path) -> list[tuple[str, str, tuple[object, ...]]]:
    with closing(open_store(folder / "m.db")) as store:
        assert store.check() == []
        notes = store.notes(USER)
        return sorted((note.text, note.about, note.sources) for note in notes if note.given_id is not None)


@pytest.mark.parametrize(("settings", "a_lease"), [HERO, STAGES], ids=["hero", "stages"])
def test_every_trace_is_read_once_however_often_the_process_is_killed(folder, settings, a_lease, tmp_path_factory):
    pieces = enqueue(folder, settings)
    calm = tmp_path_factory.mktemp("calm")
    (calm / "m.db").write_bytes((folder / "m.db").read_bytes())
    process = run(calm, settings)
    assert process.communicate(timeout=120)[0].split() == [str(pieces), "0", "0"]
    needed = calls(calm)
    assert needed["begin"] == needed["end"] > 8

    for _ in range(KILLS):
        before = calls(folder)["end"]
        process = run(folder, settings)
        while calls(folder)["end"] < before + 2 and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    process = run(folder, settings)
    assert process.communicate(timeout=120)[0].split() == [str(pieces), "0", "0"]

    # One user's notes are one piece of work at a time: no more than that one's calls were for nothing.
    assert needed["begin"] <= calls(folder)["begin"] <= needed["begin"] + KILLS * a_lease
    assert read(folder) == read(calm)
