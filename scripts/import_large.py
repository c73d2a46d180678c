"""Imports a large, made-up ChatGPT export, is killed in the midst, goes on, and writes down what that took.

    python scripts/import_large.py 100          100 MB; writes results/import/chatgpt-100mb.json

The words alone: vectors are left for later. Peak memory is the kernel's own count (VmHWM) of the importing process.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

import chatgpt_kit  # noqa: E402 - it lies among the tests, which use it too
from mnemic.bench.provenance import Provenance  # noqa: E402 - after the path
from mnemic.importers import Conversation, read  # noqa: E402 - the same
from mnemic.memory import Memory  # noqa: E402 - the same

_LOOK_S = 0.5


def main() -> None:
    """Run it."""
    asked = argparse.ArgumentParser()
    asked.add_argument("megabytes", type=float)
    asked.add_argument("--kill-at", type=float, default=0.25, help="the share of messages after which it is killed")
    asked.add_argument("--output", type=Path)
    given = asked.parse_args()
    to = given.output or ROOT / "results" / "import" / f"chatgpt-{given.megabytes:g}mb.json"
    with tempfile.TemporaryDirectory() as folder:
        found = measured(Path(folder), int(given.megabytes * 1_000_000), given.kill_at)
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    print(to, json.dumps(found))


def measured(folder: Path, size: int, kill_at: float) -> dict[str, object]:
    """Generate, import until killed, import to the end, and compare what is stored with what was written."""
    export, database = folder / "conversations.json", folder / "memory.db"
    conversations = chatgpt_kit.write(export, size)
    wanted = [
        (m["id"], m["content"])
        for one in read(export, "chatgpt")
        if isinstance(one, Conversation)
        for m in one.messages
    ]
    begun = [run(folder, stop=lambda: stored(database) >= kill_at * len(wanted))]
    before = stored(database)
    begun.append(run(folder, stop=lambda: False))
    assert begun[0]["status"] == -signal.SIGKILL
    assert begun[1]["status"] == 0, begun[1]
    with Memory.open(database, embedder=None, workers=0) as memory:
        kept = [(turn.turn_id, turn.text) for turn in memory.get_all(user_id="ana")]
        assert memory.check() == []
        waiting = memory.status(user_id="ana").enrichment.unembedded
        hits = len(memory.search("Who repaired the greenhouse?", user_id="ana").results)
    lost, twice = len(set(wanted) - set(kept)), len(kept) - len(set(kept))
    assert (lost, twice, len(kept)) == (0, 0, len(wanted))
    return {
        "export_bytes": export.stat().st_size,
        "conversations": conversations,
        "turns": len(kept),
        "killed_after_turns": before,
        "lost": lost,
        "twice": twice,
        "waiting_for_vectors": waiting,
        "found_by_words_at_once": hits > 0,
        "database_bytes": database.stat().st_size,
        "runs": begun,
        "peak_rss_bytes": max(int(str(one["peak_rss_bytes"])) for one in begun),
        "python": platform.python_version(),
        "processors": os.cpu_count(),
        "load_at_end": os.getloadavg(),
        "commit": Provenance.now().commit,
    }


def run(folder: Path, stop: Callable[[], bool]) -> dict[str, object]:
    """One import in a process of its own, killed as soon as ``stop`` says so."""
    command = [sys.executable, "-m", "mnemic", "import", "conversations.json", "--db", "memory.db", "--user", "ana"]
    started, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen([*command, "--embed", "later"], cwd=folder, stdout=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        peak = max(peak, high_water(process.pid))
        if stop():
            process.kill()
        time.sleep(_LOOK_S)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "status": process.returncode,
        "wall_s": round(time.monotonic() - started, 1),
        "cpu_s": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1),
        "peak_rss_bytes": peak,
    }


def high_water(pid: int) -> int:
    """The most resident memory that a process ever had, in bytes."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)


def stored(database: Path) -> int:
    """How many messages are stored so far, without waiting for anybody."""
    import sqlite3

    if not database.exists():
        return 0
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        return int(connection.execute("SELECT max(next_seq) FROM users").fetchone()[0] or 0)
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()


if __name__ == "__main__":
    main()
