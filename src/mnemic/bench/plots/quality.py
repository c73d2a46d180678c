"""Quality against cost (HERO, arXiv 2608.22310, figure 3): time across, recall up, tokens as area."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mnemic.bench.plots import style
from mnemic.bench.plots.labels import Box, Spot, placed
from mnemic.bench.plots.style import Axes, Estimate, Figure

_LARGEST: Final = 700.0
"""Area of the marker with the most tokens, in square points."""
_SMALLEST: Final = 14.0
_FLOOR_MS: Final = 0.01
"""Time that a logarithmic axis can show; what takes less stands here."""


@dataclass(frozen=True, slots=True)
class Point:
    """One system: CPU-milliseconds a question, its quality, the tokens it hands to a reader (None where unknown)."""

    system: str
    cpu_ms: float
    quality: Estimate
    tokens: float | None = None


def figure(points: Sequence[Point], *, measure: str) -> Figure:
    """Draw quality against time.

    Args:
        points: At least one; times below .01 ms are drawn at .01.
        measure: What the quality is, for the axis: ``recall@10, trace level``.

    Returns:
        The figure: up and left is better; the area of a marker is its tokens (a small cross where unknown), the line
        through it the interval of its quality; each is named at its side.
    """
    named = style.marks(point.system for point in points)
    # The small ones last, on top of the large ones.
    points = sorted(points, key=lambda point: -(point.tokens or 0.0))
    most = max((point.tokens or 0.0 for point in points), default=0.0)
    times = [max(point.cpu_ms, _FLOOR_MS) for point in points]
    with style.sheet():
        drawn, (axes,) = style.canvas(9.2, 5.6)
        style.plain_log(axes, "x", times)
        axes.set_xlabel("CPU milliseconds per question, p50 (log scale)")
        axes.set_ylabel(measure)
        style.share_axis(axes, [end for point in points for end in point.quality.ends], which="y", ticks=8, room=0.06)
        sizes = [_area(point.tokens, most) for point in points]
        for point, time, size in zip(points, times, sizes, strict=True):
            colour = named[point.system].colour
            axes.plot([time, time], point.quality.ends, color=style.INK, linewidth=0.9, zorder=3.5)
            marker = "o" if point.tokens is not None else "x"
            edge = {"edgecolor": "white", "linewidth": 0.8} if marker == "o" else {}
            axes.scatter(
                [time], [point.quality.value], s=size, marker=marker, color=colour, alpha=0.8, zorder=3, **edge
            )
        _areas_explained(axes, most)
        _names(drawn, axes, points, times, sizes)
    return drawn


def _area(tokens: float | None, most: float) -> float:
    """Area in square points: proportional to the tokens, but never too small to see."""
    return max(_LARGEST * (tokens or 0.0) / most, _SMALLEST) if most else 40.0


def _areas_explained(axes: Axes, most: float) -> None:
    """Two or three grey circles with their tokens, beside the plot."""
    if not most:
        return
    power = 10.0 ** math.floor(math.log10(most))
    largest = max(step * power for step in (1, 2, 5) if step * power <= most)
    for tokens in (largest, largest / 4, largest / 20):
        axes.scatter([], [], s=_area(tokens, most), color=style.MUTED, alpha=0.6, label=style.compact(tokens))
    axes.legend(
        title="tokens of the\nfirst 10 hits",
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        labelspacing=1.3,
        handletextpad=1.4,
        borderpad=0.6,
        borderaxespad=0,
    )


def _names(figure: Figure, axes: Axes, points: Sequence[Point], times: Sequence[float], sizes: Sequence[float]) -> None:
    """Name every point, with a thin line where the name had to go further away."""
    figure.draw_without_rendering()
    pixels = figure.dpi / 72
    spots: list[Spot] = []
    lines: list[Box] = []
    for point, time, size in zip(points, times, sizes, strict=True):
        x, y = axes.transData.transform((time, point.quality.value))
        (_, low), (_, high) = axes.transData.transform([(time, end) for end in point.quality.ends])
        lines.append(Box(x - 2, low, x + 2, high))
        width, height = style.extent(figure, style.shown(point.system), 9)
        spots.append(Spot(x, y, math.sqrt(size / math.pi) * pixels, width + 4, height + 2))
    frame = axes.get_window_extent()
    places = placed(spots, Box(frame.x0 + 2, frame.y0 + 2, frame.x1 - 2, frame.y1 - 2), around=lines)
    back = axes.transData.inverted()
    for point, time, spot, box in zip(points, times, spots, places, strict=True):
        middle = ((box.left + box.right) / 2, (box.bottom + box.top) / 2)
        nearest = min(max(spot.x, box.left), box.right), min(max(spot.y, box.bottom), box.top)
        if math.hypot(nearest[0] - spot.x, nearest[1] - spot.y) > spot.radius + 9 * pixels:
            end = back.transform(nearest)
            axes.plot([time, end[0]], [point.quality.value, end[1]], color=style.QUIET, linewidth=0.7, zorder=2.5)
        axes.text(
            *back.transform(middle), style.shown(point.system), ha="center", va="center_baseline", fontsize=9, zorder=4
        )
