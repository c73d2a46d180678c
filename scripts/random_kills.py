"""Kills processes at random moments of a mixed load, and looks after each kill for anything lost, doubled or left over.

    python scripts/random_kills.py kills.db --kills 200 --seed 1
    python scripts/random_kills.py "postgresql://127.0.0.1/test?schema=kills" --kills 200 --seed 1

In each round two processes work on one database: one adds, repeats, imports, erases, gives notes, retracts, undoes and
searches for three users at once; the other, ``mnemic worker`` in all but name, makes vectors and has a model by rules
read what was added. Both are killed with SIGKILL, each at a moment of its own, which may be while it opens. What each
user's calls were is written down before and after each call, so that what must be there afterwards is known exactly:
everything acknowledged, and the one call under way wholly or not at all. Then that call is made again, as a client
would. Every 25 rounds, and at the end, all work is waited for, and ``mnemic doctor`` must find nothing at all.

The result is written to ``results/random_kills_KIND.json`` (``--output`` says where else); the database must be empty.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from mixed_load import (
    USERS,
    Call,
    State,
    found_by_its_own,
    key_of,
    load,
    opened,
    perform,
    worker,
)

from mnemic import Memory, doctor
from mnemic.algo.replay import Standing, replay
from mnemic.errors import NotFound
from mnemic.memory import liveness
from mnemic.memory.verifying import against_rows
from mnemic.models.doubles import HashEmbedder
from mnemic.store import open_store
from mnemic.types import STATUSES

ROOT = Path(__file__).resolve().parent.parent
LONGEST_S = 2.5
"""A process lives no longer."""
SETTLED_EVERY = 25


def forked(work: Callable[[], None], errors: Path) -> int:
    """The id of a process that does some work; a fork, for starting Python anew takes longer than it shall live."""
    sys.stdout.flush()
    process = os.fork()
    if process:
        return process
    with errors.open("a") as log:
        os.dup2(log.fileno(), 2)
        try:
            work()
        finally:
            os._exit(1)


def killed(works: list[Callable[[], None]], chance: random.Random, errors: Path) -> None:
    """Run processes, and kill each at a moment of its own."""
    begun = time.monotonic()
    moments = sorted((chance.uniform(0.01, LONGEST_S), forked(work, errors)) for work in works)
    for moment, process in moments:
        time.sleep(max(0.0, begun + moment - time.monotonic()))
        os.kill(process, signal.SIGKILL)
        _, status = os.waitpid(process, 0)
        if os.waitstatus_to_exitcode(status) != -signal.SIGKILL:
            raise AssertionError(f"a process ended by itself: {errors.read_text()}")


def told(journal: Path) -> Iterator[tuple[str, str, Call]]:
    """What was written down: what, whose, and which call; the last line may be cut."""
    for line in journal.read_text().splitlines():
        try:
            what, user, call = json.loads(line)
        except json.JSONDecodeError:
            return
        call["said"] = [tuple(one) for one in call.get("said", ())]
        yield what, user, call


class Run:
    """Rounds on one database, and what was found."""

    def __init__(self, database: str, seed: int, folder: Path) -> None:
        self.database, self.seed, self.folder = database, seed, folder
        self.states = dict.fromkeys(USERS, State())
        self.gone: set[str] = set()
        self.counts: Counter[str] = Counter()
        self.cut: Counter[str] = Counter()
        self.problems: list[str] = []

    def round(self, number: int) -> None:
        chance, journal = random.Random(f"{self.seed} {number}"), self.folder / f"{number}.jsonl"
        parent = os.getpid()
        file = os.open(journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        works = [
            lambda: load(self.database, self.states, f"{self.seed} {number}", file),
            lambda: worker(self.database, parent),
        ]
        killed(works, chance, self.folder / "errors.txt")
        os.close(file)
        self.counts["kills"] += len(works)
        under_way = self._read(journal, number)
        with opened(self.database) as memory:
            for user, call in under_way.items():
                self._judge(memory, user, call, number)
            self._sound(memory, number)

    def _read(self, journal: Path, number: int) -> dict[str, Call | None]:
        """Each user's call under way, when all others are brought into what must be there."""
        under_way: dict[str, Call | None] = dict.fromkeys(USERS)
        for what, user, call in told(journal):
            under_way[user] = call if what == "begin" else None
            self.counts[what] += 1
            if what == "fault":
                self.problems.append(f"round {number}: {user}: {call}")
            if what == "end":
                self._become(user, self.states[user].after(call))
        return under_way

    def _become(self, user: str, state: State) -> None:
        self.gone |= {key_of(text) for _, text in set(self.states[user].turns) - set(state.turns)}
        self.states[user] = state

    def _judge(self, memory: Memory, user: str, call: Call | None, number: int) -> None:
        """Compare what is there with what must be, make the call under way again, and compare once more."""
        found, stages = actual(memory, user), self.states[user].stages(call)
        if found not in stages:
            self.problems.append(f"round {number}: {user}: {call}: {difference(found, stages)}")
        if call is not None:
            self.cut[call["verb"]] += 1
            wanted = self.states[user].after(call)
            if found != wanted or call["verb"] in ("add", "import", "add note"):
                perform(memory, user, call)
            found = actual(memory, user)
            if found != wanted:
                self.problems.append(f"round {number}: {user}: {call} again: {difference(found, [wanted])}")
        self._become(user, found)
        self.counts["turns looked at"] += len(found.turns)

    def _sound(self, memory: Memory, number: int) -> None:
        """Nothing is inconsistent, left over, or still to be read though it was erased."""
        found = memory.check()
        for user in USERS:
            found += orphans(memory, user)
        if number % SETTLED_EVERY == 0:
            self.settle(memory)
        held = self._everything(memory)
        found += [f"erased words are still there: {key}" for key in sorted(self.gone) if key.encode() in held]
        self.problems += [f"round {number}: {one}" for one in found]

    def _everything(self, memory: Memory) -> bytes:
        """All bytes of a file and its log; of a server, all that can be got from it."""
        files = [path for end in ("", "-wal") if (path := Path(f"{self.database}{end}")).exists()]
        if files:
            return b"".join(path.read_bytes() for path in files)
        return json.dumps(
            [
                (list(memory.export(user_id=user)), list(map(repr, memory.cues(user_id=user, limit=9999))))
                for user in USERS
            ]
        ).encode()

    def settle(self, memory: Memory) -> None:
        """Have all work done; then the doctor has nothing to say."""
        memory.retry()  # what was begun as often as it may be, and killed each time
        begun = time.monotonic()
        memory.wait(timeout=300)
        self.counts["longest wait, ms"] = max(self.counts["longest wait, ms"], round(1000 * (time.monotonic() - begun)))
        fits = HashEmbedder(16).fingerprint.__eq__
        findings = doctor.database(
            lambda: open_store(self.database, migrate=False),
            lambda held: "ok" if fits(held) else "wrong",
            str,
            against_rows,
        )
        self.problems += [f"doctor: {one.what}: {one.found}" for one in findings if one.verdict != "ok"]
        self.counts["settled"] += 1


def actual(memory: Memory, user: str) -> State:
    """What is there."""
    turns = memory.get_all(user_id=user)
    words = {turn.turn_id: turn.text for turn in turns}
    given = [one for one in memory.notes(user_id=user, statuses=STATUSES) if (one.given_id or "").startswith("n")]
    notes = {str(one.given_id): (words[one.sources[0].turn_id], one.status) for one in given}
    return State(tuple((turn.session_id, turn.text) for turn in turns), notes)


def difference(found: State, stages: list[State]) -> str:
    lost = [sorted(set(one.turns) - set(found.turns)) for one in stages]
    extra = [sorted((Counter(found.turns) - Counter(one.turns)).elements()) for one in stages]
    return f"lost {lost}, too many {extra}, notes {found.notes} for {[one.notes for one in stages]}"


def orphans(memory: Memory, user: str) -> list[str]:
    """What is left over of one user, or is nowhere though it must be."""
    store = memory._store
    words = {turn.turn_id: turn.text for turn in memory.get_all(user_id=user)}
    notes = memory.notes(user_id=user, statuses=STATUSES)
    covered = {span.turn_id for trace in store.traces(user) for span in trace.spans}
    found = [] if covered == words.keys() else [f"turns and traces of {user} do not agree"]
    if any(span.turn_id not in words for note in notes for span in note.sources):
        found.append(f"a note of {user} rests on nothing")
    standing = {(one.note_id, one.version): Standing(one.text, one.status, one.valid) for one in notes}
    if replay(memory.history(user_id=user)) != standing:
        found.append(f"notes of {user} are not their log played again")
    missing = next(store.unembedded(HashEmbedder(16).fingerprint, user_id=user, limit=1), None)
    if missing is not None and not store.pending(user):
        found.append(f"something of {user} lacks its vector, and nothing says so")
    try:
        found_by_its_own(memory, user, next(iter(words.values()))) if words else None
    except (AssertionError, NotFound) as error:
        found.append(str(error))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("database", help="a file, or postgresql://host/name?schema=of_its_own")
    parser.add_argument(
        "--kills", type=int, default=200, help="rounds, in each of which two processes are killed; at least 1"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--silence", type=float, default=liveness.SILENCE_S, help="seconds after which a lease is dead")
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    liveness.SILENCE_S = given.silence
    kind = "postgres" if given.database.startswith("postgresql:") else "sqlite"
    begun, told_of = time.monotonic(), 0
    with tempfile.TemporaryDirectory() as folder:
        run = Run(given.database, given.seed, Path(folder))
        for number in range(1, given.kills + 1):
            run.round(number)
            for problem in run.problems[told_of:]:
                print(f"\r{problem}", file=sys.stderr)
            told_of = len(run.problems)
            print(f"\r{number} of {given.kills}, problems: {told_of}", end="", file=sys.stderr, flush=True)
        with opened(given.database) as memory:
            run.settle(memory)
    result = {
        "rounds": given.kills,
        "seed": given.seed,
        "store": kind,
        "counts": dict(sorted(run.counts.items())),
        "calls cut by a kill": dict(sorted(run.cut.items())),
        "problems": run.problems,
        "seconds": round(time.monotonic() - begun),
        "python": platform.python_version(),
        "processors": os.cpu_count(),
    }
    output = given.output or ROOT / "results" / f"random_kills_{kind}.json"
    output.write_text(json.dumps(result, indent=2) + "\n")
    print(f"\n{json.dumps(result, indent=2)}")
    return 1 if run.problems else 0


if __name__ == "__main__":
    sys.exit(main())
