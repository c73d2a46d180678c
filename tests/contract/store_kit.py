"""What the store's contract suite is made of: the stores it runs on, and small batches to give them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np

from mnemic.protocols import Batch, Delta, EmbedderRecord, Lease, Store, TurnRow, Vectors
from mnemic.store import open_store
from mnemic.types import Episode, Interval, Note, Span, Thresholds, Trace, Turn, Unit, WorkKind
from postgres_kit import open_emptied

NOW = datetime(2024, 5, 17, 12, 30, 15, 250, tzinfo=UTC)
DIM = 4
THRESHOLDS = Thresholds(tau_init=0.1, tau_alias=0.9, tau_iter=0.33, relevance=1 / 3)

# One line a store: how to open it twice on the same place, given an empty folder.
FACTORIES: dict[str, Callable[[Path], Store]] = {
    "sqlite": lambda folder: open_store(folder / "memory.db"),
    "postgres": open_emptied,
}

HOSTILE = (
    "\0",
    "a\0b",
    "a\0c",
    "\ud800",
    "\ud83d\ude00",
    "😀",
    "\u00e9",
    "e\u0301",
    "ana",
    "Ana",
    "ana ",
    "ana%",
    "an_",
    "*",
    "%",
    "_",
    "?",
    "'; DROP TABLE turns; --",
    "שלום",
    "日本語",
    "\u202e",
    "x" * 3000,
    "x" * 3001,
)


def embedder(fingerprint: str = "fp", dim: int = DIM) -> EmbedderRecord:
    return EmbedderRecord(fingerprint, f"name of {fingerprint}", dim, THRESHOLDS)


def vector(*numbers: float) -> Any:
    return np.array(numbers or (1, 0, 0, 0), dtype=np.float32)


def turn(turn_id: str, text: str = "I like tea.", session_id: str = "s1", **more: Any) -> Turn:
    return Turn(turn_id, session_id, more.pop("role", "user"), more.pop("speaker", "Ana"), text, **more)


def trace_of(*turns: Turn, ordinal: int = -1) -> Trace:
    spans = tuple(Span(said.turn_id, 0, len(said.text)) for said in turns)
    return Trace("", ordinal, turns[0].session_id, spans, 7)


def unit_of(said: Turn, *cues: str) -> Unit:
    return Unit(said.turn_id, 0, len(said.text), dict.fromkeys(cues, 1))


def note(text: str, *sources: Turn, cues: Sequence[str] = (), **more: Any) -> Note:
    spans = tuple(Span(said.turn_id, 0, 1) for said in sources)
    return Note(
        more.pop("note_id", ""),
        more.pop("version", 1),
        more.pop("kind", "fact"),
        more.pop("about", "Ana"),
        text,
        more.pop("valid", Interval(None, None)),
        spans,
        cues=dict.fromkeys(cues, 2),
        **more,
    )


def episode(*turns: Turn, topic: str = "tea", summary: str = "On tea.", **more: Any) -> Episode:
    """An episode of these turns, before it is stored."""
    session_id = more.pop("session_id", turns[0].session_id)
    turn_ids = tuple(said.turn_id for said in turns)
    return Episode("", session_id, turn_ids, topic, summary, Interval(None, None), more.pop("made_by", "model"), **more)


def batch(*turns: Turn, cues: Sequence[str] = ("tea",), vectors: str | None = None, **more: Any) -> Batch:
    """Turns as one trace, each with one unit that mentions all the cues."""
    made = Batch(
        turns=turns,
        units=tuple(unit_of(said, *cues) for said in turns),
        traces=(trace_of(*turns),) if turns else (),
        surfaces={key: key.upper() for key in cues},
        **more,
    )
    if vectors is None:
        return made
    return replace(
        made,
        vectors=Vectors(
            vectors,
            units={said.turn_id: vector(0, 1, 0, 0)[None] for said in turns},
            traces=dict.fromkeys(range(len(made.traces)), vector(0, 0, 1, 0)),
            cues={key: vector(0, 0, 0, 1) for key in cues},
            notes=dict.fromkeys(range(len(made.notes)), vector(0.5, 0.5, 0.5, 0.5)),
        ),
    )


def claim(
    store: Store, *kinds: WorkKind, token: str = "token", now: datetime = NOW, lasts_s: float = 60, **more: Any
) -> Lease | None:
    """Claim work (on notes, where no kind is named) for a minute."""
    return store.claim(kinds or ("notes",), token=token, now=now, until=now + timedelta(seconds=lasts_s), **more)


def claimed(store: Store, *kinds: WorkKind, **more: Any) -> Lease:
    """The lease of work that is there."""
    lease = claim(store, *kinds, **more)
    assert lease is not None
    return lease


def removal(store: Store, user_id: str, *turn_ids: str) -> Batch:
    """Erasing turns, and repacking what is left of their traces."""
    erased = set(turn_ids)
    traces = store.traces(user_id, turn_ids=turn_ids)
    left = [
        replace(trace, trace_id="", spans=spans)
        for trace in traces
        if (spans := tuple(span for span in trace.spans if span.turn_id not in erased))
    ]
    removed = tuple(trace.trace_id for trace in traces)
    return Batch(remove_turns=turn_ids, remove_traces=removed, traces=tuple(left), trigger="delete")


def read_back(given: Turn, seq: int, at: datetime = NOW) -> Turn:
    """The turn as the store has to give it: its zone is the offset that it had then.

    (A time in a zone with rules is unequal to everything else around a change of the clocks.)
    """
    said = given.timestamp
    if said is not None:
        offset = said.utcoffset()
        assert offset is not None
        said = said.replace(tzinfo=timezone(offset))
    return replace(given, seq=seq, recorded_at=at, timestamp=said)


def _bytes(array: Any) -> bytes | None:
    return None if array is None else array.tobytes()


@dataclass
class Mirror:
    """The simplest index: it holds what deltas say, and drops cues that nothing mentions."""

    revision: int = 0
    turns: dict[int, TurnRow] = field(default_factory=dict)
    traces: dict[str, tuple[Trace, Any]] = field(default_factory=dict)
    notes: dict[tuple[str, int], tuple[Note, Any]] = field(default_factory=dict)
    cues: dict[str, tuple[str, Any]] = field(default_factory=dict)
    episodes: dict[str, Episode] = field(default_factory=dict)

    def apply(self, delta: Delta) -> Mirror:
        for seq in delta.removed_turns:
            self.turns.pop(seq, None)
        for trace_id in delta.removed_traces:
            self.traces.pop(trace_id, None)
        for key in [key for key in self.notes if key[0] in delta.removed_notes]:
            del self.notes[key]
        for episode_id in delta.removed_episodes:
            self.episodes.pop(episode_id, None)
        self.turns |= {row.turn.seq: row for row in delta.turns}
        self.traces |= {trace.trace_id: (trace, vector) for trace, vector in delta.traces}
        self.notes |= {(said.note_id, said.version): (said, vector) for said, vector in delta.notes}
        self.cues |= {key: (surface, vector) for key, surface, vector in delta.cues}
        self.episodes |= {found.episode_id: found for found in delta.episodes}
        mentioned = {key for row in self.turns.values() for unit in row.units for key in unit.cues}
        mentioned |= {key for said, _ in self.notes.values() for key in said.cues}
        self.cues = {key: value for key, value in self.cues.items() if key in mentioned}
        self.revision = delta.revision
        return self

    def state(self) -> Any:
        """Everything but the revision, comparable."""
        return (
            [(row.turn, row.units, row.phrases, _bytes(row.unit_vectors)) for _, row in sorted(self.turns.items())],
            sorted((trace_id, trace, _bytes(found)) for trace_id, (trace, found) in self.traces.items()),
            [(said, _bytes(found)) for _, (said, found) in sorted(self.notes.items())],
            sorted((key, surface, _bytes(found)) for key, (surface, found) in self.cues.items()),
            sorted(self.episodes.items()),
        )


def fresh(store: Store, user_id: str) -> Mirror:
    return Mirror().apply(store.load(user_id, since=0))
