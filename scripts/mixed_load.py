"""The load of ``random_kills.py``: one user's calls at random, each written down before and after it, and a worker."""

from __future__ import annotations

import hashlib
import json
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))  # the model by rules

from mnemic import Enriching, Memory, importers
from mnemic.models.doubles import HashEmbedder
from mnemic.types import STATUSES
from reading_kit import ReadingModel

USERS = ("ana", "bo", "cy")
SESSIONS = ("s1", "s2", "s3")
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
