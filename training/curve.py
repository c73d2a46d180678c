"""How a training went: points as JSON, and as a plot."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mnemic.bench.plots import style
from mnemic.models.optional import from_extra


@dataclass(frozen=True, slots=True)
class Point:
    """One step.

    Attributes:
        step: From 1.
        contrast, pull: The two parts of the loss, the second unweighted.
        rate: The learning rate.
        recall_1, recall_10: On the held-out personas after the step; None where nobody looked.
    """

    step: int
    contrast: float
    pull: float
    rate: float
    recall_1: float | None = None
    recall_10: float | None = None


def write(path: Path, points: Sequence[Point]) -> None:
    """Write the points, whole or not at all."""
    draft = path.with_suffix(".part")
    draft.write_text(json.dumps([asdict(point) for point in points]), encoding="utf-8")
    draft.replace(path)


def read(path: Path, *, until: int) -> list[Point]:
    """The points up to a step, that step included; none where there is no file."""
    if not path.is_file():
        return []
    return [point for made in json.loads(path.read_text(encoding="utf-8")) if (point := Point(**made)).step <= until]


def smoothed(values: Sequence[float], width: int = 10) -> list[float]:
    """Each value's mean with up to ``width - 1`` before it."""
    windows = (values[max(0, place - width + 1) : place + 1] for place in range(len(values)))
    return [sum(window) / len(window) for window in windows]


def draw(path: Path, points: Sequence[Point]) -> None:
    """Plot the losses, and recall on the held-out personas, by step.

    Args:
        path: Of the picture, ``.png`` or ``.svg``.
        points: At least one.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    matplotlib: Any = from_extra("matplotlib.figure", needed_by="the plot of a training", extra="bench")
    figure = matplotlib.Figure(figsize=(8, 3.2), layout="constrained", dpi=style.DPI)
    losses, recalls = figure.subplots(1, 2)
    steps = [point.step for point in points]
    losses.plot(steps, smoothed([point.contrast for point in points]), color=style.PALETTE[0])
    losses.set(xlabel="step", title="contrastive loss, mean of 10 steps")
    looked = [point for point in points if point.recall_1 is not None]
    for colour, name, values in (
        (style.PALETTE[0], "R@1", [point.recall_1 for point in looked]),
        (style.PALETTE[1], "R@10", [point.recall_10 for point in looked]),
    ):
        recalls.plot([point.step for point in looked], values, "o-", color=colour, label=name, markersize=3)
    recalls.set(xlabel="step", title="held-out personas, memory to turn")
    recalls.legend()
    figure.savefig(path)
