"""The training data as it lies below ``MNEMIC_DATA``: read, and rid of everything that an evaluation asks about."""

from __future__ import annotations

import gzip
import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from mnemic.errors import InvalidFile

QUESTIONS = "longmemeval_questions.jsonl.gz"
TURNS = "longmemeval_user_turns.jsonl.gz"
MEMORIES = "realmem_memories.jsonl.gz"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of LongMemEval and the turns that answer it, in the words of who asks."""

    question: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Remembered:
    """A memory of RealMem that a model wrote, and the user's turn it came from; personas are numbered from 0."""

    memory: str
    turn: str
    persona: int


@dataclass(frozen=True, slots=True)
class Corpus:
    """All there is to train on.

    Attributes:
        questions: Each with at least one turn.
        turns: Turns of users that nobody asks about.
        memories: In the order of the dialogue they came from.
        dropped: File -> how many of its texts an evaluation has too; they are not in here.
    """

    questions: tuple[Asked, ...]
    turns: tuple[str, ...]
    memories: tuple[Remembered, ...]
    dropped: dict[str, int]


def read(folder: Path, evaluated: Collection[str] = frozenset()) -> Corpus:
    """Read the three files.

    Args:
        folder: ``train`` below ``MNEMIC_DATA``.
        evaluated: Keys (``evaluated.key``) of texts that an evaluation has; what has one of them is left out.

    Raises:
        InvalidFile: A file is missing.
    """
    from training.evaluated import key

    def kept(text: str) -> bool:
        return key(text) not in evaluated

    questions = [Asked(line["question"], tuple(line["evidence_turns"])) for line in _lines(folder / QUESTIONS)]
    turns = [line["text"] for line in _lines(folder / TURNS)]
    memories = [Remembered(line["memory"], line["source_turn"], line["persona"]) for line in _lines(folder / MEMORIES)]
    clean = [Asked(each.question, tuple(filter(kept, each.evidence))) for each in questions if kept(each.question)]
    clean_turns = tuple(dict.fromkeys(filter(kept, turns)))
    clean_memories = tuple(each for each in memories if kept(each.memory) and kept(each.turn))
    evidence = sum(len(each.evidence) for each in questions)
    return Corpus(
        questions=tuple(each for each in clean if each.evidence),
        turns=clean_turns,
        memories=clean_memories,
        dropped={
            QUESTIONS: evidence - sum(len(each.evidence) for each in clean),
            TURNS: sum(not kept(turn) for turn in turns),
            MEMORIES: len(memories) - len(clean_memories),
        },
    )


def _lines(path: Path) -> Iterator[dict]:
    if not path.is_file():
        raise InvalidFile(f"{path}: there is no such file; set MNEMIC_DATA to the folder that holds train/{path.name}")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)
