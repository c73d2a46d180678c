"""What Note Memory and Episode Memory hold for a question, with the original words."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mnemic import retrieve
from mnemic.algo import abstain, render
from mnemic.algo.episodes import Stretch, stretches
from mnemic.memory import past
from mnemic.memory.search import Look, Request
from mnemic.memory.turn_reader import TurnReader
from mnemic.retrieve import layers
from mnemic.types import Evidence, Note, Span, Step, Turn

if TYPE_CHECKING:
    from mnemic.algo.graph import Graph, Mask
    from mnemic.protocols import Store


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a layer found.

    Attributes:
        score: Comparable within its layer.
        signals: They sum to it.
        hits: A note's sources, a hit each; an episode, one hit.
        text: For who judges or reranks it: dated, with names.
        note: None of an episode.
        turns: Of an episode: those that pass, in order.
    """

    score: float
    signals: dict[str, float]
    hits: tuple[Evidence, ...]
    text: str
    note: Note | None = None
    turns: tuple[Turn, ...] = ()

    def scored(self, score: float, signals: dict[str, float]) -> Item:
        """The same with another score."""
        return replace(
            self,
            score=score,
            signals=signals,
            hits=tuple(replace(hit, score=score, signals=signals) for hit in self.hits),
        )


@dataclass(frozen=True, slots=True)
class Layer:
    """What one layer found, best first.

    Attributes:
        topic: In [0, 1]: whether any of it is about what the question is about.
        speaker: In [0, 1]: that the answer is the named speaker's own; of the whole memory.
    """

    items: tuple[Item, ...]
    topic: float
    speaker: float

    @property
    def relevant(self) -> bool:
        """Whether it answers the question, by calibrated relevance alone."""
        return bool(self.items) and not abstain.nothing(self.topic, self.speaker)


class Layers:
    """Looks into the two layers.

    Args:
        store: Where the rows are.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        # Of the last memory that was asked by ``himem``: to read all its words again for each question takes longer
        # than all the rest. Nothing of it outlives the graph.
        self._texts: tuple[weakref.ref[Graph], layers.Texts] | None = None

    def notes(self, look: Look, request: Request, *, himem: bool, limit: int) -> Layer:
        """Notes with the words that they rest on."""
        found = layers.notes(look.question, look.ranking, himem=himem, limit=limit)
        slots: list[int] = found.order.tolist()
        ids = [look.graph.note_ids[slot] for slot in slots]
        stored = {note.note_id: note for note in self._stored(request, ids)} if ids else {}
        reader = TurnReader(self._store, request.scope.user_id)
        reader.read([span.turn_id for note in stored.values() for span in note.sources])
        items: list[Item] = []
        for slot, note_id in zip(slots, ids, strict=True):
            note, turns = stored.get(note_id), _rests_on(look.graph, slot)
            # Somebody may have changed or erased it since the index was brought up to date.
            if note is not None and all(span.turn_id in turns.keys() & reader.turns.keys() for span in note.sources):
                items.append(_of_note(look, note, slot, turns, found, reader, explain=request.explain))
        topic = abstain.on_topic(found.cosine, found.coverage, abstain.floor(look.thresholds.relevance, found.count))
        return Layer(tuple(items), topic, look.speaker)

    def _stored(self, request: Request, ids: Sequence[str]) -> list[Note]:
        if request.is_past:
            return past.notes(self._store, request.scope.user_id, request.as_of, request.known_at, note_ids=ids)
        return self._store.notes(request.scope.user_id, note_ids=ids)

    def episodes(self, look: Look, request: Request, *, himem: bool, limit: int) -> Layer:
        """Episodes, whole but for turns that do not pass the filters.

        Args:
            look: With a ranking of turns.
            request: What was asked.
            himem: Ranked by their text, not by the graph.
            limit: Episodes at most.
        """
        cut = stretches(look.graph, request.scope.session_id)
        if himem:
            texts = self._read(look, request, cut)
            found = layers.episodes_by_text(look.question, look.ranking, cut, texts, limit=limit)
        else:
            found = layers.episodes(look.ranking, cut, limit=limit)
        passing = look.ranking.matched.candidates.turns
        places: list[int] = found.order.tolist()
        shown = {place: [slot for slot in cut[place].turns if passing[slot]] for place in places}
        reader = TurnReader(self._store, request.scope.user_id)
        reader.read([look.graph.turn_ids[slot] for slots in shown.values() for slot in slots])
        made = (
            _of_episode(look, cut[place], place, shown[place], found, reader, explain=request.explain)
            for place in places
        )
        return Layer(tuple(item for item in made if item is not None), look.topic, look.speaker)

    def _read(self, look: Look, request: Request, cut: Sequence[Stretch]) -> layers.Texts:
        """The episodes' texts; kept where nothing narrows them."""
        graph, passing = look.graph, look.ranking.matched.candidates.turns
        whole = request.scope.session_id is None and bool(np.all(passing == graph.turn_alive))
        if whole and self._texts is not None and self._texts[0]() is graph:
            return self._texts[1]
        texts = self._texts_of(graph, request.scope.user_id, cut, passing)
        if whole:
            self._texts = weakref.ref(graph), texts
        return texts

    def _texts_of(self, graph: Graph, user_id: str, cut: Sequence[Stretch], passing: Mask) -> layers.Texts:
        turns = {turn.turn_id: turn for turn in self._store.turns(user_id)}
        words = {turn_id: turn.text for turn_id, turn in turns.items()}
        return layers.texts_of(graph, cut, retrieve.described(graph, cut, turns), passing, words)


def _rests_on(graph: Graph, note: int) -> dict[str, int]:
    """turn_id -> slot of the turns that a note rests on."""
    slots: list[int] = graph.rest_turn[graph.rest_note == note].tolist()
    return {graph.turn_ids[slot]: slot for slot in slots}


def _of_note(
    look: Look,
    note: Note,
    slot: int,
    turns: dict[str, int],
    found: layers.NoteLayer,
    reader: TurnReader,
    *,
    explain: bool,
) -> Item:
    graph, passing = look.graph, look.ranking.matched.candidates.turns
    score = float(found.scores[slot])
    signals = {name: float(values[slot]) for name, values in found.contributions.items()}
    hits: list[Evidence] = []
    for span in note.sources:
        trace = _trace_at(graph, turns[span.turn_id], span.start)
        if trace is None:
            continue
        step = Step("note", note.note_id, note.text, score)
        paths = ((step, Step("trace", graph.trace_ids[trace], "", score)),) if explain else ()
        hits.append(
            retrieve.evidence(
                graph, trace, [span], reader.turns, passing=passing, score=score, signals=signals, paths=paths
            )
        )
    text = f"{render.one_line(note.about)} ({render.moment(note.valid.start)}): {note.text}"
    return Item(score, signals, tuple(hits), text, note=note)


def _trace_at(graph: Graph, turn: int, start: int) -> int | None:
    """The living trace that holds a place in a turn."""
    here = np.flatnonzero((graph.span_turn == turn) & graph.trace_alive[graph.span_trace])
    if not len(here):
        return None
    holds = here[graph.span_start[here] <= start]
    return int(graph.span_trace[holds[-1] if len(holds) else here[0]])


def _of_episode(
    look: Look,
    one: Stretch,
    place: int,
    shown: Sequence[int],
    found: layers.EpisodeLayer,
    reader: TurnReader,
    *,
    explain: bool,
) -> Item | None:
    """An episode; None where somebody erased all of it meanwhile."""
    graph = look.graph
    turns = [reader.turns[turn_id] for slot in shown if (turn_id := graph.turn_ids[slot]) in reader.turns]
    trace = _best_trace(look, int(found.best[place]))
    if not turns or trace is None:
        return None
    score = float(found.scores[place])
    signals = {name: float(values[place]) for name, values in found.contributions.items()}
    hit = retrieve.evidence(
        graph,
        trace,
        [Span(turn.turn_id, 0, len(turn.text)) for turn in turns],
        reader.turns,
        passing=look.ranking.matched.candidates.turns,
        score=score,
        signals=signals,
        paths=retrieve.paths(look.ranking.matched, trace, reader.words) if explain else (),
        episode_id=one.episode_id,
    )
    return Item(score, signals, (hit,), hit.text, turns=tuple(turns))


def _best_trace(look: Look, turn: int) -> int | None:
    """The trace of a turn's best sentence; of a turn without sentences its first trace."""
    graph = look.graph
    first, stop = np.searchsorted(graph.unit_turn, (turn, turn + 1)).tolist()
    if first < stop:
        unit = first + int(np.argmax(look.ranking.matched.units[first:stop]))
        if (trace := int(graph.unit_trace[unit])) >= 0:
            return trace
    held = retrieve.spans_of(graph, turn, "turn", look.ranking.matched.candidates.turns)
    return held[0][0] if held else None
