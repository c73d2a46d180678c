"""An import killed at any moment leaves whole messages only, and importing again completes it."""

from __future__ import annotations

import contextlib
import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mnemic.memory import Memory

KILLS = 4
SESSIONS = 12
TURNS = 40


def messages() -> list[dict[str, str]]:
    """Half of them without ids, some of them alike."""
    made: list[dict[str, str]] = []
    for session in range(SESSIONS):
        for turn in range(TURNS):
            text = "ok" if turn % 5 == 4 else f"Session {session}, turn {turn}: the barge carries {turn} crates. " * 3
            message = {
                "role": "user",
                "name": "Ana" if turn % 2 else "Bo",
                "content": text,
                "session_id": f"s{session}",
            }
            made.append(message | ({"id": f"{session}.{turn}"} if session % 2 else {}))
    return made


def start(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "mnemic", "import", "log.jsonl", "--db", "m.db", "--user", "ana"]
    return subprocess.Popen(
        [*command, "--embedder", "none"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def wait_for_a_write(folder: Path, process: subprocess.Popen[bytes]) -> None:
    """Until something stands in the database's log: the process is in the midst of its work, or done with it."""
    log = folder / "m.db-wal"
    while process.poll() is None:
        with contextlib.suppress(FileNotFoundError):
            if log.stat().st_size:
                return
        time.sleep(0.002)


def stored(folder: Path) -> list[tuple[str, str, str]]:
    with Memory.open(folder / "m.db", embedder=None) as memory:
        assert memory.check() == []
        return [(turn.session_id, turn.speaker, turn.text) for turn in memory.get_all(user_id="ana")]


@pytest.mark.fault("B137")
def test_kill_9_leaves_whole_messages_and_a_repeat_completes_the_import(tmp_path):
    given = messages()
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(message) + "\n" for message in given))
    wanted = [(m["session_id"], m["name"], m["content"]) for m in given]
    chance = random.Random(7)
    counts: list[int] = []
    for _ in range(KILLS):
        process = start(tmp_path)
        wait_for_a_write(tmp_path, process)
        time.sleep(chance.uniform(0, 0.2))
        process.kill()
        _, err = process.communicate()
        assert process.returncode in (0, -signal.SIGKILL), err
        found = stored(tmp_path)
        assert found == wanted[: len(found)]
        counts.append(len(found))
    assert counts == sorted(counts)
    assert any(0 < count < len(wanted) for count in counts)
    process = start(tmp_path)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert out.decode().startswith(
        f"{len(wanted)} messages in {SESSIONS} sessions of ana; {len(wanted) - counts[-1]} new"
    )
    assert stored(tmp_path) == wanted
