"""What every store promises about size: any number of ids in a call, and nothing but the disk limits a batch."""

from __future__ import annotations

import pytest
from store_kit import NOW, embedder, note, trace_of, turn, unit_of, vector

from mnemic.protocols import Batch, Store
from mnemic.types import Counts, Turn

IDS = [f"m{i}" for i in range(40_000)]
KNOWN = 2_000  # a piece of a list is smaller than this


def test_forty_thousand_ids_in_every_list(store: Store) -> None:
    store.use_embedder(embedder())
    said = [turn(turn_id, session_id=f"s{i % 50}") for i, turn_id in enumerate(IDS[:KNOWN])]
    given = Batch(
        turns=tuple(said),
        units=tuple(unit_of(its, f"k{i}") for i, its in enumerate(said)),
        traces=tuple(trace_of(its) for its in said),
        notes=tuple(note("n", its) for its in said),
        idempotency_key="k",
        request_turns=tuple(IDS[:KNOWN]) * 20,
    )
    store.write("u", given, now=NOW)
    traces, notes, keys = ([f"{kind}{i}" for i in range(1, len(IDS) + 1)] for kind in "TNk")
    backwards = IDS[::-1]
    assert [found.turn_id for found in store.turns("u", turn_ids=backwards)] == IDS[:KNOWN]
    assert store.known_turns("u", backwards) == set(IDS[:KNOWN])
    assert [unit.turn_id for unit in store.units("u", backwards)] == IDS[:KNOWN]
    assert [trace.trace_id for trace in store.traces("u", turn_ids=backwards)] == traces[:KNOWN]
    assert [trace.trace_id for trace in store.traces("u", trace_ids=traces[::-1])] == traces[:KNOWN]
    assert [found.note_id for found in store.notes("u", note_ids=notes[::-1])] == notes[:KNOWN]
    assert store.request("u", "k") == tuple(IDS[:KNOWN]) * 20
    vectors = {
        "units": dict.fromkeys(IDS, vector()[None]),
        "traces": dict.fromkeys(traces, vector()),
        "cues": dict.fromkeys(keys, vector()),
        "notes": dict.fromkeys(notes, vector()),
    }
    store.put_vectors("u", "fp", **vectors)
    assert store.known_cues("u", keys) == set(keys[: KNOWN - 1])
    gone = Batch(remove_turns=tuple(IDS[3:KNOWN]), remove_traces=tuple(traces[3:KNOWN]))
    store.write("u", gone, now=NOW)
    assert store.counts("u") == Counts(3, 3, 3, 3, 3, 3, 0, 3)
    assert len(store.load("u", since=1).removed_turns) == KNOWN - 3
    assert store.request("u", "k") == tuple(IDS[:3]) * 20
    assert store.check() == []


MANY = {"sqlite": 100_000, "postgres": 20_000}
"""Turns of one batch; on PostgreSQL, where each row is erased by itself, four of the pieces that it erases in."""


def test_a_batch_of_very_many_turns(store: Store, request: pytest.FixtureRequest) -> None:
    count = MANY[request.node.callspec.params["store"]]
    said = tuple(Turn(f"m{i}", "s", "user", "Ana", "hi") for i in range(count))
    store.write("u", Batch(turns=said, tails={"s": None}), now=NOW)
    assert store.counts("u").turns == count
    assert store.delete_user("u").erased.turns == count
