"""An export written back is the memory it was taken from: words, ids, times, notes with their versions, the log."""

from __future__ import annotations

import contextlib
import json
import tempfile
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnemic import Enriching
from mnemic.memory import Memory
from mnemic.models.doubles import HashEmbedder
from reading_kit import ReadingModel

WORDS = st.one_of(
    st.text(min_size=1, max_size=60),
    st.sampled_from(
        [
            "I live in Oslo. I like tea.",
            "I moved to Bergen in May 2021.",
            "My cat is called Miso \ud800 and he sleeps.",
            "I no longer live in Oslo.",
            "a\0b",
        ]
    ),
).filter(lambda text: text.strip())
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)
MESSAGES = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "human", "system"]), "content": WORDS},
    optional={
        "name": st.sampled_from(["Ana", "Bo", "Zoë"]),
        "session_id": st.sampled_from(["s1", "s2"]),
        "agent_id": st.just("helper"),
        "timestamp": st.datetimes(datetime(1990, 1, 1), datetime(2030, 1, 1), timezones=st.sampled_from([UTC, None])),
        "metadata": st.dictionaries(st.text(max_size=6), JSON, max_size=2),
        "recorded_at": st.text(max_size=4),
        "weight": st.integers(0, 5),
    },
) | st.fixed_dictionaries(
    {"role": st.just("user"), "content": st.lists(st.builds(lambda t: {"type": "text", "text": t}, WORDS), min_size=1)}
)


def filled(memory: Memory, calls: list, *, thinks: bool) -> None:
    for number, messages in enumerate(calls):
        added = memory.add(messages, user_id="ana", enrich="later" if number % 2 else "never")
        first = added.turn_ids[0]
        if number % 3 == 0:
            memory.add_notes({"text": f"Statement {number}.", "sources": [first], "id": f"g{number}"}, user_id="ana")
        if number % 3 == 1:
            memory.update(first, user_id="ana", metadata={"n": number})
        if number % 4 == 3:
            memory.delete(user_id="ana", turn_id=first)
    if thinks:
        memory.wait(user_id="ana")
    log = [
        operation for note in memory.notes(user_id="ana") for operation in memory.history(note.note_id, user_id="ana")
    ]
    if log:
        memory.undo(log[-1].operation_id, user_id="ana")


def exported(memory: Memory) -> list:
    # As lines of a file, for that is how it travels.
    return [json.loads(json.dumps(record)) for record in memory.export(user_id="ana")]


@cache
def template() -> bytes:
    """A new database: copying it is much faster than making one."""
    with tempfile.TemporaryDirectory() as folder:
        Memory.open(Path(folder) / "m.db", embedder=None).close()
        return (Path(folder) / "m.db").read_bytes()


def opened(folder: Path, name: str, *, thinks: bool = False) -> Memory:
    if not (folder / name).exists():
        (folder / name).write_bytes(template())
    return Memory.open(
        folder / name,
        embedder=HashEmbedder(),
        model=ReadingModel() if thinks else None,
        enrichment=Enriching(settle_s=0.0),
        workers=0,
    )


def recovered(folder: Path, records: list, user_id: str = "ana") -> Memory:
    memory = opened(folder, "new.db")
    skipped = []
    memory.recover(records, user_id=user_id, skipped=lambda *one: skipped.append(one))
    assert skipped == []
    return memory


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(st.lists(MESSAGES, min_size=1, max_size=4), min_size=1, max_size=6), st.booleans())
def test_an_export_comes_back_as_it_was(calls, thinks):
    with tempfile.TemporaryDirectory() as name, opened(Path(name), "old.db", thinks=thinks) as old:
        filled(old, calls, thinks=thinks)
        records = exported(old)
        if not records:
            return
        with recovered(Path(name), records) as new:
            again = exported(new)
            assert again[0]["mnemic"]["next"] == records[0]["mnemic"]["next"]
            assert again[1:] == records[1:]
            for mine, theirs in zip(new.get_all(user_id="ana"), old.get_all(user_id="ana"), strict=True):
                assert (mine.parts, mine.given, mine.text) == (theirs.parts, theirs.given, theirs.text)
                assert (mine.recorded_at, mine.timestamp) == (theirs.recorded_at, theirs.timestamp)
            for mine, theirs in zip(new.notes(user_id="ana"), old.notes(user_id="ana"), strict=True):
                assert (mine.text, mine.sources, mine.status) == (theirs.text, theirs.sources, theirs.status)
                assert mine.last_confirmed == theirs.last_confirmed
            assert new.check() == []
            assert new.wait().unembedded == 0
            for query in ("Who lives in Oslo?", "tea"):
                hits = [memory.search(query, user_id="ana", top_k=3).results for memory in (old, new)]
                assert [hit.turn_ids for hit in hits[0][:1]] == [hit.turn_ids for hit in hits[1][:1]]


@settings(max_examples=6, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(st.lists(MESSAGES, min_size=1, max_size=4), min_size=2, max_size=5), st.data())
def test_a_restore_that_was_cut_goes_on(calls, data):
    with tempfile.TemporaryDirectory() as name, opened(Path(name), "old.db") as old:
        filled(old, calls, thinks=False)
        records = exported(old)
        if not records:
            return
        cut = data.draw(st.integers(1, len(records)))

        class Killed(Exception):
            pass

        def half():
            yield from records[:cut]
            raise Killed

        with opened(Path(name), "new.db") as memory, contextlib.suppress(Killed):
            memory.recover(half(), user_id="ana")
        with recovered(Path(name), records) as new:
            assert exported(new)[1:] == records[1:]
            added = new.add("One more.", user_id="ana")
            assert added.new == 1
            assert new.check() == []


def test_times_stay_what_they_were():
    moment = datetime(2024, 6, 3, 18, 5, 0, 250, tzinfo=UTC)
    ticks = iter(range(1000))
    with tempfile.TemporaryDirectory() as name, opened(Path(name), "old.db") as old:
        old._writer._clock = old._clock = lambda: moment + timedelta(seconds=next(ticks))
        filled(old, [[{"role": "user", "name": "Ana", "content": "I like tea."}]] * 5, thinks=False)
        records = exported(old)
        assert sum("recorded_at" in record for record in records) >= 4
        with recovered(Path(name), records) as new:
            assert exported(new)[1:] == records[1:]
