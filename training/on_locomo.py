"""Two embedders on LoCoMo's development half, through mnemic's own benchmark; the test half is refused.

The systems are those of ``mnemic bench``; ``default`` is mnemic as it ships.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING

from mnemic.bench import metrics
from mnemic.bench.cost import TimedEmbedder, TimedExtractor
from mnemic.bench.records import Dataset, Row, System
from mnemic.bench.runner import row
from mnemic.bench.statistics import paired
from mnemic.bench.systems.ours import Ours
from mnemic.bench.systems.rankers import Dense
from mnemic.bench.systems.reference import Reference
from mnemic.config import Fusion
from mnemic.models import registry

if TYPE_CHECKING:
    from mnemic.protocols import Embedder

SYSTEMS = ("dense", "dense-nameless", "default")
METRICS = ("fraction@5", "fraction@10", "hit_any@10")
_DEEPEST = 20


def compared(before: Sequence[Row], after: Sequence[Row]) -> dict[str, dict]:
    """``turn fraction@10`` -> both means and the paired interval of what the second has more, over questions."""
    found: dict[str, dict] = {}
    for level in ("trace", "turn"):
        tables = [
            {each.question_id: _values(each) for each in metrics.with_gold(several, level)}
            for several in (before, after)
        ]
        for name, one in zip(METRICS, paired(*tables), strict=True):
            found[f"{level} {name}"] = asdict(one)
    return found


def rows(name: str, embedder: Embedder, dataset: Dataset) -> list[Row]:
    """Ask one system every question of a data set, at both levels.

    Args:
        name: One of ``SYSTEMS``.
        embedder: What it embeds with.
        dataset: The development half.

    Raises:
        ValueError: It is another half.
    """
    if dataset.split != "dev":
        raise ValueError(f"trained weights are compared on the development half, not on {dataset.split}")
    asked: list[Row] = []
    with closing(_system(name, embedder)) as system:
        for user, conversations in dataset.conversations.items():
            system.load(user, conversations)
            for question in (each for each in dataset.questions if each.user_id == user):
                asked += (
                    row(question, level, system.search(question, top_k=_DEEPEST, level=level))
                    for level in system.levels
                )
    return asked


def _values(each: Row) -> list[float]:
    found = metrics.of_question(each, "locomo")
    return [found[name] for name in METRICS]


def _system(name: str, embedder: Embedder) -> System:
    timed = TimedEmbedder(embedder)
    if name != "default":
        return Reference(name, Dense(timed), timed, nameless=name == "dense-nameless")
    return Ours(name, Fusion(), embedder=timed, extractor=TimedExtractor(registry.cue_extractor("rules")))
