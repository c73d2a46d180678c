"""What one setting does: its values across, a measure up, a line for each measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mnemic.bench.plots import style
from mnemic.bench.plots.labels import spread
from mnemic.bench.plots.style import Axes, Estimate, Figure


def figure(setting: str, values: Sequence[str], lines: Mapping[str, Sequence[Estimate | None]]) -> Figure:
    """Draw a sweep.

    Args:
        setting: Its name, for the axis.
        values: The values tried, as text, in order; they stand at equal distances, numbers or not.
        lines: Measure (``recall@10, trace``) -> its number at each value, None where it is missing. At least one
            number.

    Returns:
        The figure: a line for each measure with its intervals, named at its right end; the best value of each has a
        large point and is said beside it.
    """
    marks = style.marks(lines)
    ends = [end for line in lines.values() for estimate in line if estimate for end in estimate.ends]
    with style.sheet():
        drawn, (axes,) = style.canvas(min(4.2 + 0.7 * len(values), 9.2), 4.0)
        style.share_axis(axes, ends, which="y", ticks=8, room=0.04)
        axes.set_xticks(range(len(values)), [style.shown(value) for value in values])
        axes.set_xlim(-0.4, len(values) - 0.6)
        axes.grid(visible=False, axis="x")
        axes.set_xlabel(style.shown(setting))
        shift = 0.04 / max(len(lines) - 1, 1)
        for n, (name, line) in enumerate(lines.items()):
            _line(axes, line, marks[name], (n - (len(lines) - 1) / 2) * shift)
        drawn.draw_without_rendering()
        _names(axes, values, lines)
    return drawn


def _line(axes: Axes, line: Sequence[Estimate | None], mark: style.Mark, shift: float) -> None:
    points = [(place + shift, estimate) for place, estimate in enumerate(line) if estimate]
    best = max(estimate.value for _, estimate in points)
    axes.plot([x for x, _ in points], [each.value for _, each in points], color=mark.colour, linestyle=mark.dash)
    for x, estimate in points:
        axes.plot([x, x], estimate.ends, color=mark.colour, linewidth=1, alpha=0.6)
        large = estimate.value == best
        axes.plot(
            [x],
            [estimate.value],
            mark.shape,
            color=mark.colour,
            markerfacecolor=mark.fill,
            markersize=9 if large else 5,
        )


def _names(axes: Axes, values: Sequence[str], lines: Mapping[str, Sequence[Estimate | None]]) -> None:
    low, high = axes.get_ylim()
    gap = 26.0 * axes.figure.dpi / 72 / axes.get_window_extent().height * (high - low)
    last = [[each for each in line if each][-1].value for line in lines.values()]
    for (name, line), height in zip(lines.items(), spread(last, gap, low, high), strict=True):
        best, value = max(
            ((each, value) for each, value in zip(line, values, strict=True) if each), key=lambda found: found[0].value
        )
        axes.text(
            1.01,
            height,
            f"{style.shown(name)}\nbest {style.share(best.value)} at {style.shown(value)}",
            transform=axes.get_yaxis_transform(),
            va="center",
            fontsize=8.5,
        )
