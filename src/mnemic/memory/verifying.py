"""Whether indexes say what the rows say: one built now against the database's own counts, and those in use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mnemic.index import UserIndex

if TYPE_CHECKING:
    from mnemic.index import Indexes
    from mnemic.protocols import Store


def against_rows(store: Store) -> list[str]:
    """What an index of each user, built now, lacks or has too many of, in words; empty when all agree.

    Raises:
        StoreError: The rows cannot be read.
    """
    record = store.embedder()
    found: list[str] = []
    for user_id in store.users():
        index = UserIndex(record.dim if record else 0)
        index.apply(store.load(user_id, since=0))
        counts = store.counts(user_id)
        if counts.revision != index.revision:
            continue  # written meanwhile: whoever wrote has looked
        graph = index.graph()
        alive = graph.turn_alive
        pairs = {
            "turns": (int(alive.sum()), counts.turns),
            "sentences": (int(alive[graph.unit_turn].sum()), counts.units),
            "traces": (int(graph.trace_alive.sum()), counts.traces),
            "cues": (len(graph.cue_slot), counts.cues),
            "turns in traces": (_covered(graph.span_turn[graph.trace_alive[graph.span_trace]]), counts.turns),
        }
        wrong = [
            f"{name} {indexed:,}, not {stored:,}" for name, (indexed, stored) in pairs.items() if indexed != stored
        ]
        if wrong:
            found.append(f"user {user_id!r}: {', '.join(wrong)}")
    return found


def in_use(indexes: Indexes) -> list[str]:
    """Which indexes in memory are not what ones built anew are, in words; they are dropped, and so built anew."""
    differing = indexes.differing()
    for user_id in differing:
        indexes.forget(user_id)
    return [
        f"the index in memory of user {user_id!r} was not what its rows say ({', '.join(names)}); it is built anew"
        for user_id, names in differing.items()
    ]


def _covered(turns: np.ndarray[tuple[int], np.dtype[np.int64]]) -> int:
    return len(np.unique(turns))
