"""The size of each user's memory as HERO's table 8 has it, and what building it took as in its table 9."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from mnemic.bench.records import Built, Dataset, DatasetName
from mnemic.bench.systems import Setup, system
from mnemic.bench.systems.edges import KINDS
from mnemic.types import Json

SIZES: Final = ("turns", "traces", "units", "cues", "notes", "edges", *KINDS)
"""What is counted, as ``Built.counts`` calls it; ``trace-trace`` and the like are kinds of edges."""

PUBLISHED: Final[Mapping[DatasetName, Mapping[str, Json]]] = {
    "locomo": {
        "mean": {"traces": 209, "cues": 1163, "notes": 1234, "edges": 9181, "bytes_without_vectors": 2_390_000},
        "max": {"traces": 244, "cues": 1398, "notes": 1444, "edges": 10_941, "bytes_without_vectors": 2_830_000},
        "build": {"wall_s": 294.5, "tokens": {"cues": 73_278, "notes": 108_991}},
    },
    "personamem": {
        "mean": {"traces": 271, "cues": 1645, "notes": 1241, "edges": 9810, "bytes_without_vectors": 2_730_000},
        "max": {"traces": 338, "cues": 2030, "notes": 1528, "edges": 12_132, "bytes_without_vectors": 3_350_000},
        "build": {"wall_s": 345.5, "tokens": {"cues": 66_237, "notes": 162_107}},
    },
}
"""As printed in HERO's tables 8 and 9 (arXiv 2608.22310), made with a language model; nothing of it was measured here.
Its megabytes leave out the embeddings; it calls notes insights."""


@dataclass(frozen=True, slots=True)
class Size:
    """One user's memory.

    Attributes:
        built: What it took, and what it holds.
        bytes_without_vectors: On disk, of the same memory made without an embedder.
    """

    user_id: str
    built: Built
    bytes_without_vectors: int


def measure(dataset: Dataset, setup: Setup, *, progress: Callable[[int], None] = lambda _: None) -> list[Size]:
    """Take in every user's conversations, twice: with and without vectors.

    Args:
        dataset: Whose users.
        setup: What mnemic is made with.
        progress: Called with the number of users done since; may raise to end it.

    Raises:
        MnemicError: Something could not be taken in.
    """
    sizes: list[Size] = []
    with closing(system("default", setup)) as whole, closing(system("default-no-dense", setup)) as bare:
        for user_id, conversations in dataset.conversations.items():
            built = whole.load(user_id, conversations)
            sizes.append(Size(user_id, built, bare.load(user_id, conversations).bytes_on_disk))
            progress(1)
    return sizes


def summarise(dataset: Dataset, sizes: Sequence[Size]) -> dict[str, Json]:
    """Sizes and building, user by user, in the mean and at most, and what was published beside it.

    Returns:
        ``{"dataset", "split", "checksum", "users": {user: {"turns", "traces", …, "bytes", "bytes_without_vectors",
        "wall_s", "cpu_s"}}, "mean": {…}, "max": {…}, "build": {"wall_s", "cpu_s", "stages": {stage: CPU seconds},
        "model_calls", "tokens": {"in", "out"}}, "published": {"mean", "max", "build"} or null}``. ``build`` is the
        mean over the users.
    """
    users = {size.user_id: _of_user(size) for size in sizes}
    # A memory that was kept by an earlier version may lack a count.
    names = [name for name in next(iter(users.values())) if all(name in row for row in users.values())]
    stages = list(dict.fromkeys(stage for size in sizes for stage in size.built.stages))
    return {
        "dataset": dataset.name,
        "split": dataset.split,
        "checksum": dataset.checksum,
        "users": {user: {**row} for user, row in users.items()},
        "mean": {name: fmean(row[name] for row in users.values()) for name in names},
        "max": {name: max(row[name] for row in users.values()) for name in names},
        "build": {
            "wall_s": fmean(size.built.wall_s for size in sizes),
            "cpu_s": fmean(size.built.cpu_s for size in sizes),
            "stages": {stage: fmean(size.built.stages.get(stage, 0.0) for size in sizes) for stage in stages},
            "model_calls": fmean(size.built.model_calls for size in sizes),
            "tokens": {
                "in": fmean(size.built.tokens_in for size in sizes),
                "out": fmean(size.built.tokens_out for size in sizes),
            },
        },
        "published": {**PUBLISHED[dataset.name]} if dataset.name in PUBLISHED else None,
    }


def _of_user(size: Size) -> dict[str, float]:
    counts = {name: size.built.counts[name] for name in SIZES if name in size.built.counts}
    return {
        **counts,
        "bytes": size.built.bytes_on_disk,
        "bytes_without_vectors": size.bytes_without_vectors,
        "wall_s": size.built.wall_s,
        "cpu_s": size.built.cpu_s,
    }
