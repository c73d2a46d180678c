"""Which of PersonaMem's four options stands nearest to what a search found: two embedders search, one reader reads.

    python scripts/personamem_options.py [EMBEDDER ...]

PersonaMem names no evidence, so that its retrieval cannot be scored; what can is whether the evidence of one embedder
lets the same reader choose better. The reader is no language model: it takes the option with the greatest mean of its
three best cosines to the ten hits, by the embedder ``minilm``, whichever embedder searched. Development half. Prints a
line for each embedder, and the paired interval of the difference of the first two.
"""

from __future__ import annotations

import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np

from mnemic import Memory
from mnemic.bench.datasets.loading import load
from mnemic.bench.records import Dataset
from mnemic.bench.statistics import paired
from mnemic.bench.systems.documents import message_index
from mnemic.config import Environment
from mnemic.models import registry

HITS, NEAREST = 10, 3


def main(embedders: list[str]) -> None:
    dataset = load("personamem", "dev", data=Environment.read().data)
    found = {name: chosen(dataset, name) for name in embedders}
    for name, right in found.items():
        print(f"{name}: {np.mean([one[0] for one in right.values()]):.4f} of {len(right)}", flush=True)
    first, second, *_ = found.values()
    print(paired(first, second))


def chosen(dataset: Dataset, name: str) -> dict[str, list[float]]:
    """Question id -> whether the right option was chosen, as 1 or 0."""
    reader = registry.embedder("minilm")
    assert reader is not None
    right: dict[str, list[float]] = {}
    asked = defaultdict(list)
    for question in dataset.questions:
        asked[question.user_id].append(question)
    for user, conversations in dataset.conversations.items():
        with tempfile.TemporaryDirectory() as folder, Memory.open(Path(folder) / "m.db", embedder=name) as memory:
            for one in conversations:
                messages = [{**said, "metadata": {"n": message_index(str(said["id"]))}} for said in one.messages]
                memory.add(messages, user_id=user, session_id=one.session_id)
            for question in asked[user]:
                hits = memory.search(
                    question.text, user_id=user, top_k=HITS, filters={"n": {"lt": question.end}}
                ).results
                options = reader.embed(list(question.options))
                cosines = np.sort(options @ reader.embed([hit.text for hit in hits]).T, axis=1)[:, -NEAREST:]
                best = question.options[int(cosines.mean(axis=1).argmax())]
                right[question.question_id] = [float(best.startswith(str(question.answer)))]
    return right


if __name__ == "__main__":
    main(sys.argv[1:] or ["minilm", "local"])
