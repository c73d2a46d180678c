"""Looking around in one user's index: its sessions, its cues, and what surrounds one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mnemic.errors import NotFound
from mnemic.memory.turn_reader import TurnReader
from mnemic.types import Cue, Interval, Neighbour, Neighbourhood, Note, Sentence, Session, Span

if TYPE_CHECKING:
    from mnemic.algo.graph import Graph, Ints, Mask
    from mnemic.index import Indexes
    from mnemic.protocols import Store


def sessions(store: Store, indexes: Indexes, user_id: str) -> list[Session]:
    """All sessions, in the order of their first turns."""
    with indexes.graph(user_id) as (graph, _):
        ends = [
            (session, len(slots), graph.turn_ids[int(slots[0])], graph.turn_ids[int(slots[-1])])
            for session, slots in graph.sessions.items()
        ]
    reader = TurnReader(store, user_id)
    reader.read([turn_id for _, _, first, last in ends for turn_id in (first, last)])
    # Somebody may have erased one since.
    return [
        Session(session, size, Interval(reader.turns[first].timestamp, reader.turns[last].timestamp))
        for session, size, first, last in ends
        if {first, last} <= reader.turns.keys()
    ]


def cues(indexes: Indexes, user_id: str, *, like: str | None, limit: int) -> list[Cue]:
    """Cues whose key or words contain some text, those in most sentences and notes first."""
    with indexes.graph(user_id) as (graph, _):
        sizes = _Sizes(graph)
        wanted = "" if like is None else like.casefold()
        order: list[int] = np.argsort(-sizes.contexts, kind="stable").tolist()
        found = [
            slot
            for slot in order
            if sizes.contexts[slot]
            and (wanted in graph.cue_keys[slot] or wanted in graph.cue_surfaces[slot].casefold())
        ]
        return [sizes.cue(slot) for slot in found[:limit]]


def neighbours(store: Store, indexes: Indexes, user_id: str, key: str, *, limit: int) -> Neighbourhood:
    """What surrounds a cue, ``limit`` of each kind.

    Raises:
        NotFound: Nothing mentions a cue of this key.
    """
    with indexes.graph(user_id) as (graph, _):
        slot, sizes = graph.cue_slot.get(key), _Sizes(graph)
        if slot is None or not sizes.contexts[slot]:
            raise NotFound(f"user {user_id!r} has no cue {key!r}; mnemic cues lists those that there are")
        _, rows, _ = graph.mentions.column_entries(np.array([slot]))
        rows = np.sort(rows[sizes.living[rows]])
        units = len(graph.unit_turn)
        beside = _beside(graph, rows, slot)
        spans = [
            Span(graph.turn_ids[int(graph.unit_turn[row])], int(graph.unit_start[row]), int(graph.unit_end[row]))
            for row in rows[rows < units][:limit]
        ]
        noted: list[int] = (rows[rows >= units][:limit] - units).tolist()
        note_ids = [graph.note_ids[note] for note in noted]
        order: list[int] = np.lexsort((sizes.contexts, -beside))[:limit].tolist()
        near = tuple(Neighbour(sizes.cue(other), int(beside[other])) for other in order if beside[other])
        cue = sizes.cue(slot)
    reader = TurnReader(store, user_id)
    reader.read([span.turn_id for span in spans])
    sentences = tuple(
        Sentence(turn, span, turn.text[span.start : span.end])
        for span in spans
        if (turn := reader.turns.get(span.turn_id)) is not None
    )
    notes: list[Note] = store.notes(user_id, note_ids=note_ids) if note_ids else []
    return Neighbourhood(cue, sentences, tuple(notes), near)


class _Sizes:
    """In how much of what counts each cue is mentioned.

    Attributes:
        living: (u + m,) units of living turns, and current notes.
        contexts: (c,) how many of these mention a cue.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.living: Mask = np.concatenate((graph.turn_alive[graph.unit_turn], graph.note_alive & graph.note_current))
        mentions, units = graph.mentions, len(graph.unit_turn)
        counts = self.living[mentions.rows]
        self._units = _counted(mentions.columns[counts & (mentions.rows < units)], mentions.shape[1])
        self._notes = _counted(mentions.columns[counts & (mentions.rows >= units)], mentions.shape[1])
        held = graph.frequency.columns[graph.trace_alive[graph.frequency.rows]]
        self._traces = _counted(held, mentions.shape[1])
        self.contexts: Ints = self._units + self._notes

    def cue(self, slot: int) -> Cue:
        """The cue of a slot."""
        key, surface = self._graph.cue_keys[slot], self._graph.cue_surfaces[slot]
        return Cue(key, surface, int(self._units[slot]), int(self._notes[slot]), int(self._traces[slot]))


def _counted(columns: Ints, width: int) -> Ints:
    return np.bincount(columns, minlength=width).astype(np.int64)


def _beside(graph: Graph, rows: Ints, slot: int) -> Ints:
    """(c,) how many of some units and notes mention each other cue."""
    _, columns = graph.mentions.slice_rows(rows)
    found = _counted(columns, graph.mentions.shape[1])
    found[slot] = 0
    return found
