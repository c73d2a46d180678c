"""One question followed to what it finds, as in HERO's table 10: over the graph, and over all signals together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from mnemic.bench.datasets.notes import GivenNotes
from mnemic.bench.records import Dataset, Hit, Question, System
from mnemic.bench.systems.documents import turns_of
from mnemic.bench.systems.ours import Ours
from mnemic.errors import InvalidInput
from mnemic.importers import Conversation
from mnemic.protocols import CueExtractor
from mnemic.types import Evidence, Step, Turn

WAYS: Final[Mapping[str, str]] = {
    "hero": "the paper's method: cues, units and notes, then PageRank",
    "default": "as mnemic ships: all signals together",
}
"""The systems that a question is followed through, with what they are."""
_NAMED: Final = 5  # ids in a message about one that does not exist


@dataclass(frozen=True, slots=True)
class Link:
    """One step of a way, from what came before it.

    Attributes:
        before: Words of the question, or of a cue, or of a sentence or note.
        step: What they led to.
    """

    before: str
    step: Step


@dataclass(frozen=True, slots=True)
class Way:
    """How one system came to what it found.

    Attributes:
        anchors: Cues that words of the question led to.
        contexts: Sentences and notes that a cue, or the question as a whole, led to.
        reached: Cues that a sentence, a note or a similar cue led to.
        hits: Best first, each with its own ways.
        gold: For each hit, whether it shows a turn that answers the question.
    """

    anchors: tuple[Link, ...]
    contexts: tuple[Link, ...]
    reached: tuple[Link, ...]
    hits: tuple[Evidence, ...]
    gold: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Beside:
    """A turn, word for word, and what somebody noted of it."""

    turn: Turn
    gold: bool
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """What another system found, as its reader sees it, and whether it stands for a turn that answers the question."""

    hit: Hit
    gold: bool


@dataclass(frozen=True, slots=True)
class Followed:
    """A question and its ways.

    Attributes:
        entities: What the question names, as mnemic's cue extractor finds it.
        evidence: The turns that answer it.
        ways: System -> its way.
        beside: The evidence and the turns of the first hits beside notes on them; empty where none were given.
        others: System -> what it found, best first.
    """

    question: Question
    entities: tuple[str, ...]
    evidence: tuple[Turn, ...]
    ways: Mapping[str, Way]
    beside: tuple[Beside, ...] = ()
    others: Mapping[str, tuple[Shown, ...]] = field(default_factory=dict[str, tuple[Shown, ...]])


def question_of(dataset: Dataset, question_id: str) -> Question:
    """A question by its id.

    Raises:
        InvalidInput: There is none; the message names some that there are.
    """
    for question in dataset.questions:
        if question.question_id == question_id:
            return question
    user = question_id.rpartition("/")[0]
    near = [one.question_id for one in dataset.questions if one.user_id == user] or [
        one.question_id for one in dataset.questions
    ]
    raise InvalidInput(
        f"{dataset.name} has no question {question_id!r}; there are {len(near)} such as {', '.join(near[:_NAMED])}"
    )


def follow(
    dataset: Dataset,
    question: Question,
    systems: Mapping[str, Ours],
    extractor: CueExtractor,
    *,
    top_k: int,
    notes: GivenNotes | None = None,
    others: Sequence[System] = (),
) -> Followed:
    """Take in the conversations of the question's user, and follow the question through each system.

    Args:
        dataset: That the question is of.
        question: Which.
        systems: Name -> mnemic under a configuration, empty.
        extractor: Finds what the question names.
        top_k: Hits to follow.
        notes: Shown beside the turns that they were made of.
        others: Shown beside it: what they find for the question. Memory that a model wrote stands so beside the words
            themselves (HERO, table 3).

    Raises:
        EmbeddingFailed: Something could not be embedded.
    """
    conversations = dataset.conversations[question.user_id]
    turns = {turn.turn_id: turn for conversation in conversations for turn in turns_of(conversation)}
    ways: dict[str, Way] = {}
    for name, system in systems.items():
        system.load(question.user_id, conversations)
        found = system.result(question, top_k=top_k, level="trace", explain=True)
        ways[name] = _way(found.results, question.gold)
    [mentions] = extractor.extract([question.text], names={turn.speaker for turn in turns.values()})
    return Followed(
        question=question,
        entities=tuple(dict.fromkeys(mention.surface for mention in mentions)),
        evidence=tuple(turns[turn_id] for turn_id in question.gold),
        ways=ways,
        beside=() if notes is None else tuple(_beside(question, ways, turns, notes)),
        others={system.name: _shown(system, question, conversations, top_k) for system in others},
    )


def _shown(system: System, question: Question, conversations: Sequence[Conversation], top_k: int) -> tuple[Shown, ...]:
    system.load(question.user_id, conversations)
    found = system.search(question, top_k=top_k, level=system.levels[0])
    return tuple(Shown(hit, not set(question.gold).isdisjoint(hit.turn_ids)) for hit in found.hits[:top_k])


def _way(hits: Sequence[Evidence], gold: Sequence[str]) -> Way:
    links = [link for hit in hits for path in hit.paths for link in _links(path)]
    return Way(
        anchors=_distinct(link for kind, link in links if kind == "anchor"),
        contexts=_distinct(link for kind, link in links if kind == "context"),
        reached=_distinct(link for kind, link in links if kind == "reached"),
        hits=tuple(hits),
        gold=tuple(not set(gold).isdisjoint(hit.turn_ids) for hit in hits),
    )


def _links(path: Sequence[Step]) -> Iterator[tuple[str, Link]]:
    """Each step with the one before it, and what kind of link it is."""
    for before, step in pairwise(path):
        link = Link(before.text or before.id, step)
        if step.kind == "cue":
            yield ("anchor" if before.kind == "query" else "reached"), link
        elif step.kind in ("unit", "note"):
            yield "context", link


def _distinct(links: Iterator[Link]) -> tuple[Link, ...]:
    """Each thing once, by the link that gave it most weight; the strongest first."""
    best: dict[tuple[str, str, str], Link] = {}
    for link in links:
        key = (link.step.kind, link.step.id, link.step.text)
        if key not in best or best[key].step.weight < link.step.weight:
            best[key] = link
    return tuple(sorted(best.values(), key=lambda link: -link.step.weight))


def _beside(
    question: Question, ways: Mapping[str, Way], turns: Mapping[str, Turn], notes: GivenNotes
) -> Iterator[Beside]:
    """The evidence, then the turns of each way's best hit."""
    noted: dict[str, list[str]] = {}
    for note in notes.notes:
        if note.user_id == question.user_id:
            for turn_id in note.turn_ids:
                noted.setdefault(turn_id, []).append(note.text)
    best = [turn_id for way in ways.values() for hit in way.hits[:1] for turn_id in hit.turn_ids]
    for turn_id in dict.fromkeys((*question.gold, *best)):
        yield Beside(turns[turn_id], turn_id in question.gold, tuple(noted.get(turn_id, ())))
