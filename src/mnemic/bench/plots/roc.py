"""Knowing when there is no answer: the receiver operating characteristic of the returned relevance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnemic.bench.abstention import auroc
from mnemic.bench.plots import style
from mnemic.bench.plots.style import Figure


@dataclass(frozen=True, slots=True)
class Relevances:
    """What one system said of questions whose answer is known to be there, and of others.

    Attributes:
        answerable, unanswerable: Its relevance for each question; neither is empty.
        verdict: Share of the unanswerable and of the answerable questions that it takes for answerable at its own
            threshold; None where it gives no verdict.
    """

    answerable: Sequence[float]
    unanswerable: Sequence[float]
    verdict: tuple[float, float] | None = None


def curve(found: Relevances) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The curve over all thresholds (Fawcett 2006, algorithm 1).

    Returns:
        Shares of unanswerable and of answerable questions with a relevance at or above the threshold, from (0, 0) to
        (1, 1), of equal length, one point for each distinct relevance.
    """
    scores = np.concatenate([found.answerable, found.unanswerable])
    answerable = np.arange(len(scores)) < len(found.answerable)
    order = np.argsort(-scores, kind="stable")
    last = np.append(np.diff(scores[order]) != 0, True)
    up = np.append(0, np.cumsum(answerable[order])[last]) / len(found.answerable)
    across = np.append(0, np.cumsum(~answerable[order])[last]) / len(found.unanswerable)
    return across, up


def figure(systems: Mapping[str, Relevances]) -> Figure:
    """Draw the curves.

    Args:
        systems: Name -> what it said; at least one.

    Returns:
        The figure: a curve for each system, a large point at its own threshold, and the names beside it with the
        areas, the best first.
    """
    marks = style.marks(systems)
    areas = {
        system: auroc(np.asarray(found.answerable, np.float64), np.asarray(found.unanswerable, np.float64))
        for system, found in systems.items()
    }
    with style.sheet():
        drawn, (axes,) = style.canvas(7.6, 4.9)
        axes.plot([0, 1], [0, 1], color=style.MUTED, linewidth=1, linestyle=":")
        axes.text(0.52, 0.48, "by chance", color=style.QUIET, fontsize=8, rotation=45, va="top", ha="center")
        for system in sorted(areas, key=lambda system: -areas[system]):
            mark, label = marks[system], f"{style.share(areas[system])}  {style.shown(system)}"
            axes.plot(*curve(systems[system]), color=mark.colour, linestyle=mark.dash, linewidth=1.6, label=label)
            if verdict := systems[system].verdict:
                axes.plot(*verdict, mark.shape, color=mark.colour, markerfacecolor=mark.fill, markersize=8, zorder=4)
        axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
        axes.set_xlabel("unanswerable questions taken for answerable")
        axes.set_ylabel("answerable questions taken for answerable")
        axes.legend(title="area under the curve", loc="upper left", bbox_to_anchor=(1.02, 1.0), alignment="left")
    return drawn
