"""Many processes write and read one memory: what was acknowledged is there once, in order, and nobody saw an error.

    python scripts/many_processes.py postgresql://127.0.0.1/test?schema=many    four processes, 60 s, 101 users
    python scripts/many_processes.py many.db --processes 2 --seconds 10         a file

Each process adds batches of three messages, half of them to one user whom all share, the others to a hundred users,
and reads between: a batch is there whole or not at all, and one's own is there as soon as it is acknowledged. At the
end every acknowledged message is looked for, and what each process's index, which followed the others' writes, finds
is compared with what an index finds that is built anew. The result is written to ``results/many_processes_KIND.json``
(``--output`` says where else). The database must be empty.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mnemic.memory import Memory
from mnemic.models.doubles import HashEmbedder

ROOT = Path(__file__).resolve().parent.parent
SHARED = "one"
BATCH = 3
_SPOKEN = "tea coffee Berlin Lisbon yoga bicycle Rosa music rain winter garden doctor train book market"
_WORDS = tuple(_SPOKEN.split())
_QUESTIONS = ("Who drinks tea in Berlin?", "yoga and the bicycle", "What did Rosa say of the rain in winter?")


def opened(database: str) -> Memory:
    """A memory without a thread of its own: nothing changes between two answers that are compared."""
    return Memory.open(database, embedder=HashEmbedder(16), workers=0)


def work(database: str, name: str, seconds: float, users: int) -> dict[str, Any]:
    """One process's part: add and read until the time is over, then wait for the word, and search."""
    chance = random.Random(name)
    acknowledged: dict[str, list[str]] = defaultdict(list)
    errors: list[str] = []
    waits: list[float] = []
    reads = 0
    with opened(database) as memory:
        print("ready", flush=True)
        sys.stdin.readline()
        ends = time.monotonic() + seconds
        count = 0
        while time.monotonic() < ends:
            user = SHARED if chance.random() < 0.5 else f"user {chance.randrange(users)}"
            texts = [f"{name} {count} {place}: {' '.join(chance.sample(_WORDS, 5))}." for place in range(BATCH)]
            count += 1
            started = time.monotonic()
            try:
                # The key makes a repeated call harmless, as it is for any caller who was told to try again.
                memory.add(
                    [{"role": "user", "name": name, "content": text} for text in texts],
                    user_id=user, session_id=name, idempotency_key=f"{name} {count}",
                )  # fmt: skip
                acknowledged[user] += texts
                waits.append(time.monotonic() - started)
                reads += _read(memory, chance, user, users, texts, errors)
            except Exception as error:  # noqa: BLE001 - whatever reaches a caller is what this counts
                errors.append(f"{type(error).__name__}: {error}")
        print("done", flush=True)
        sys.stdin.readline()
        found = answers(memory, users)
    return {"acknowledged": acknowledged, "errors": errors, "waits": waits, "reads": reads, "found": found}


def _read(memory: Memory, chance: random.Random, user: str, users: int, texts: list[str], errors: list[str]) -> int:
    """Look for one's own words, and for half a batch of anybody's; how many reads."""
    if chance.random() < 0.2:
        hits = memory.search(texts[-1], user_id=user, top_k=5).results
        if not any(texts[-1] in hit.text for hit in hits):
            errors.append(f"own words not found: {texts[-1]!r}")
        return 1
    other = f"user {chance.randrange(users)}"
    errors += [f"half an add: {batch}" for batch in halves([turn.text for turn in memory.get_all(user_id=other)])]
    return 1


def halves(texts: list[str]) -> list[str]:
    """The batches of which only a part is there."""
    sizes: dict[str, int] = defaultdict(int)
    for text in texts:
        sizes[" ".join(text.split(" ", 3)[:2])] += 1
    return [batch for batch, size in sizes.items() if size != BATCH]


def answers(memory: Memory, users: int) -> list[Any]:
    """What some questions find, comparable."""
    asked = (SHARED, *(f"user {number}" for number in range(0, users, max(1, users // 10))))
    return [
        [(hit.trace_id, round(hit.score, 4)) for hit in memory.search(question, user_id=user, top_k=20).results]
        for user in asked
        for question in _QUESTIONS
    ]


def judge(database: str, parts: list[dict[str, Any]], users: int) -> dict[str, Any]:
    """Compare what is stored with what was acknowledged, and the followed indexes with a new one."""
    lost = duplicated = reordered = stored = 0
    with opened(database) as memory:
        for user in (SHARED, *(f"user {number}" for number in range(users))):
            kept = [turn.text for turn in memory.get_all(user_id=user)]
            stored += len(kept)
            duplicated += len(kept) - len(set(kept))
            for part in parts:
                given = part["acknowledged"].get(user, [])
                wanted = set(given)
                mine = [text for text in kept if text in wanted]
                lost += len(wanted - set(mine))
                reordered += mine != given and sorted(mine) == sorted(given)
        new = json.loads(json.dumps(answers(memory, users)))
        problems = memory._store.check()
    return {
        "stored": stored,
        "acknowledged": sum(len(texts) for part in parts for texts in part["acknowledged"].values()),
        "lost": lost,
        "duplicated": duplicated,
        "reordered": reordered,
        "errors": [error for part in parts for error in part["errors"]],
        "indexes_unlike_a_new_one": sum(part["found"] != new for part in parts),
        "problems": problems,
        "adds": sum(len(part["waits"]) for part in parts),
        "reads": sum(part["reads"] for part in parts),
        "longest_add_s": round(max((wait for part in parts for wait in part["waits"]), default=0.0), 3),
    }


def run(
    database: str, *, processes: int, seconds: float, users: int, meanwhile: Callable[[], None] | None = None
) -> dict[str, Any]:
    """Have so many processes work at once; ``meanwhile`` is called while they do."""
    opened(database).close()
    command = [
        sys.executable,
        str(Path(__file__).resolve()),
        database,
        "--seconds",
        str(seconds),
        "--users",
        str(users),
    ]
    begun = [
        subprocess.Popen(
            [*command, "--work", f"p{number}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ
        )
        for number in range(processes)
    ]
    try:
        for word in ("ready", "done"):
            for process in begun:
                said = process.stdout.readline().strip()
                if said != word:
                    raise SystemExit(f"a process ended: {said}")
            if word == "ready":
                _tell(begun)
                if meanwhile is not None:
                    meanwhile()
        _tell(begun)
        parts = [json.loads(process.communicate(timeout=120)[0]) for process in begun]
    finally:
        for process in begun:
            process.kill()
            process.wait()
    return judge(database, parts, users)


def _tell(processes: list[subprocess.Popen[str]]) -> None:
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("database")
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--users", type=int, default=100)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        print(json.dumps(work(given.database, given.work, given.seconds, given.users)))
        return
    kind = "postgres" if "://" in given.database else "sqlite"
    found = run(given.database, processes=given.processes, seconds=given.seconds, users=given.users)
    settings = {"kind": kind, "processes": given.processes, "seconds": given.seconds, "users": given.users + 1}
    report = {**settings, **found, "machine": {"cores": os.cpu_count(), "python": platform.python_version()}}
    output = given.output or ROOT / "results" / f"many_processes_{kind}.json"
    output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(report, indent=1))
    bad = ("lost", "duplicated", "reordered", "errors", "indexes_unlike_a_new_one", "problems")
    sys.exit(any(report[name] for name in bad))


if __name__ == "__main__":
    main()
