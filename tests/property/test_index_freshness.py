"""What a memory answers never depends on how its index came to be.

A memory follows its rows through adds, updates, erasures, a failing embedder and the writes of another memory on the
same file; after every step it answers as one that opens the file now and builds its index from nothing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from mnemic.errors import EmbeddingFailed, StoreConflict
from mnemic.memory import Memory
from mnemic.models.doubles import HashEmbedder
from mnemic.protocols import Batch
from mnemic.types import Episode, Interval, SearchResult

NOW = datetime(2023, 6, 15, 12, tzinfo=UTC)
SPEAKERS = ("Ana", "Bo", "Cleo Park")
WORDS = ("tea", "Berlin", "yoga", "the bike", "Rosa Parks", "12 eggs", "yesterday", "May 2022", "昨日公园", "🚲", "x")
QUESTIONS = (
    "What does Ana drink in Berlin?",
    "Did Cleo go to yoga yesterday, or in May 2022?",
    "Rosa Parks and the bike",
    "公园",
    "🚲 12 eggs",
)

MODES = ("graph", "graph", "notes", "episodes", "hybrid")

messages = st.lists(
    st.fixed_dictionaries(
        {
            "speaker": st.sampled_from(SPEAKERS),
            "content": st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join),
            "session_id": st.sampled_from(("s1", "s2")),
            "timestamp": st.sampled_from((None, "2022-05-07T10:00:00Z", "2023-06-14T10:00:00Z")),
        }
    ),
    min_size=1,
    max_size=4,
)


class Moody(HashEmbedder):
    """Fails whenever it is told to."""

    def __init__(self) -> None:
        super().__init__(16)
        self.fails = False

    def embed(self, texts, *, kind="passage"):
        if self.fails:
            raise EmbeddingFailed("it is in a mood")
        return super().embed(texts, kind=kind)


def outcome(found: SearchResult) -> list[tuple[object, ...]]:
    return [
        (
            hit.trace_id,
            hit.episode_id,
            hit.spans,
            hit.quotes,
            pytest.approx(hit.score, abs=1e-5),
            approximately(hit.signals),
        )
        for hit in found.results
    ]


def approximately(signals):
    return {name: pytest.approx(value, abs=1e-5) for name, value in signals.items()}


def search(memory: Memory, question: str, **how) -> SearchResult:
    return memory.search(question, user_id="u", top_k=50, reference_time=NOW, **how)


class Freshness(RuleBasedStateMachine):
    """One memory over its whole life, with another one writing beside it."""

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "memory.db"
        self.embedder = Moody()
        # No thread of theirs makes vectors between two answers that are compared.
        self.memory = Memory.open(self.path, embedder=self.embedder, workers=0)
        self.other = Memory.open(self.path, embedder=HashEmbedder(16), workers=0)

    def teardown(self) -> None:
        if hasattr(self, "memory"):
            self.memory.close()
            self.other.close()
            self.folder.cleanup()

    def some_turn(self, data: st.DataObject, then: Callable[[str, str], object]) -> None:
        turns = self.memory.get_all(user_id="u")
        if turns:
            chosen = data.draw(st.sampled_from(turns))
            then(chosen.turn_id, chosen.session_id)

    @rule(messages=messages)
    def add(self, messages) -> None:
        self.memory.add(messages, user_id="u")

    @rule(messages=messages)
    def another_adds(self, messages) -> None:
        self.other.add(messages, user_id="u")

    @rule(fails=st.booleans())
    def mood(self, fails) -> None:
        self.embedder.fails = fails

    @rule(data=st.data(), colour=st.sampled_from(("red", "blue")))
    def update(self, data, colour) -> None:
        self.some_turn(data, lambda turn, _: self.memory.update(turn, user_id="u", metadata={"colour": colour}))

    @rule(data=st.data(), key=st.sampled_from(("journey", "beverage", "berlin")))
    def another_finds_cues(self, data, key) -> None:
        def find(turn_id: str, _: str) -> None:
            units = self.other._store.units("u", [turn_id])
            mentions = {(turn_id, unit.start): {key: 1} for unit in units[:1]}
            self.other._store.write("u", Batch(mentions=mentions, surfaces={key: key.upper()}), now=NOW)

        self.some_turn(data, find)

    @rule(data=st.data())
    def another_makes_an_episode(self, data) -> None:
        def make(turn_id: str, session_id: str) -> None:
            one = Episode("", session_id, (turn_id,), "tea", "What Ana drinks.", Interval(None, None), "a model")
            with suppress(StoreConflict):  # it lies in one already
                self.other._store.write("u", Batch(episodes=(one,)), now=NOW)

        self.some_turn(data, make)

    @rule(data=st.data())
    def erase_turn(self, data) -> None:
        self.some_turn(data, lambda turn, _: self.memory.delete(user_id="u", turn_id=turn))

    @rule(data=st.data())
    def another_erases_turn(self, data) -> None:
        self.some_turn(data, lambda turn, _: self.other.delete(user_id="u", turn_id=turn))

    @rule(data=st.data())
    def erase_session(self, data) -> None:
        self.some_turn(data, lambda _, session: self.memory.delete(user_id="u", session_id=session))

    @rule()
    def another_erases_everything(self) -> None:
        self.other.delete_all(user_id="u")

    @invariant()
    def answers_as_one_opened_now(self) -> None:
        if not hasattr(self, "memory"):
            return
        mood, self.embedder.fails = self.embedder.fails, False
        with Memory.open(self.path, embedder=HashEmbedder(16), workers=0) as fresh:
            assert self.memory.episodes(user_id="u") == fresh.episodes(user_id="u")
            for place, question in enumerate(QUESTIONS):
                how = {"config": "hero" if place == 0 else "default", "granularity": "turn" if place == 1 else "trace"}
                if place == 2:
                    how["filters"] = {"colour": {"ne": "red"}}
                how["mode"] = MODES[place]
                followed, built = (search(memory, question, **how) for memory in (self.memory, fresh))
                assert outcome(followed) == outcome(built), question
                assert [one.note for one in followed.notes] == [one.note for one in built.notes], question
                assert followed.nothing_relevant == built.nothing_relevant, question
        self.embedder.fails = mood


Freshness.TestCase.settings = settings(
    max_examples=12, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck)
)
test_a_memory_answers_as_one_opened_now = Freshness.TestCase
