"""What the search debugger shows: the evidence, each signal's share, and the activated path as a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, get_args

from mnemic.errors import InvalidQuery
from mnemic.service.inspector.timeline_view import find_turn, to_turn
from mnemic.service.inspector.words import address, counted, day, named, short
from mnemic.types import Evidence, FoundNote, Mode, SearchResult, Step

if TYPE_CHECKING:
    from mnemic.service.tenant_memory import TenantMemory

MODES: Final[tuple[Mode, ...]] = get_args(Mode)
_MODES: Final[dict[str, Mode]] = {mode: mode for mode in MODES}
CONFIGS: Final = ("default", "hero")
_DRAWN: Final = 5
"""Hits whose ways are drawn."""
_LABEL: Final = 34


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, as the form has it."""

    query: str
    top_k: int = 10
    mode: Mode = "graph"
    config: str = "default"
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class Bar:
    """What one signal contributed: its value, and its part of what the best hit is ranked by, in percent."""

    name: str
    value: str
    percent: float


@dataclass(frozen=True, slots=True)
class Line:
    """Words of one turn in a hit, with the way there."""

    speaker: str
    text: str
    href: str


@dataclass(frozen=True, slots=True)
class Hit:
    """One piece of evidence."""

    rank: int
    title: str
    score: str
    lines: tuple[Line, ...]
    bars: tuple[Bar, ...]
    ways: tuple[tuple[Stop, ...], ...]


@dataclass(frozen=True, slots=True)
class Stop:
    """One stop of a way to a hit, in words; with the page that says more, where there is one."""

    kind: str
    label: str
    href: str | None


@dataclass(frozen=True, slots=True)
class Dot:
    """A node of the drawn path: where it stands, from 0 to 1 in both directions."""

    name: str
    kind: str
    label: str
    x: float
    y: float
    href: str | None


@dataclass(frozen=True, slots=True)
class Edge:
    """A step from one node to another."""

    source: str
    target: str
    weight: float


@dataclass(frozen=True, slots=True)
class Drawing:
    """The path: nodes in columns, from the question's words to the traces."""

    dots: tuple[Dot, ...]
    edges: tuple[Edge, ...]
    rows: int


@dataclass(frozen=True, slots=True)
class NoteHit:
    """A note that was found."""

    note_id: str
    about: str
    text: str
    score: str
    href: str


@dataclass(frozen=True, slots=True)
class Asked:
    """The page, once something was asked."""

    hits: tuple[Hit, ...]
    notes: tuple[NoteHit, ...]
    relevance: float
    nothing: bool
    summary: str
    judged: tuple[str, ...]
    warnings: tuple[str, ...]
    drawing: Drawing


def question(given: Mapping[str, str]) -> Question | None:
    """What the form says; None where nothing was asked yet.

    Raises:
        InvalidQuery: Names the field.
    """
    query = given.get("q", "")
    if not query.strip():
        return None
    mode = _MODES.get(given.get("mode", "graph"))
    config = given.get("config", "default")
    if mode is None or config not in CONFIGS:
        raise InvalidQuery(f"mode is one of {', '.join(MODES)}; configuration one of {', '.join(CONFIGS)}")
    return Question(query, _whole(given.get("top_k") or "10"), mode, config, _real(given.get("threshold")))


def ask(memory: TenantMemory, user_id: str, asked: Question) -> Asked:
    """Search, and say how it came to what it found."""
    found = memory.search(
        asked.query,
        user_id=user_id,
        top_k=asked.top_k,
        mode=asked.mode,
        config=asked.config,
        threshold=asked.threshold,
        explain=True,
    )
    best = max((sum(hit.signals.values()) for hit in found.results), default=0.0)
    speakers = _speakers(memory, user_id, found)
    took = f"in {found.took_ms:.0f} ms"
    return Asked(
        hits=tuple(_hit(user_id, rank, hit, best, speakers) for rank, hit in enumerate(found.results, 1)),
        notes=tuple(_note(user_id, one) for one in found.notes),
        relevance=found.relevance,
        nothing=found.nothing_relevant,
        summary=f"{counted(len(found.results), 'result')} {took}",
        judged=tuple(
            f"{one.layer}: {'enough' if one.sufficient else 'not enough'}, by {named(one.by)}"
            for one in found.sufficiency
        ),
        warnings=found.warnings,
        drawing=draw(user_id, found.results[:_DRAWN]),
    )


def draw(user_id: str, hits: Sequence[Evidence]) -> Drawing:
    """The ways to some hits as one graph, in columns: a node stands right of everything that leads to it."""
    steps: dict[str, Step] = {}
    weights: dict[tuple[str, str], float] = {}
    columns: dict[str, int] = {}
    for hit in hits:
        for path in hit.paths:
            keys = [_key(step) for step in path]
            for place, (key, step) in enumerate(zip(keys, path, strict=True)):
                steps.setdefault(key, step)
                columns[key] = max(columns.get(key, 0), min(place, _column(step)))
            for pair, step in zip(pairwise(keys), path[1:], strict=True):
                weights[pair] = max(weights.get(pair, 0.0), step.weight)
    last = max(columns.values(), default=0) + 1
    stands = {key: last if steps[key].kind == "trace" else column for key, column in columns.items()}
    members: dict[int, list[str]] = {}
    for key, column in stands.items():
        members.setdefault(column, []).append(key)
    order = sorted(members)
    rows = max((len(its) for its in members.values()), default=0)
    dots = tuple(
        Dot(
            name=key,
            kind=steps[key].kind,
            label=_label(steps[key]),
            x=order.index(column) / max(len(order) - 1, 1),
            y=(place + 0.5) / len(members[column]),
            href=_more(user_id, steps[key]),
        )
        for column in order
        for place, key in enumerate(members[column])
    )
    edges = tuple(Edge(source, target, weight) for (source, target), weight in weights.items())
    return Drawing(dots, edges, rows)


def _column(step: Step) -> int:
    """How far right a node may stand: question words leftmost, whatever way leads over them."""
    return 0 if step.kind == "query" else 9


def _key(step: Step) -> str:
    """One node for the same thing, on whatever way it is met; its name is no text of anybody's where it is drawn."""
    return f"{step.kind}:{step.id or step.text}:{step.text if step.kind == 'unit' else ''}"


def _label(step: Step) -> str:
    return named(step.id) if step.kind == "trace" else short(named(step.text or step.id), _LABEL)


def _more(user_id: str, step: Step) -> str | None:
    if step.kind == "cue":
        return address("graph", {"user": user_id, "cue": step.id})
    if step.kind == "unit":
        return to_turn(user_id, step.id)
    return address("notes", {"user": user_id, "note": step.id}) if step.kind == "note" else None


def _hit(user_id: str, rank: int, hit: Evidence, best: float, speakers: Mapping[str, str]) -> Hit:
    where = hit.episode_id or hit.trace_id
    return Hit(
        rank=rank,
        title=f"{named(where)} · session {named(hit.session_id)} · {day(hit.timestamp)}",
        score=f"{hit.score:.2f}",
        lines=tuple(
            Line(named(speakers.get(span.turn_id, "")), quote, to_turn(user_id, span.turn_id, hit.session_id))
            for span, quote in zip(hit.spans, hit.quotes, strict=True)
        ),
        bars=tuple(
            Bar(name, f"{value:.2f}", round(100 * max(value, 0.0) / best, 1) if best > 0 else 0.0)
            for name, value in sorted(hit.signals.items(), key=lambda one: -one[1])
        ),
        ways=tuple(tuple(Stop(step.kind, _words(step), _more(user_id, step)) for step in path) for path in hit.paths),
    )


def _words(step: Step) -> str:
    return named(step.id) if step.kind == "trace" else named(step.text or step.id)


def _note(user_id: str, found: FoundNote) -> NoteHit:
    note = found.note
    href = address("notes", {"user": user_id, "note": note.note_id})
    return NoteHit(note.note_id, named(note.about), note.text, f"{found.score:.2f}", href)


def _speakers(memory: TenantMemory, user_id: str, found: SearchResult) -> dict[str, str]:
    """turn_id -> who said it. A hit names its speakers once, so turns of several are looked up."""
    known = {turn_id: hit.speakers[0] for hit in found.results if hit.speakers for turn_id in hit.turn_ids}
    unsure = dict.fromkeys(turn_id for hit in found.results if len(hit.speakers) > 1 for turn_id in hit.turn_ids)
    for turn_id in unsure:
        turn = find_turn(memory, user_id, turn_id)
        known[turn_id] = turn.speaker if turn is not None else ""
    return known


def _whole(text: str) -> int:
    if text.isascii() and text.isdigit() and 1 <= int(text[:6]) <= 100:
        return int(text)
    raise InvalidQuery(f"results is a whole number from 1 to 100, not {named(text, most=20)}")


def _real(text: str | None) -> float | None:
    if not text:
        return None
    try:
        return float(text)
    except ValueError as error:
        raise InvalidQuery(f"least score is a number, not {named(text, most=20)}") from error
