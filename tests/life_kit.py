"""Things that happen to the rows of a user, for hypothesis to choose from, and an index that follows them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from graph_kit import DIM, Said, World
from mnemic.index import UserIndex

VOCABULARY = ("CAT", "LISBON", "yoga", "PIANO", "rain", "blue", "TRAIN", "tea")
LATER = ("cat", "lisbon", "journey", "pet")
small = st.integers(0, 9)
sentences = st.lists(
    st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=4).map(" ".join), min_size=1, max_size=3
)
message = st.tuples(sentences, st.sampled_from(["s1", "s2"]), st.sampled_from(["Ana", "Bo", "Cy"]))
operation = st.one_of(
    st.tuples(st.just("add"), st.lists(message, min_size=1, max_size=4), st.booleans(), st.booleans()),
    st.tuples(st.just("remove"), st.lists(small, min_size=1, max_size=3)),
    st.tuples(st.just("swap"), small, message),
    st.tuples(st.just("metadata"), small, small),
    st.tuples(st.just("embed")),
    st.tuples(st.just("note"), st.lists(small, min_size=1, max_size=2), st.sampled_from(VOCABULARY), st.booleans()),
    st.tuples(st.just("revise"), small, st.sampled_from(VOCABULARY)),
    st.tuples(st.just("status"), small, st.sampled_from(["retracted", "proposed", "archived", "current"])),
    st.tuples(st.just("mention"), small, small, st.lists(st.sampled_from(LATER), min_size=1), st.booleans()),
    st.tuples(st.just("episode"), small, st.integers(1, 3)),
    st.tuples(st.just("no episode"), small),
    st.tuples(st.just("use_embedder")),
    st.tuples(st.just("sync")),
)


class Life:
    """A world to which things happen, and an index that follows it."""

    def __init__(self) -> None:
        self.world = World()
        self.index = UserIndex(DIM)
        self.free: list[str] = []
        self.made = 0

    def happen(self, name: str, *details: Any) -> None:
        getattr(self, f"_{name.replace(' ', '_')}")(*details)

    def _sync(self) -> None:
        self.index.apply(self.world.delta(self.index.revision))
        self.index.graph()

    def _said(self, message: Any) -> Said:
        text, session, speaker = message
        self.made += 1
        turn_id = self.free.pop() if self.free else f"t{self.made}"
        return Said(turn_id, text, session, speaker, day=self.made, spoken_day=self.made % 3 or None)

    def _add(self, messages: Any, split: bool, deaf: bool) -> None:
        self.world.add(*[self._said(one) for one in messages], split=split, deaf=deaf)

    def _chosen(self, numbers: Any) -> list[str]:
        known = list(self.world.turns)
        return list(dict.fromkeys(known[number % len(known)] for number in numbers)) if known else []

    def _remove(self, numbers: Any) -> None:
        gone = self._chosen(numbers)
        self.world.remove(*gone)
        self.free += gone  # a removed id may be given again

    def _swap(self, number: int, message: Any) -> None:
        said = self._said(message)
        self.world.swap(self._chosen([number]), said)

    def _metadata(self, number: int, value: int) -> None:
        for turn_id in self._chosen([number]):
            self.world.set_metadata(turn_id, {"n": value})

    def _embed(self) -> None:
        self.world.embed()

    def _note(self, numbers: Any, word: str, given: bool) -> None:
        if chosen := self._chosen(numbers):
            self.world.add_note(f"likes {word}", *chosen, given=given)

    def _note_at(self, number: int) -> str | None:
        known = sorted({note_id for note_id, _ in self.world.notes})
        return known[number % len(known)] if known else None

    def _revise(self, number: int, word: str) -> None:
        if note_id := self._note_at(number):
            self.world.revise(note_id, f"now prefers {word}")

    def _status(self, number: int, status: str) -> None:
        if note_id := self._note_at(number):
            self.world.set_status(note_id, status)

    def _mention(self, number: int, sentence: int, keys: Any, deaf: bool) -> None:
        for turn_id in self._chosen([number]):
            self.world.mention(turn_id, sentence, *keys, deaf=deaf)

    def _episode(self, number: int, length: int) -> None:
        for turn_id in self._chosen([number]):
            session = self.world.turns[turn_id].turn.session_id
            said = [key for key, row in self.world.turns.items() if row.turn.session_id == session]
            place = said.index(turn_id)
            self.world.add_episode(*said[place : place + length])

    def _no_episode(self, number: int) -> None:
        known = list(self.world.episodes)
        if known:
            self.world.remove_episode(known[number % len(known)])

    def _use_embedder(self) -> None:
        self.world.use_embedder()
