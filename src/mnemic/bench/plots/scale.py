"""What growing costs: time, memory and disk against the number of turns or of users, both logarithmic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from mnemic.bench.plots import style
from mnemic.bench.plots.labels import spread
from mnemic.bench.plots.style import Axes, Figure, Mark

Curve = Sequence[tuple[float, float]]
"""Points (size, cost), both > 0, by rising size."""

_ACROSS: Final = 2


def figure(panels: Mapping[str, Mapping[str, Curve]], *, grows: str) -> Figure:
    """Draw costs against size.

    Args:
        panels: Title (``search, CPU ms (p50)``) -> system -> its curve. Every panel has at least one point.
        grows: What grows, for the axes: ``turns of one user``.

    Returns:
        The figure: two panels in a row; a system has one colour, shape and dash throughout, and its name at the end
        of each of its lines.
    """
    systems = list(dict.fromkeys(system for panel in panels.values() for system in panel))
    marks = style.marks(systems)
    across, down = min(len(panels), _ACROSS), -(-len(panels) // _ACROSS)
    with style.sheet():
        drawn, axes = style.canvas(9.2, down * (2.5 + 0.06 * len(systems)), rows=down, columns=across)
        for at, (title, curves) in zip(axes, panels.items(), strict=False):
            _panel(at, curves, marks)
            at.set_title(title)
            at.set_xlabel(grows)
        for spare in axes[len(panels) :]:
            spare.set_visible(False)
        # The names belong to the layout: reckon it once, put them where the lines end, and let it reckon again.
        drawn.draw_without_rendering()
        for at, curves in zip(axes, panels.values(), strict=False):
            _names(at, curves, marks)
    return drawn


def _panel(axes: Axes, curves: Mapping[str, Curve], marks: Mapping[str, Mark]) -> None:
    sizes = sorted({size for curve in curves.values() for size, _ in curve})
    style.plain_log(axes, "x", sizes)
    axes.set_xticks(sizes, [style.compact(size) for size in sizes])
    style.plain_log(axes, "y", [cost for curve in curves.values() for _, cost in curve])
    for system, curve in curves.items():
        mark = marks[system]
        axes.plot(
            [size for size, _ in curve],
            [cost for _, cost in curve],
            color=mark.colour,
            marker=mark.shape,
            markerfacecolor=mark.fill,
            linestyle=mark.dash,
            markersize=5,
        )


def _names(axes: Axes, curves: Mapping[str, Curve], marks: Mapping[str, Mark]) -> None:
    """Name the lines at their right ends, apart from each other, with a thin line to where they end."""
    transform = axes.transData + axes.transAxes.inverted()
    ends = [tuple(transform.transform(curve[-1])) for curve in curves.values()]
    gap = 11.0 * axes.figure.dpi / 72 / axes.get_window_extent().height
    heights = spread([y for _, y in ends], gap, 0.0, 1.0)
    for system, (x, y), height in zip(curves, ends, heights, strict=True):
        axes.annotate(
            style.shown(system),
            (x, y),
            (1.06, height),
            xycoords="axes fraction",
            textcoords="axes fraction",
            fontsize=8,
            va="center_baseline",
            arrowprops={
                "arrowstyle": "-", "color": marks[system].colour, "linewidth": 0.8, "shrinkA": 1, "shrinkB": 4,
                "relpos": (0, 0.5),
            },
        )  # fmt: skip
