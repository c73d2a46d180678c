"""From the corpus to pairs: pure, and the same for the same seed.

Inverse cloze is of Lee, Chang and Toutanova, "Latent Retrieval for Weakly Supervised Open Domain Question Answering"
(arXiv 1906.00300): a sentence asks for the text it was taken out of; one time in ten it stays in, so that words in
common go on counting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from mnemic.algo import sentences
from training.asking import Put
from training.data import Asked, Corpus, Remembered
from training.pair import Pair, Passage
from training.people import Person, nameless, of_user, person, spoken
from training.third_person import third_person

Asking = Callable[[Sequence[str], Sequence[Person]], Sequence[Sequence[Put]]]
"""Turns and who says each -> the questions made of each."""
Best = Callable[[str, Sequence[str]], int]
"""A query and at least one sentence -> the place of the sentence that answers it best."""

LONGMEMEVAL, ASKED = "longmemeval", "asked"
_KEPT_IN = 0.1
"""How often the sentence of a cloze stays in its text (Lee et al., section 4.2)."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much of the corpus is made into pairs.

    Attributes:
        questions, memories, clozes: How many of each at most, the first ones; a question with several turns counts
            once.
        asked: Turns that questions are made of.
        distractors: Turns that nobody asks about, for hard negatives of LongMemEval's questions.
    """

    questions: int = 10_000
    memories: int = 10_000
    clozes: int = 1000
    asked: int = 8000
    distractors: int = 3000


def make(corpus: Corpus, sizes: Sizes, best: Best, asking: Asking, *, seed: int) -> list[Pair]:
    """All pairs of a corpus, without hard negatives.

    Args:
        corpus: Without what is held out.
        sizes: How much of it.
        best: Chooses the sentence of a turn that a query is paired with.
        asking: Makes questions of turns.
        seed: Of names, persons and what is left to chance.
    """
    rng = np.random.default_rng(seed)
    pairs: list[Pair] = []
    for number, asked in enumerate(corpus.questions[: sizes.questions]):
        pairs += of_question(asked, f"question-{number}", best, rng)
    pairs += of_memories(corpus.memories[: sizes.memories], best, rng)
    # The distractors come from the front, the clozes from the back: they share turns only where there are few.
    last = len(corpus.turns) - 1
    told = (one for i, turn in enumerate(reversed(corpus.turns)) for one in cloze(turn, f"turn-{last - i}", rng))
    pairs += islice(told, sizes.clozes)
    turns = list(dict.fromkeys((*(each.turn for each in corpus.memories), *corpus.turns)))[: sizes.asked]
    people = [person(rng) for _ in turns]
    for turn, put, who in zip(turns, asking(turns, people), people, strict=True):
        pairs += of_asked(turn, put, who, rng)
    return pairs


def of_question(asked: Asked, group: str, best: Best, rng: np.random.Generator) -> Iterator[Pair]:
    """A question as it is, about somebody by name, and about them without the name; with each turn, and its sentence.

    The turns of one question share a group: each of them answers.
    """
    for turn in asked.evidence:
        who = person(rng)
        named = third_person(asked.question, who.name, who.gender)
        unnamed = nameless(named, who.name)
        found = statements(turn)
        sentence = found[best(unnamed, found)]
        part = excerpt(turn, sentence)
        yield Pair("question", asked.question, Passage(turn, (group,)), LONGMEMEVAL)
        yield Pair("question", named, Passage(spoken(part, who.name), (group,)), LONGMEMEVAL, who.name)
        yield Pair("question", unnamed, Passage(part, (group,)), LONGMEMEVAL)
        yield Pair("sentence", unnamed, Passage(sentence, (group,)), LONGMEMEVAL)


def of_memories(memories: Sequence[Remembered], best: Best, rng: np.random.Generator) -> Iterator[Pair]:
    """A memory to its turn, about the user or about somebody by name; to its sentence; to its turn in its context.

    Args:
        memories: In the order of their dialogues.
        best: See ``make``.
        rng: Chooses names.
    """
    before: dict[str, str] = {}
    for last, each in zip((None, *memories), memories, strict=False):
        if last is not None and last.persona == each.persona and last.turn != each.turn:
            before.setdefault(each.turn, last.turn)
    for each in memories:
        who, pool = person(rng), f"persona-{each.persona}"
        named = of_user(each.memory, who.name)
        unnamed = nameless(named, who.name)
        found = statements(each.turn)
        sentence = found[best(unnamed, found)]
        part = excerpt(each.turn, sentence)
        yield Pair("memory", each.memory, Passage(part, (each.turn,)), pool)
        if named != each.memory:
            yield Pair("memory", named, Passage(spoken(part, who.name), (each.turn,)), pool, who.name)
        yield Pair("memory-sentence", unnamed, Passage(sentence, (each.turn,)), pool)
        if each.turn in before:
            # Of the turn before its end alone: what answers must be among the tokens that are read.
            window = "\n".join(spoken(text, who.name) for text in (_end(before[each.turn]), part))
            yield Pair("window", unnamed, Passage(window, (before[each.turn], each.turn)), pool)


def excerpt(turn: str, sentence: str, most: int = 45) -> str:
    """A sentence of a turn and what stands around it, about as long as a message between people.

    Args:
        turn: The whole.
        sentence: One of ``statements(turn)``.
        most: Words; a sentence that is longer stays whole.
    """
    spans = sentences.split(turn)
    first = last = next(place for place, (start, end) in enumerate(spans) if turn[start:end] == sentence)
    while True:
        wider = [(first, last + 1), (first - 1, last)]
        fits = [
            (one, two)
            for one, two in wider
            if one >= 0 and two < len(spans) and len(turn[spans[one][0] : spans[two][1]].split()) <= most
        ]
        if not fits:
            return turn[spans[first][0] : spans[last][1]]
        first, last = fits[0]


def of_asked(turn: str, put: Sequence[Put], who: Person, rng: np.random.Generator) -> Iterator[Pair]:
    """Questions made of a turn (``training.asking``): one to what it was made of, one to what stands around that."""
    if not put:
        return
    for kind, place in zip(("asked", "asked-sentence"), rng.permutation(len(put))[:2].tolist(), strict=False):
        found = turn[put[place].start : put[place].end].strip()
        own = next((one for one in statements(turn) if found in one or one in found), None)
        if own is not None:
            text = excerpt(turn, own) if kind == "asked" else own
            yield Pair(kind, nameless(put[place].question, who.name), Passage(text, (turn,)), ASKED)


def cloze(turn: str, group: str, rng: np.random.Generator) -> Iterator[Pair]:
    """A sentence of a turn of three or more, told in the third person, to the turn without it; nothing of a shorter."""
    spans = [span for span in sentences.split(turn) if not sentences.asks(turn[slice(*span)])]
    if len(spans) < 3:
        return
    start, end = spans[rng.integers(len(spans))]
    who = person(rng)
    query = nameless(third_person(turn[start:end], who.name, who.gender), who.name)
    left = turn if rng.random() < _KEPT_IN else f"{turn[:start].rstrip()} {turn[end:].lstrip()}".strip()
    yield Pair("cloze", query, Passage(left, (group,)), LONGMEMEVAL)


def statements(turn: str) -> list[str]:
    """The sentences of a turn that do not ask; all of them where all do."""
    split = [turn[start:end] for start, end in sentences.split(turn)]
    return [sentence for sentence in split if not sentences.asks(sentence)] or split


def _end(turn: str) -> str:
    """Its last sentence; nothing of a blank turn."""
    return next((turn[start:end] for start, end in reversed(sentences.split(turn))), "")
