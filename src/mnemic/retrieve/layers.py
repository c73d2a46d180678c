"""HiMem's two layers ranked for a question (methods.md 2.6): notes, and episodes; pure functions of a graph.

``himem`` is the authors' way: notes of the people whom the question names, by their cosine; episodes by reciprocal rank
fusion of cosine and BM25. Otherwise notes are fused likewise, since a number or rare word is found by its letters, and
those about the people named are preferred to others, not alone; episodes are ranked by what the graph says of their
turns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from mnemic.algo import reciprocal, select
from mnemic.algo.bm25 import BM25
from mnemic.algo.episodes import Stretch, owners, turn_vectors
from mnemic.algo.graph import Doubles, Floats, Graph, Ints, Mask
from mnemic.algo.lexical import terms
from mnemic.algo.vectors import direction, dot
from mnemic.retrieve.question import Question
from mnemic.retrieve.rank import Ranking
from mnemic.types import Episode

_CANDIDATES: Final = 50
"""Episodes that either ranking of ``himem`` lists."""


@dataclass(frozen=True, slots=True)
class Layer:
    """The best of one layer.

    Attributes:
        order: Slots of notes, or places of episodes; best first.
        scores: Of each of them, listed or not.
        contributions: Name -> what it adds to each score; they sum to the scores.
    """

    order: Ints
    scores: Doubles
    contributions: dict[str, Doubles]


@dataclass(frozen=True, slots=True)
class NoteLayer(Layer):
    """Notes.

    Attributes:
        cosine: The best of a listed one, in [0, 1].
        coverage: In [0, 1]: how much of the question's words, weighted by rarity, the best listed one holds.
        count: Notes that could have been listed.
    """

    cosine: float
    coverage: float
    count: int


@dataclass(frozen=True, slots=True)
class EpisodeLayer(Layer):
    """Episodes; ``best`` is (e,), of each the slot of the turn that it was found by, -1 where none passes."""

    best: Ints


@dataclass(frozen=True, slots=True)
class Texts:
    """Episodes as texts: (e, dim) the means of their turns' vectors as unit vectors, and a BM25 document each."""

    vectors: Floats
    words: BM25


def notes(question: Question, ranking: Ranking, *, himem: bool, limit: int) -> NoteLayer:
    """The living current notes all of whose source turns pass the filters, ranked.

    Args:
        question: As ranked.
        ranking: Of the same question: says what passes.
        himem: By cosine alone, where there are vectors, and only those about somebody named, where anybody is.
        limit: Notes at most.
    """
    graph = ranking.matched.graph
    may = graph.note_current & ranking.matched.candidates.notes
    named = {graph.speakers[one] for one in question.named}
    about = np.fromiter((name in named for name in graph.note_about), np.bool_, len(may)) & may
    if himem and named:
        may = about
    cosines = np.asarray(dot(graph.note_vectors, question.vector), np.float64)
    words, held = _lexical(question, graph)
    # Slots of notes depend on how the index came to be; their numbers do not.
    age = np.zeros(len(may), np.int64)
    age[may] = [int(graph.note_ids[slot][1:]) for slot in np.flatnonzero(may).tolist()]
    near = bool(np.any(question.vector))
    literal = himem and near
    contributions = {"cosine": cosines} if literal else _fused(cosines if near else None, words, about, may, age)
    scores = sum(contributions.values(), np.zeros(len(may)))
    order = select.best(scores, may if near else may & (words > 0), limit, ties=[-cosines, age])
    return NoteLayer(
        order,
        scores,
        contributions,
        cosine=float(cosines[order].max(initial=0.0)),
        coverage=float(held[order].max(initial=0.0)),
        count=int(may.sum()),
    )


def _lexical(question: Question, graph: Graph) -> tuple[Doubles, Doubles]:
    """(m,) BM25 of the notes, and how much of the question's words each holds; 0 for those that are not current."""
    words, held = (np.zeros(len(graph.note_document)) for _ in range(2))
    has = graph.note_document >= 0
    words[has] = graph.note_words.scores(question.terms)[graph.note_document[has]]
    held[has] = graph.note_words.coverage(question.terms)[graph.note_document[has]]
    return words, held


def _fused(cosines: Doubles | None, words: Doubles, about: Mask, may: Mask, age: Ints) -> dict[str, Doubles]:
    """What each ranking adds: by words; by cosine; and of the notes about somebody named, by the better of these."""
    by = words if cosines is None else cosines
    listed = {"lexical": select.best(words, may & (words > 0), len(may), ties=[age])}
    if cosines is not None:
        listed["cosine"] = select.best(cosines, may, len(may), ties=[age])
    if about.any():
        listed["about"] = select.best(by, about, len(may), ties=[age])
    return {name: reciprocal.shares(order, len(may)) for name, order in listed.items()}


def episodes(ranking: Ranking, cut: Sequence[Stretch], *, limit: int) -> EpisodeLayer:
    """Episodes by the best of their turns that pass; of equal ones the one whose turns have more in sum.

    A turn's score is that of its best sentence with what its trace has besides, so that of two episodes that share a
    trace the one is found whose words were meant.

    Args:
        ranking: Of turns.
        cut: All episodes that may be found, by where they begin.
        limit: Episodes at most.
    """
    passing = ranking.matched.candidates.turns
    scores, more, best = _pooled(ranking.scores, owners(ranking.matched.graph, cut), passing, len(cut))
    order = select.best(scores, best >= 0, limit, ties=[-more])
    found = {name: np.where(best >= 0, values[best], 0.0) for name, values in ranking.contributions.items()}
    return EpisodeLayer(order, scores, found, best)


def episodes_by_text(
    question: Question, ranking: Ranking, cut: Sequence[Stretch], texts: Texts, *, limit: int
) -> EpisodeLayer:
    """Episodes by reciprocal rank fusion of their cosine and their BM25, 50 candidates each.

    Args:
        question: As ranked.
        ranking: Of turns: says what passes, and which turn of an episode is its best.
        cut: All episodes that may be found.
        texts: Of the same.
        limit: Episodes at most.
    """
    pooled = episodes(ranking, cut, limit=0)
    may = pooled.best >= 0
    words = texts.words.scores(question.terms)
    listed = {"lexical": select.best(words, may & (words > 0), _CANDIDATES)}
    if np.any(question.vector):
        listed["cosine"] = select.best(dot(texts.vectors, question.vector), may, _CANDIDATES)
    contributions = {name: reciprocal.shares(order, len(cut)) for name, order in listed.items()}
    scores = sum(contributions.values(), np.zeros(len(cut)))
    order = select.best(scores, may & (scores > 0), limit, ties=[-pooled.scores])
    return EpisodeLayer(order, scores, contributions, pooled.best)


def texts_of(
    graph: Graph, cut: Sequence[Stretch], described: Sequence[Episode], passing: Mask, words: Mapping[str, str]
) -> Texts:
    """Episodes as texts, of the turns that pass alone.

    Args:
        graph: Holds them.
        cut: The episodes.
        described: The same; topic and summary count where all turns pass, for they may know the words of any.
        passing: (n,) turns.
        words: turn_id -> text, of all turns that pass.
    """
    rows: list[Floats] = []
    documents: list[list[str]] = []
    for one, its in zip(cut, described, strict=True):
        turns = [slot for slot in one.turns if passing[slot]]
        said = [term for slot in turns for term in terms(words.get(graph.turn_ids[slot], ""))]
        whole = len(turns) == len(one.turns)
        documents.append([*said, *terms(f"{its.topic} {its.summary}")] if whole else said)
        rows.append(direction(turn_vectors(graph, np.array(turns, np.int64))))
    bm25 = BM25()
    bm25.add_all(documents)
    return Texts(np.array(rows, np.float32).reshape(len(rows), graph.dim), bm25)


def _pooled(scores: Doubles, owner: Ints, passing: Mask, count: int) -> tuple[Doubles, Doubles, Ints]:
    """(n,) values of turns to (count,) owners: the largest, the sum, and the first turn that has the largest, or -1."""
    turns = np.flatnonzero(passing & (owner >= 0))
    largest = np.full(count, -np.inf)
    np.maximum.at(largest, owner[turns], scores[turns])
    more = np.zeros(count)
    np.add.at(more, owner[turns], scores[turns])
    best = np.full(count, -1, np.int64)
    tops = turns[scores[turns] == largest[owner[turns]]][::-1]
    best[owner[tops]] = tops
    return np.where(best >= 0, largest, 0.0), more, best
