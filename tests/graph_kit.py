"""One user's rows, held in plain Python, and the deltas that a store would give of them; and graphs told by ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from mnemic.algo.graph import Graph
from mnemic.index import UserIndex
from mnemic.models.doubles import HashEmbedder
from mnemic.protocols import Delta, TurnRow
from mnemic.retrieve import Question, Ranking, rank
from mnemic.types import CueMention, Episode, Interval, Note, Role, Span, Thresholds, TimePhrase, Trace, Turn, Unit

DIM = 64
START = datetime(2024, 3, 1, 9, 0, tzinfo=UTC)
LOOSE = Thresholds(tau_init=0.3, tau_alias=0.6, tau_iter=0.1, relevance=0.2)
EMBEDDER = HashEmbedder(DIM)


def vector(text: str, embedder: HashEmbedder = EMBEDDER) -> Any:
    return embedder.embed([text])[0]


@dataclass(frozen=True)
class Said:
    """A message to come: its sentences, each a list of words; the words in capitals are its cues."""

    turn_id: str
    sentences: Sequence[str]
    session: str = "s1"
    speaker: str = "Ana"
    day: float | None = 0.0
    agent: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    spoken_day: float | None = None
    """A day that the words speak of."""
    role: Role = "user"


class World:
    """What a store holds of one user. ``deaf`` turns come without vectors until ``embed``."""

    def __init__(self) -> None:
        self.revision = 0
        self.base = 0
        self.turns: dict[str, TurnRow] = {}
        self.traces: dict[str, tuple[Trace, Any]] = {}
        self.notes: dict[tuple[str, int], tuple[Note, Any]] = {}
        self.cues: dict[str, Any] = {}
        self.episodes: dict[str, Episode] = {}
        self._episode = 0
        self._touched: dict[Any, int] = {}
        self._removed: list[tuple[int, str, Any]] = []
        self._seq = self._trace = self._note = self._ordinal = 0

    # changes -------------------------------------------------------------------------------------------

    def add(self, *said: Said, together: int = 2, split: bool = False, deaf: bool = False) -> None:
        """One write: turns, packed ``together`` at a time (or split, a trace a sentence)."""
        self.revision += 1
        self._add(said, together, split, deaf)

    def swap(self, gone: Collection[str], *said: Said) -> None:
        """One write that removes turns and adds others."""
        self.revision += 1
        self._remove(gone)
        self._add(said, 2, False, False)
        self._drop_cues()

    def remove(self, *gone: str) -> None:
        self.revision += 1
        self._remove(gone)
        self._drop_cues()

    def set_metadata(self, turn_id: str, metadata: dict[str, Any]) -> None:
        self.revision += 1
        row = self.turns[turn_id]
        self.turns[turn_id] = replace(row, turn=replace(row.turn, metadata=metadata))
        self._touch("turn", turn_id)

    def embed(self, embedder: HashEmbedder = EMBEDDER) -> None:
        """Late vectors for everything that lacks them."""
        self.revision += 1
        for turn_id, row in self.turns.items():
            if row.unit_vectors is None:
                texts = [row.turn.text[unit.start : unit.end] for unit in row.units]
                self.turns[turn_id] = replace(row, unit_vectors=embedder.embed(texts))
                self._touch("turn", turn_id)
        for trace_id, (trace, held) in self.traces.items():
            if held is None:
                self.traces[trace_id] = trace, vector(self.words(trace), embedder)
                self._touch("trace", trace_id)
        for key, held in self.cues.items():
            if held is None:
                self.cues[key] = vector(key, embedder)
                self._touch("cue", key)

    def use_embedder(self) -> None:
        """Another embedder: all vectors go, and every index has to start afresh."""
        self.revision += 1
        self.base = self.revision
        self.turns = {key: replace(row, unit_vectors=None) for key, row in self.turns.items()}
        self.traces = {key: (trace, None) for key, (trace, _) in self.traces.items()}
        self.notes = {key: (note, None) for key, (note, _) in self.notes.items()}
        self.cues = dict.fromkeys(self.cues)

    def add_note(self, text: str, *turn_ids: str, status: Any = "current", given: bool = False) -> str:
        """A note that rests on the first sentence of some turns."""
        self.revision += 1
        self._note += 1
        note = Note(
            note_id=f"N{self._note}",
            version=1,
            kind="fact",
            about="Ana",
            text=text,
            valid=Interval(None, None),
            sources=self._first_sentences(turn_ids),
            status=status,
            cues=_cues(text),
            given_id=f"given {self._note}" if given else None,
        )
        self._put_note(note)
        return note.note_id

    def _first_sentences(self, turn_ids: Sequence[str]) -> tuple[Span, ...]:
        return tuple(Span(turn_id, 0, self.turns[turn_id].units[0].end) for turn_id in turn_ids)

    def mention(self, turn_id: str, sentence: int, *keys: str, deaf: bool = False) -> None:
        """More cues, found later in a sentence of a turn that is there."""
        self.revision += 1
        row = self.turns[turn_id]
        for key in keys:
            self._put_cue(key, deaf)
        place = sentence % len(row.units)
        said = row.units[place]
        more = replace(said, cues={**dict.fromkeys(keys, 1), **said.cues})
        self.turns[turn_id] = replace(row, units=(*row.units[:place], more, *row.units[place + 1 :]))
        self._touch("turn", turn_id)

    def add_episode(self, *turn_ids: str, topic: str = "topic", summary: str = "summary") -> str | None:
        """A stored episode of turns of one session; none where one of them is in another one."""
        if any(turn_id in one.turn_ids for one in self.episodes.values() for turn_id in turn_ids):
            return None
        self.revision += 1
        self._episode += 1
        session = self.turns[turn_ids[0]].turn.session_id
        one = Episode(f"E{self._episode}", session, turn_ids, topic, summary, Interval(None, None), "scripted:model")
        self.episodes[one.episode_id] = one
        self._touch("episode", one.episode_id)
        return one.episode_id

    def remove_episode(self, episode_id: str) -> None:
        self.revision += 1
        del self.episodes[episode_id]
        self._log("episode", episode_id)

    def set_status(self, note_id: str, status: Any) -> None:
        """Of all versions of a note."""
        self.revision += 1
        for known, (note, held) in list(self.notes.items()):
            if known[0] == note_id:
                self.notes[known] = replace(note, status=status), held
                self._touch("note", known)

    def retract(self, note_id: str) -> None:
        self.set_status(note_id, "retracted")

    def revise(self, note_id: str, text: str, *turn_ids: str) -> None:
        """The next version, on the same turns or on others."""
        self.revision += 1
        (old, held) = self.notes[note_id, max(version for known, version in self.notes if known == note_id)]
        self.notes[note_id, old.version] = replace(old, status="superseded"), held
        self._touch("note", (note_id, old.version))
        sources = self._first_sentences(turn_ids) or old.sources
        changed = {"text": text, "cues": _cues(text), "sources": sources, "status": "current"}
        self._put_note(replace(old, version=old.version + 1, **changed))

    # what a store gives --------------------------------------------------------------------------------

    def delta(self, since: int = 0) -> Delta:
        is_stranger = 0 < since < self.base
        removed = [(kind, key) for revision, kind, key in self._removed if 0 < since < revision]
        if is_stranger:
            removed = [("turn", seq) for seq in range(self._seq)]
            removed += [("trace", f"T{i}") for i in range(self._trace + 1)]
            removed += [("note", f"N{i}") for i in range(self._note + 1)]
            removed += [("episode", f"E{i}") for i in range(self._episode + 1)]
            since = 0
        return Delta(
            revision=self.revision,
            removed_turns=tuple(key for kind, key in removed if kind == "turn"),
            removed_traces=tuple(key for kind, key in removed if kind == "trace"),
            removed_notes=tuple(dict.fromkeys(key for kind, key in removed if kind == "note")),
            turns=tuple(row for key, row in self.turns.items() if self._newer("turn", key, since)),
            traces=tuple(held for key, held in self.traces.items() if self._newer("trace", key, since)),
            notes=tuple(self.notes[key] for key in sorted(self.notes) if self._newer("note", key, since)),
            cues=tuple((key, key.upper(), held) for key, held in self.cues.items() if self._newer("cue", key, since)),
            removed_episodes=tuple(key for kind, key in removed if kind == "episode"),
            episodes=tuple(one for key, one in self.episodes.items() if self._newer("episode", key, since)),
        )

    def index(self, dim: int = DIM) -> UserIndex:
        index = UserIndex(dim)
        index.apply(self.delta())
        return index

    def graph(self) -> Graph:
        return self.index().graph()

    def words(self, trace: Trace) -> str:
        return " ".join(self.turns[span.turn_id].turn.text[span.start : span.end] for span in trace.spans)

    # -----------------------------------------------------------------------------------------------------

    def _add(self, said: Sequence[Said], together: int, split: bool, deaf: bool) -> None:
        spans: list[tuple[str, list[Span]]] = []
        for message in said:
            row = self._row(message, deaf)
            turn = row.turn
            self.turns[turn.turn_id] = row
            self._touch("turn", turn.turn_id)
            for key in sorted({key for unit in row.units for key in unit.cues}):
                self._put_cue(key, deaf)
            whole = [Span(turn.turn_id, 0, len(turn.text))]
            pieces = [[Span(turn.turn_id, unit.start, unit.end)] for unit in row.units]
            if split:
                spans += [(turn.session_id, piece) for piece in pieces]
            elif spans and spans[-1][0] == turn.session_id and len(spans[-1][1]) < together:
                spans[-1][1].extend(whole)
            else:
                spans.append((turn.session_id, whole))
        for session, held in spans:
            self._put_trace(Trace("", self._ordinal, session, tuple(held), 1), deaf)
            self._ordinal += 1

    def _row(self, said: Said, deaf: bool) -> TurnRow:
        text = " ".join(said.sentences)
        starts = [sum(len(sentence) + 1 for sentence in said.sentences[:i]) for i in range(len(said.sentences))]
        units = tuple(
            Unit(said.turn_id, start, start + len(sentence), _cues(sentence))
            for start, sentence in zip(starts, said.sentences, strict=True)
        )
        turn = Turn(
            said.turn_id,
            said.session,
            said.role,
            said.speaker,
            text,
            None if said.day is None else START + timedelta(days=said.day),
            agent_id=said.agent,
            metadata=said.metadata,
            seq=self._seq,
        )
        self._seq += 1
        spoken = START + timedelta(days=said.spoken_day or 0)
        phrase = TimePhrase(said.turn_id, 0, 1, Interval(spoken, spoken + timedelta(days=1)))
        phrases = () if said.spoken_day is None else (phrase,)
        vectors = None if deaf else EMBEDDER.embed(list(said.sentences))
        return TurnRow(turn, units, phrases, vectors)

    def _remove(self, gone: Collection[str]) -> None:
        for trace_id, (trace, _) in list(self.traces.items()):
            left = tuple(span for span in trace.spans if span.turn_id not in gone)
            if left != trace.spans:
                del self.traces[trace_id]
                self._log("trace", trace_id)
                if left:
                    self._put_trace(replace(trace, spans=left), deaf=False)
        for key, (note, _) in list(self.notes.items()):
            if any(span.turn_id in gone for span in note.sources):
                del self.notes[key]
                self._log("note", key[0])
                for other in self.notes:
                    if other[0] == key[0]:
                        self._touch("note", other)
        self._remove_episodes(gone)
        for turn_id in gone:
            self._log("turn", self.turns.pop(turn_id).turn.seq)

    def _remove_episodes(self, gone: Collection[str]) -> None:
        for episode_id, one in list(self.episodes.items()):
            if not set(one.turn_ids).isdisjoint(gone):
                del self.episodes[episode_id]
                self._log("episode", episode_id)

    def _drop_cues(self) -> None:
        mentioned = {key for row in self.turns.values() for unit in row.units for key in unit.cues}
        mentioned |= {key for note, _ in self.notes.values() for key in note.cues}
        self.cues = {key: held for key, held in self.cues.items() if key in mentioned}

    def _put_cue(self, key: str, deaf: bool) -> None:
        if key not in self.cues:
            self.cues[key] = None if deaf else vector(key)
            self._touch("cue", key)

    def _put_trace(self, trace: Trace, deaf: bool) -> None:
        self._trace += 1
        trace = replace(trace, trace_id=f"T{self._trace}")
        self.traces[trace.trace_id] = trace, None if deaf else vector(self.words(trace))
        self._touch("trace", trace.trace_id)

    def _put_note(self, note: Note) -> None:
        for key in note.cues:
            self._put_cue(key, deaf=False)
        self.notes[note.note_id, note.version] = note, vector(note.text)
        self._touch("note", (note.note_id, note.version))

    def _touch(self, kind: str, key: Any) -> None:
        self._touched[kind, key] = self.revision

    def _newer(self, kind: str, key: Any, since: int) -> bool:
        return self._touched[kind, key] > since

    def _log(self, kind: str, key: Any) -> None:
        self._removed.append((self.revision, kind, key))


def _cues(sentence: str) -> dict[str, int]:
    return dict(Counter(word.lower() for word in sentence.split() if word.isupper()))


# graphs told by ids --------------------------------------------------------------------------------------


def words(graph: Graph, query: Sequence[str]) -> dict[tuple[str, int], float]:
    """BM25 of the window of each living unit, by turn and position."""
    scores = graph.windows.scores(query)[graph.unit_window]
    return {
        (graph.turn_ids[turn], int(graph.unit_start[unit])): float(scores[unit])
        for unit, turn in enumerate(graph.unit_turn)
        if graph.turn_alive[turn]
    }


def note_words(graph: Graph, query: Sequence[str]) -> dict[tuple[str, str], float]:
    """BM25 of each living current note."""
    scores = graph.note_words.scores(query)
    current = np.flatnonzero(graph.note_alive & graph.note_current)
    return {
        (graph.note_ids[slot], graph.note_text[slot]): float(scores[graph.note_document[slot]])
        for slot in current.tolist()
    }


# asking --------------------------------------------------------------------------------------------------


def question(
    graph: Graph,
    text: str,
    *entities: str,
    named: Collection[str] = (),
    asked: Sequence[tuple[float, float]] = (),
    embedder: HashEmbedder | None = EMBEDDER,
) -> Question:
    """A question whose cues are given. ``asked`` are days."""
    keys = [entity.lower() for entity in entities] or [text.lower()]
    embedded = embedder.embed([text, *keys]) if embedder and graph.dim else np.zeros((1 + len(keys), graph.dim), "f4")
    return Question(
        text=text,
        vector=embedded[0],
        entities=tuple(CueMention(key, key, 0, len(key)) for key in keys),
        entity_vectors=embedded[1:],
        terms=tuple(text.lower().split()),
        named=frozenset(i for i, speaker in enumerate(graph.speakers) if speaker in named),
        asked=tuple((_epoch(start), _epoch(end), False) for start, end in asked),
    )


def _epoch(day: float) -> float:
    return (START + timedelta(days=day)).timestamp()


def ranked(
    graph: Graph,
    asked: Question,
    config: Any,
    *,
    passing: Any = None,
    granularity: Any = "trace",
    limit: int = 1000,
    thresholds: Thresholds = LOOSE,
) -> Ranking:
    everything = np.ones(len(graph.turn_ids), np.bool_)
    return rank(
        asked,
        graph,
        config,
        passing=everything if passing is None else passing,
        granularity=granularity,
        limit=limit,
        thresholds=thresholds,
    )


def by_id(graph: Graph, ranking: Ranking, values: Any = None) -> dict[str, float]:
    """Scores (or others) of what was ranked, by trace id."""
    scores = ranking.scores if values is None else values
    return {graph.trace_ids[slot]: float(scores[slot]) for slot in ranking.order}
