"""How what is known about a topic has changed: a chain of notes, each with what it took the place of, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from mnemic.algo import abstain
from mnemic.algo.lexical import terms
from mnemic.algo.reasons import reasons
from mnemic.algo.sentences import split
from mnemic.memory.turn_reader import TurnReader
from mnemic.protocols import BY_NOTE, Store
from mnemic.retrieve import layers
from mnemic.types import STATUSES, Evolution, EvolutionStep, Note, Operation, Reason, Span

if TYPE_CHECKING:
    from mnemic.config import Configuration
    from mnemic.memory.search import Request, Searcher

_NEAREST: Final = 50
_FIRST: Final = datetime.min.replace(tzinfo=UTC)


def evolution(
    store: Store, searcher: Searcher, request: Request, config: Configuration, *, about: str | None
) -> Evolution:
    """The notes about a topic that ever counted, in the order in which they began to hold.

    Args:
        store: Where the rows are.
        searcher: Over the same store's indexes.
        request: What is asked: its query is the topic.
        config: How the topic is understood.
        about: Only notes about this person.
    """
    user_id = request.scope.user_id
    log = store.operations(user_id)
    versions = store.notes(user_id, about=about, statuses=STATUSES, known_at=request.known_at)
    ever = [note for note in versions if _ever_counted(note, log)]
    seeds = _about_topic(searcher, request, config, ever)
    links = _links(log)
    wanted = _connected(seeds, links)
    chain = sorted((note for note in ever if note.note_id in wanted), key=_age)
    reader = TurnReader(store, user_id)
    reader.read([span.turn_id for note in chain for span in note.sources])
    return Evolution(request.query, tuple(_step(note, chain, links, reader) for note in chain))


def _ever_counted(note: Note, log: Iterable[Operation]) -> bool:
    """Whether a note is current, or was until another took its place; one that was put right is told of, too."""
    if note.status in ("current", "superseded"):
        return True
    return note.status == "retracted" and any(
        one.target_id == note.note_id and one.version == note.version and one.detail.get("relation") == "corrected"
        for one in log
    )


def _about_topic(searcher: Searcher, request: Request, config: Configuration, notes: Sequence[Note]) -> set[str]:
    """The ids of the notes whose words, or vectors, are about the topic."""
    wanted = set(terms(request.query))
    counting = {(note.note_id, note.version) for note in notes}
    with searcher.looked(request, config, granularity="turn", limit=_NEAREST, counting=counting) as look:
        found = layers.notes(look.question, look.ranking, himem=False, limit=_NEAREST)
        floor = abstain.floor(look.thresholds.relevance, found.count)
        vector = look.question.vector
        slots: list[int] = found.order.tolist()
        near = {look.graph.note_ids[slot] for slot in slots if float(look.graph.note_vectors[slot] @ vector) >= floor}
    return near | {note.note_id for note in notes if wanted & set(terms(note.text))}


def _links(log: Iterable[Operation]) -> dict[str, tuple[str, str]]:
    """note_id of what gave way -> what it gave way to, and how."""
    found: dict[str, tuple[str, str]] = {}
    for one in log:
        taken = one.detail.get(BY_NOTE) or one.detail.get("other")
        relation = one.detail.get("relation")
        if one.action == "EXPIRE" and isinstance(taken, str):
            found[one.target_id] = taken, "corrected" if relation == "corrected" else "changed"
    return found


def _connected(seeds: Collection[str], links: dict[str, tuple[str, str]]) -> set[str]:
    """The seeds, and whatever took their place or gave way to them, and so on."""
    found = set(seeds)
    while True:
        more = {old for old, (new, _) in links.items() if new in found} | {
            new for old, (new, _) in links.items() if old in found
        }
        if more <= found:
            return found
        found |= more


def _step(note: Note, chain: Sequence[Note], links: dict[str, tuple[str, str]], reader: TurnReader) -> EvolutionStep:
    there = {one.note_id for one in chain}
    replaced = tuple(old for old, (new, _) in links.items() if new == note.note_id and old in there)
    how = {links[old][1] for old in replaced}
    earlier = any(one.note_id == note.note_id and one.version < note.version for one in chain)
    change = "corrected" if "corrected" in how else "changed" if how else "extended" if earlier else "began"
    return EvolutionStep(note, change, replaced, tuple(_reasons(note, reader)))


def _reasons(note: Note, reader: TurnReader) -> Iterable[Reason]:
    seen: set[Span] = set()
    for span in note.sources:
        turn = reader.turns.get(span.turn_id)
        if turn is None:
            continue
        for start, end in reasons(turn.text, split(turn.text), span.start, span.end):
            where = Span(turn.turn_id, start, end)
            if where not in seen:
                seen.add(where)
                yield Reason(where, turn.text[start:end], turn.speaker, turn.timestamp)


def _age(note: Note) -> tuple[datetime, datetime, int]:
    return note.valid.start or _FIRST, note.recorded_at or _FIRST, note.version
