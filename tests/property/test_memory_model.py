"""The public interface against a plain dictionary: whatever is done to a memory, it holds what was acknowledged.

Two memories on one database stand for two processes. Each example has users of its own on a database that all share,
so that many examples open no more files than one. ``MNEMIC_EXAMPLES`` says how many there are (``make soak``),
and then each is longer, and chosen anew each time; what fails is printed as a program, which is kept below.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from mnemic.algo.replay import Standing, replay
from mnemic.index import UserIndex, told
from mnemic.memory import Memory
from mnemic.models.cues import RuleCues
from mnemic.models.doubles import HashEmbedder
from mnemic.protocols import Batch
from mnemic.store import open_store
from mnemic.types import STATUSES
from postgres_kit import emptied

SOAKED = int(os.environ.get("MNEMIC_EXAMPLES", "0"))
EXAMPLES = {"sqlite": SOAKED or 950, "postgres": SOAKED or 50}
STEPS = 25 if SOAKED else 5
DIM = 16

PHRASES = (
    "The barge lies in Rotterdam.",
    "Twelve eggs,\n please\0",
    "昨日公園🚲",
    "\ud800 and half of it",
    " ",
    "e\u0301\u202e",
)
SESSIONS = ("s1", "s2")
SPEAKERS = ("Ana", "Bo")

small = st.integers(0, 9)
who = st.sampled_from((0, 1))
place = st.sampled_from((0, 1))
talk = st.lists(
    st.tuples(st.sampled_from(SESSIONS), st.sampled_from(SPEAKERS), st.sampled_from(PHRASES)), min_size=1, max_size=3
)


@dataclass
class Kept:
    """What one user's memory must hold: turn id -> (session, speaker, words) in order; note -> (source, status)."""

    turns: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    notes: dict[str, tuple[str, str]] = field(default_factory=dict)
    last: tuple[str, str] | None = None  # the last operation that may be undone, and the note's status after that
    gone: dict[str, str] = field(default_factory=dict)  # the number that only erased words had -> their id

    def erase(self, ids: list[str]) -> None:
        self.gone |= {number_of(self.turns.pop(turn_id)[2]): turn_id for turn_id in ids}
        self.notes = {id: (source, status) for id, (source, status) in self.notes.items() if source in self.turns}
        self.last = None


def number_of(words: str) -> str:
    return words.rsplit(" ", 1)[1]


class Database:
    """One database, two memories on it, and a clock that goes on with every call."""

    def __init__(self, address: str | Path) -> None:
        self.address = address
        self.now = datetime(2024, 1, 1, tzinfo=UTC)
        self.memories = [self.opened(), self.opened()]
        self.examples = count()

    def opened(self) -> Memory:
        return Memory(open_store(self.address), embedder=HashEmbedder(DIM), cue_extractor=RuleCues(), clock=self.later)

    def later(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    def restart(self, which: int) -> None:
        self.memories[which].close()
        self.memories[which] = self.opened()

    def words(self) -> bytes:
        """All bytes of a file and its log; nothing of a server."""
        files = (Path(f"{self.address}{end}") for end in ("", "-wal"))
        return b"".join(path.read_bytes() for path in files if path.exists())


DATABASES: dict[str, Database] = {}


@pytest.fixture(scope="module", autouse=True)
def _databases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Closed at the end; in memory where that can be had, for each call waits for its disk."""
    folder = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    FOLDERS["sqlite"], FOLDERS["postgres"] = folder, tmp_path_factory.mktemp("model")
    yield
    for database in DATABASES.values():
        for memory in database.memories:
            memory.close()
    DATABASES.clear()
    shutil.rmtree(folder)


FOLDERS: dict[str, Path] = {}


def database_of(kind: str) -> Database:
    if kind not in DATABASES:
        address = emptied(FOLDERS[kind]) if kind == "postgres" else FOLDERS[kind] / "m.db"
        DATABASES[kind] = Database(address)
    return DATABASES[kind]


class Model(RuleBasedStateMachine):
    """Two users' lives in two memories."""

    kind: ClassVar[str]

    @initialize(first=talk, second=talk)
    def begin(self, first: Any, second: Any) -> None:
        self.database = database_of(self.kind)
        self.number = next(self.database.examples)
        self.users = [f"ana {self.number}", f"bo {self.number}"]
        self.kept = [Kept(), Kept()]
        self.made = count()
        self.is_behind = False
        self.add(0, 0, first, "now", None)
        self.add(1, 1, second, "now", None)

    # words ---------------------------------------------------------------------------------------------

    def _messages(self, user: int, said: Any, again: int | None) -> list[dict[str, str]]:
        """Messages with words that nobody else says, under new ids, or one under an id that was erased."""
        kept = self.kept[user]
        erased = [turn_id for turn_id in kept.gone.values() if turn_id not in kept.turns]
        made = []
        for session, speaker, phrase in said:
            number = next(self.made)
            words = f"{phrase} {self.users[user].replace(' ', '')}x{number}z"  # no number begins another
            made.append(
                {"role": "user", "id": f"t{number}", "speaker": speaker, "session_id": session, "content": words}
            )
        if again is not None and erased:
            made[0]["id"] = erased[again % len(erased)]
        return made

    def _kept(self, user: int, messages: list[dict[str, str]]) -> None:
        for one in messages:
            kept = self.kept[user]
            kept.turns.setdefault(one["id"], (one["session_id"], one["speaker"], one["content"]))

    @rule(place=place, user=who, said=talk, embed=st.sampled_from(("now", "later")), again=st.none() | small)
    def add(self, place: int, user: int, said: Any, embed: Any, again: int | None) -> None:
        messages = self._messages(user, said, again)
        new = self.database.memories[place].add(messages, user_id=self.users[user], embed=embed)
        assert (new.new, new.turn_ids) == (len(messages), tuple(one["id"] for one in messages))
        self.is_behind |= embed == "later"
        self._kept(user, messages)

    @rule(place=place, user=who, number=small, others=st.booleans())
    def repeat(self, place: int, user: int, number: int, others: bool) -> None:
        """Messages are sent again, once with other words under their ids."""
        known = list(self.kept[user].turns.items())[number % 3 :]
        sent = [
            {
                "role": "user",
                "id": id,
                "session_id": session,
                "speaker": speaker,
                "content": "Other." if others else words,
            }
            for id, (session, speaker, words) in known
        ]
        if sent:
            added = self.database.memories[place].add(sent, user_id=self.users[user])
            assert (added.new, bool(added.warnings)) == (0, others)

    @rule(place=place, user=who, number=small, whole_session=st.booleans())
    def delete(self, place: int, user: int, number: int, whole_session: bool) -> None:
        kept, memory = self.kept[user], self.database.memories[place]
        if not kept.turns:
            return
        turn_id = list(kept.turns)[number % len(kept.turns)]
        session = kept.turns[turn_id][0]
        ids = [id for id, said in kept.turns.items() if said[0] == session] if whole_session else [turn_id]
        how = {"session_id": session} if whole_session else {"turn_id": turn_id}
        assert memory.delete(user_id=self.users[user], **how) == len(ids)
        kept.erase(ids)

    @rule(place=place, user=who)
    def delete_all(self, place: int, user: int) -> None:
        kept = self.kept[user]
        assert self.database.memories[place].delete_all(user_id=self.users[user]) == len(kept.turns)
        kept.erase(list(kept.turns))

    @rule(place=place, user=who, number=small)
    def search(self, place: int, user: int, number: int) -> None:
        kept, memory = self.kept[user], self.database.memories[place]
        if not kept.turns:
            return
        turn_id, (_, _, words) = list(kept.turns.items())[number % len(kept.turns)]
        for asking in (0, 1):
            found = memory.search(number_of(words), user_id=self.users[asking], top_k=5).results
            # Ids are alike for both users; what is quoted is somebody's own words.
            quoted = [quote for hit in found for quote in hit.quotes]
            assert asking != user or any(turn_id in hit.turn_ids for hit in found)
            assert any(number_of(words) in quote for quote in quoted) == (asking == user)
            mine = [said[2] for said in self.kept[asking].turns.values()]
            assert all(any(quote in words for words in mine) for quote in quoted)

    # processes -----------------------------------------------------------------------------------------

    @rule(which=place)
    def restart(self, which: int) -> None:
        self.database.restart(which)

    @rule(place=place, user=who, said=talk, committed=st.booleans(), erases=st.booleans())
    def crash(self, place: int, user: int, said: Any, committed: bool, erases: bool) -> None:
        """A child process adds or erases, and dies right before or after the moment from which it counts."""
        kept, name = self.kept[user], self.users[user]
        messages = self._messages(user, said, None)
        memory = self.database.memories[place]
        erases = erases and bool(kept.turns)
        first = next(iter(kept.turns), "")
        died = in_a_child(
            memory,
            lambda: memory.delete(user_id=name, turn_id=first) if erases else memory.add(messages, user_id=name),
            committed=committed,
        )
        assert died
        if committed and erases:
            kept.erase([first])
        elif committed:
            self._kept(user, messages)
        self.database.restart(place)  # as whoever looks after the process does; the bytes of what it erased go then

    # notes ---------------------------------------------------------------------------------------------

    @rule(place=place, user=who, number=small)
    def add_note(self, place: int, user: int, number: int) -> None:
        kept, memory = self.kept[user], self.database.memories[place]
        if not kept.turns:
            return
        source, given_id = list(kept.turns)[number % len(kept.turns)], f"n{next(self.made)}"
        text = f"Of {number_of(kept.turns[source][2])}"
        memory.add_notes({"id": given_id, "text": text, "sources": [source]}, user_id=self.users[user])
        kept.notes[given_id] = (source, "current")
        self._logged(memory, user, given_id, "retracted")

    def _logged(self, memory: Memory, user: int, given_id: str, undone: str) -> None:
        """Remember the last operation, and what undoing it makes of the note's status."""
        operation = memory.history(user_id=self.users[user])[-1]
        self.kept[user].last = (operation.operation_id, f"{given_id} {undone}")

    def _note(self, memory: Memory, user: int, number: int) -> Any:
        given = [
            one
            for one in memory.notes(user_id=self.users[user], statuses=STATUSES)
            if one.given_id in self.kept[user].notes
        ]
        current = [one for one in given if one.status == "current"]
        return current[number % len(current)] if current else None

    @rule(place=place, user=who, number=small, confirmed=st.booleans())
    def retract(self, place: int, user: int, number: int, confirmed: bool) -> None:
        memory = self.database.memories[place]
        note = self._note(memory, user, number)
        if note is None:
            return
        if confirmed:
            memory.confirm(note.note_id, user_id=self.users[user])
            return
        memory.retract(note.note_id, user_id=self.users[user])
        self.kept[user].notes[note.given_id] = (self.kept[user].notes[note.given_id][0], "retracted")
        self._logged(memory, user, note.given_id, "current")

    @rule(place=place, user=who, number=small)
    def revise(self, place: int, user: int, number: int) -> None:
        """As a model does: a next version, which may be undone like any; what it was given as stays the first's."""
        memory, name = self.database.memories[place], self.users[user]
        note = self._note(memory, user, number)
        if note is None:
            return
        fuller = replace(note, version=note.version + 1, text=f"{note.text}, more fully", given_id=f"{note.given_id}v")
        memory._store.write(
            name, Batch(notes=(fuller,), surfaces={key: key for key in note.cues}), now=self.database.later()
        )
        kept = self.kept[user]
        source = kept.notes[note.given_id][0]
        kept.notes[note.given_id], kept.notes[fuller.given_id] = (source, "superseded"), (source, "current")
        kept.last = None

    @precondition(lambda self: any(kept.last for kept in self.kept))
    @rule(place=place)
    def undo(self, place: int) -> None:
        user = 0 if self.kept[0].last else 1
        kept = self.kept[user]
        operation_id, (given_id, status) = kept.last[0], kept.last[1].split(" ")
        self.database.memories[place].undo(operation_id, user_id=self.users[user])
        kept.notes[given_id] = (kept.notes[given_id][0], status)
        kept.last = None

    # what must be true ---------------------------------------------------------------------------------

    def teardown(self) -> None:
        if not hasattr(self, "users"):
            return
        if self.is_behind:
            self.database.memories[0].wait()
        # The one that did less of it by turns: what it followed, it followed through the rows.
        memory = self.database.memories[self.number % 2]
        for user, name in enumerate(self.users):
            self._holds(memory, user, name)
        self._erased_words_are_nowhere()
        assert memory._store.check() == []
        for name in self.users:
            for one in self.database.memories:
                one.delete_all(user_id=name)

    def _holds(self, memory: Memory, user: int, name: str) -> None:
        kept = self.kept[user]
        turns = memory.get_all(user_id=name)
        assert {turn.turn_id: (turn.session_id, turn.speaker, turn.text) for turn in turns} == kept.turns
        assert [turn.turn_id for turn in turns] == list(kept.turns)
        notes = memory.notes(user_id=name, statuses=STATUSES)
        assert {one.given_id: (one.sources[0].turn_id, one.status) for one in notes} == kept.notes
        standing = {(one.note_id, one.version): Standing(one.text, one.status, one.valid) for one in notes}
        assert replay(memory.history(user_id=name)) == standing
        with memory._indexes.graph(name) as (graph, record):
            followed = told(graph)
        fresh = UserIndex(record.dim if record else 0)
        fresh.apply(memory._store.load(name, since=0))
        assert followed == told(fresh.graph())

    def _erased_words_are_nowhere(self) -> None:
        numbers = {number for kept in self.kept for number in kept.gone}
        if not numbers:
            return
        there = self.database.words()
        for name in self.users:
            there += repr(list(self.database.memories[0].export(user_id=name))).encode("utf-8", "surrogatepass")
        assert not [number for number in numbers if number.encode() in there]


def in_a_child(memory: Memory, work: Callable[[], object], *, committed: bool) -> bool:
    """Whether a child process that did some work died as it was to: without a word, at the first write's commit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads: this child only writes, and dies
        process = os.fork()
    if process == 0:
        code = 1
        try:
            database = memory._store._database
            change = database.change

            def dying(do: Any, **how: Any) -> Any:
                def last(connection: Any) -> Any:
                    made = do(connection)
                    if not committed:
                        os._exit(0)
                    return made

                change(last, **how)
                os._exit(0)

            database.change = dying
            work()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0


class Sqlite(Model):
    kind = "sqlite"


class Postgres(Model):
    kind = "postgres"


for machine in (Sqlite, Postgres):
    machine.TestCase.settings = settings(
        max_examples=EXAMPLES[machine.kind],
        stateful_step_count=STEPS,
        deadline=None,
        derandomize=not SOAKED,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
TestSqlite = Sqlite.TestCase
TestPostgres = Postgres.TestCase


# programs that failed once --------------------------------------------------------------------------------


def _erased_by_who_dies_then(state: Model) -> None:
    """The words of an erasure that counts, by a process that dies before it rewrote the file."""
    state.crash(place=1, user=0, said=[("s1", "Bo", PHRASES[0])], committed=True, erases=True)
    state.restart(which=0)


def _ids_given_again_and_again(state: Model) -> None:
    """An id whose words were erased has other words, twice, and is erased by another process each time."""
    for place in (0, 1):
        state.delete_all(place=place, user=1)
        state.add(place=1 - place, user=1, said=[("s2", "Ana", PHRASES[3])], embed="later", again=0)
        state.search(place=place, user=1, number=0)


def _words_with_a_line_break_and_nul(state: Model) -> None:
    state.add(place=0, user=0, said=[("s1", "Bo", PHRASES[1])], embed="now", again=None)
    state.search(place=1, user=0, number=1)


PROGRAMS = (_erased_by_who_dies_then, _ids_given_again_and_again, _words_with_a_line_break_and_nul)


@pytest.mark.parametrize("machine", [Sqlite, Postgres])
@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_that_failed_once(machine, program):
    state = machine()
    state.begin(first=[("s1", "Bo", PHRASES[0])], second=[("s2", "Ana", PHRASES[2])])
    program(state)
    state.teardown()
