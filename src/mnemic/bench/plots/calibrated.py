"""Whether probabilities mean what they say: how many of the hits of a probability were useful."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mnemic.bench.plots import style
from mnemic.bench.plots.style import Figure

_SMALLEST, _LARGEST = 12.0, 260.0


def figure(systems: Mapping[str, Sequence[tuple[int, float, float]]]) -> Figure:
    """Draw the calibration curves.

    Args:
        systems: Name -> its bins from the least probable: hits, their mean probability, the share that was useful.

    Returns:
        The figure: a line for each system, its points the larger the more hits they stand for, and where they would lie
        if every probability were true.
    """
    marks = style.marks(systems)
    with style.sheet():
        drawn, (axes,) = style.canvas(6.4, 4.9)
        axes.plot([0, 1], [0, 1], color=style.MUTED, linewidth=1, linestyle=":")
        axes.text(0.52, 0.5, "as said", color=style.QUIET, fontsize=8, rotation=45, va="top", ha="center")
        for system, bins in systems.items():
            mark = marks[system]
            said, useful = [one[1] for one in bins], [one[2] for one in bins]
            most = max(one[0] for one in bins)
            sizes = [max(_SMALLEST, _LARGEST * (one[0] / most) ** 0.5) for one in bins]
            axes.plot(said, useful, color=mark.colour, linestyle=mark.dash, linewidth=1.4, label=style.shown(system))
            axes.scatter(said, useful, sizes, color=mark.colour, marker=mark.shape, facecolor=mark.fill, zorder=3)
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
        axes.set_xlabel("probability that was said")
        axes.set_ylabel("share of these hits that was useful")
        axes.legend(loc="upper left")
    return drawn
