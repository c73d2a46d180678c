"""Prints the thresholds that ``algo.calibrate`` chooses for an embedder on LoCoMo's development half, and its speed.

    python scripts/calibrate_embedder.py [SPEC] [CONVERSATION ...]

``SPEC`` as in ``Memory.open`` (default ``local``). The values in ``models/minilm.py`` and ``models/embedders.py`` come
from here; see docs/decisions/0002-embedded-embedder.md. The test half is never read.
"""

from __future__ import annotations

import json
import re
import sys
import time

import numpy as np

from mnemic.algo import names, sentences
from mnemic.algo.calibrate import calibrate
from mnemic.config import Environment
from mnemic.models import registry
from mnemic.models.cues import RuleCues
from mnemic.protocols import Embedder
from mnemic.types import Thresholds

DEVELOPMENT = ("conv-26", "conv-30", "conv-41", "conv-42", "conv-43")


def main(spec: str = "local", *chosen: str) -> None:
    embedder = registry.embedder(spec)
    assert embedder is not None
    embedder.embed(["load"])
    path = Environment.read().data / "locomo" / "locomo10.json"
    found: list[Thresholds] = []
    for sample in json.loads(path.read_text(encoding="utf-8")):
        if sample["sample_id"] in (chosen or DEVELOPMENT) and sample["sample_id"] in DEVELOPMENT:
            found.append(thresholds(embedder, sample))
            print(sample["sample_id"], in_words(found[-1]))
    print("mean", in_words(Thresholds(*np.mean([values(each) for each in found], axis=0))))
    print(f"a query: {query_milliseconds(embedder):.1f} CPU-ms")


def thresholds(embedder: Embedder, sample: dict) -> Thresholds:
    """Of one conversation: its sentences as contexts, their cues, its answerable questions without the names."""
    conversation = sample["conversation"]
    speakers = [conversation["speaker_a"], conversation["speaker_b"]]
    turns = [
        message["text"]
        for key, session in conversation.items()
        if re.fullmatch(r"session_\d+", key)
        for message in session
    ]
    units = [text[start:end] for text in turns for start, end in sentences.split(text)]
    questions = [each["question"] for each in sample["qa"] if each["category"] != 5 and each.get("evidence")]
    extractor = RuleCues()
    mentioned = [sorted({cue.key for cue in cues}) for cues in extractor.extract(units, names=speakers)]
    asked = [sorted({cue.key for cue in cues}) for cues in extractor.extract(questions, names=speakers)]
    keys = sorted({key for cues in mentioned for key in cues})
    place = {key: i for i, key in enumerate(keys)}
    entities = sorted({key for cues in asked for key in cues})
    entity_vectors = dict(zip(entities, embedder.embed(entities, kind="query"), strict=True))
    started = time.process_time()
    contexts = embedder.embed(units)
    print(f"{len(units)} units, {len(units) / (time.process_time() - started):.0f} a CPU-second; {len(keys)} cues")
    return calibrate(
        embedder.embed([names.strip(question, speakers) for question in questions], kind="query"),
        [np.array([entity_vectors[key] for key in cues]) for cues in asked],
        embedder.embed(keys),
        contexts,
        [[place[key] for key in cues] for cues in mentioned],
    )


def query_milliseconds(embedder: Embedder, count: int = 100) -> float:
    started = time.process_time()
    for i in range(count):
        embedder.embed([f"Who did John go to yoga with in week {i}?"], kind="query")
    return (time.process_time() - started) / count * 1000


def values(thresholds: Thresholds) -> tuple[float, ...]:
    return thresholds.tau_init, thresholds.tau_alias, thresholds.tau_iter, thresholds.relevance


def in_words(thresholds: Thresholds) -> str:
    return "tau_init {:.3f}, tau_alias {:.3f}, tau_iter {:.3f}, relevance {:.3f}".format(*values(thresholds))


if __name__ == "__main__":
    main(*sys.argv[1:])
