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
import hashlib
import json
import os
import platform
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))  # the model by rules

from mnemic import Enriching, Memory, doctor, importers  # noqa: E402 - behind the path
from mnemic.algo.replay import Standing, replay  # noqa: E402 - behind the path
from mnemic.errors import NotFound  # noqa: E402 - behind the path
from mnemic.memory import liveness  # noqa: E402 - behind the path
from mnemic.memory.verifying import against_rows  # noqa: E402 - behind the path
from mnemic.models.doubles import HashEmbedder  # noqa: E402 - behind the path
from mnemic.store import open_store  # noqa: E402 - behind the path
from mnemic.types import STATUSES  # noqa: E402 - behind the path
from reading_kit import ReadingModel  # noqa: E402 - behind the path

USERS = ("ana", "bo", "cy")
SESSIONS = ("s1", "s2", "s3")
LONGEST_S = 2.5
"""A process lives no longer."""
SETTLED_EVERY = 25
FULL = 60
"""Turns after which a user is erased."""
_TOPICS = ("tea", "the harbour", "my bicycle", "the garden", "yoga", "a train to Bergen", "Rosa's concert")

Call = dict[str, Any]


@dataclass(frozen=True)
class State:
    """What one user's memory must hold: (session, text) in order, and id of a given note -> (text, status)."""

    turns: tuple[tuple[str, str], ...] = ()
    notes: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def after(self, call: Call) -> State:
        """What it must hold once a call has returned."""
        match call["verb"]:
            case "add" | "import":
                known = set(self.turns)
                new = [(session, text) for session, text in call["said"] if (session, text) not in known]
                return replace(self, turns=(*self.turns, *new))
            case "delete":
                return self._without({text for _, text in self.turns if text == call["text"]})
            case "delete session":
                return self._without({text for session, text in self.turns if session == call["session"]})
            case "delete all":
                return State()
            case "add note":
                return replace(self, notes={**self.notes, call["id"]: (call["text"], "current")})
            case "retract" | "undo":
                status = "retracted" if call["verb"] == "retract" else "current"
                return replace(self, notes={**self.notes, call["id"]: (self.notes[call["id"]][0], status)})
            case _:
                return self

    def _without(self, gone: set[str]) -> State:
        turns = tuple(one for one in self.turns if one[1] not in gone)
        return State(turns, {id: one for id, one in self.notes.items() if one[0] not in gone})

    def stages(self, call: Call | None) -> list[State]:
        """What it may hold if a call was cut: not begun, done; of an import, any number of its sessions."""
        if call is None:
            return [self]
        if call["verb"] != "import":
            return [self, self.after(call)]
        sessions = list(dict.fromkeys(session for session, _ in call["said"]))
        parts = [[one for one in call["said"] if one[0] in sessions[:count]] for count in range(len(sessions) + 1)]
        return [self.after({**call, "said": part}) for part in parts]


# the load ----------------------------------------------------------------------------------------------


class Load:
    """One user's calls, each written down before and after it."""

    def __init__(self, memory: Memory, user: str, state: State, chance: random.Random, journal: int) -> None:
        self.memory, self.user, self.state, self.chance, self.journal = memory, user, state, chance, journal

    def run(self) -> None:
        while True:
            call = self.next()
            self._note("begin", call)
            try:
                perform(self.memory, self.user, call)
            except Exception as error:  # noqa: BLE001 - whatever reaches a caller is what this counts
                self._note("fault", {**call, "error": f"{type(error).__name__}: {error}"})
                return
            self._note("end", call)
            self.state = self.state.after(call)

    def _note(self, what: str, call: Call) -> None:
        os.write(self.journal, (json.dumps([what, self.user, call]) + "\n").encode())

    def next(self) -> Call:
        """The next call, at random."""
        turns, notes, chance = self.state.turns, self.state.notes, self.chance
        if len(turns) > FULL:
            return {"verb": "delete all"}
        made = {"add": 10, "import": 2}
        if turns:
            made |= {"repeat": 3, "search": 6, "delete": 3, "delete session": 1, "add note": 4}
        if notes:
            made |= {"retract": 2}
        verb = chance.choices(list(made), list(made.values()))[0]
        return getattr(self, f"_{verb.replace(' ', '_')}")()

    def _text(self, kind: str = "named") -> str:
        number = f"{self.user}{kind}{self.chance.getrandbits(48):012x}"
        return f"I like {self.chance.choice(_TOPICS)}, and my number is {number}."

    def _add(self) -> Call:
        keyed = self.chance.random() < 0.3
        kind, count = "keyed" if keyed else "named", self.chance.randint(1, 5)
        said = [(self.chance.choice(SESSIONS), self._text(kind)) for _ in range(count)]
        return {"verb": "add", "said": said, "embed": self.chance.choice(("now", "later")), "keyed": keyed}

    def _repeat(self) -> Call:
        """Messages sent again with their ids."""
        named = [one for one in self.state.turns if f"{self.user}named" in one[1]]
        said = self.chance.sample(named, min(3, len(named))) or [(SESSIONS[0], self._text())]
        return {"verb": "add", "said": said, "embed": "now", "keyed": False}

    def _import(self) -> Call:
        said = [(session, self._text()) for session in SESSIONS for _ in range(4)]
        return {"verb": "import", "said": said}

    def _delete(self) -> Call:
        return {"verb": "delete", "text": self.chance.choice(self.state.turns)[1]}

    def _delete_session(self) -> Call:
        return {"verb": "delete session", "session": self.chance.choice(self.state.turns)[0]}

    def _search(self) -> Call:
        return {"verb": "search", "text": self.chance.choice(self.state.turns)[1]}

    def _add_note(self) -> Call:
        return {"verb": "add note", "id": f"n{self.chance.getrandbits(48):x}", "text": self._delete()["text"]}

    def _retract(self) -> Call:
        id, (_, status) = self.chance.choice(list(self.state.notes.items()))
        return {"verb": "retract" if status == "current" else "undo", "id": id}


def perform(memory: Memory, user: str, call: Call) -> None:
    """Make a call, or make it again."""
    match call["verb"]:
        case "add" if call["keyed"]:  # without ids, but with a key
            said = [{"role": "user", "content": text, "session_id": session} for session, text in call["said"]]
            # The key is the caller's, and outlives the words: it must not have them in it.
            key = hashlib.sha256(call["said"][0][1].encode()).hexdigest()
            memory.add(said, user_id=user, idempotency_key=key, embed=call["embed"])
        case "add":
            memory.add([message(*one) for one in call["said"]], user_id=user, embed=call["embed"])
        case "import":
            with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
                file.writelines(json.dumps(message(*one)) + "\n" for one in call["said"])
                file.flush()
                importers.load(importers.read(Path(file.name)), memory, user_id=user)
        case "delete":
            memory.delete(user_id=user, turn_id=turn_of(memory, user, call["text"]))
        case "delete session":
            memory.delete(user_id=user, session_id=call["session"])
        case "delete all":
            memory.delete_all(user_id=user)
        case "add note":
            source = turn_of(memory, user, call["text"])
            memory.add_notes({"id": call["id"], "text": f"Of {call['text']}", "sources": [source]}, user_id=user)
        case "retract":
            memory.retract(note_of(memory, user, call["id"]), user_id=user)
        case "undo":
            log = memory.history(note_of(memory, user, call["id"]), user_id=user)
            memory.undo(log[-1].operation_id, user_id=user)
        case _:
            found_by_its_own(memory, user, call["text"])


def message(session: str, text: str) -> dict[str, str]:
    return {"id": f"m {key_of(text)}", "role": "user", "content": text, "session_id": session}


def key_of(text: str) -> str:
    """The number that no other text has."""
    return text.rsplit(" ", 1)[1].rstrip(".")


def turn_of(memory: Memory, user: str, text: str) -> str:
    return next(turn.turn_id for turn in memory.get_all(user_id=user) if turn.text == text)


def note_of(memory: Memory, user: str, given_id: str) -> str:
    return next(one.note_id for one in memory.notes(user_id=user, statuses=STATUSES) if one.given_id == given_id)


def found_by_its_own(memory: Memory, user: str, text: str) -> None:
    for asking in USERS:
        hits = memory.search(text, user_id=asking, top_k=5).results
        if any(text in hit.text for hit in hits) != (asking == user):
            raise AssertionError(f"{asking} looked for words of {user}, and was told otherwise")


def opened(database: str, *, workers: int = 0) -> Memory:
    settings = Enriching(settle_s=0.0, batch=4, episodes="rules", conflicts=None, align=False)
    model = ReadingModel(delay_s=0.005)
    return Memory.open(database, embedder=HashEmbedder(16), model=model, enrichment=settings, workers=workers)


def load(database: str, states: Mapping[str, State], seed: str, journal: int) -> None:
    memory = opened(database)
    for user in USERS:
        chance = random.Random(f"{seed} {user}")
        threading.Thread(target=Load(memory, user, states[user], chance, journal).run, daemon=True).start()
    time.sleep(60)


def worker(database: str, parent: int) -> None:
    with opened(database, workers=2) as memory:
        while os.getppid() == parent:
            memory.wait(timeout=1)
            time.sleep(0.01)


# the kills ---------------------------------------------------------------------------------------------


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
