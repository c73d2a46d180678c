"""A measure by category: a panel for each category, the systems one under the other in the same order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mnemic.bench.plots import style
from mnemic.bench.plots.style import Axes, Estimate, Figure

_ACROSS: Final = 5


def figure(panels: Mapping[str, Mapping[str, Estimate]], *, measure: str) -> Figure:
    """Draw a measure by category with intervals.

    Args:
        panels: Title (``multi-hop (282)``) -> system -> its number in [0, 1]; systems from the top down, in the order
            in which they first appear. At least one number.
        measure: What it is, for the axes: ``recall@10``.

    Returns:
        The figure: up to five panels in a row, on one scale; the best of each panel is strong, and the
        numbers stand at its right.
    """
    systems = list(dict.fromkeys(system for panel in panels.values() for system in panel))
    across = min(len(panels), _ACROSS)
    down = -(-len(panels) // _ACROSS)
    values = [end for panel in panels.values() for estimate in panel.values() for end in estimate.ends]
    with style.sheet():
        drawn, axes = style.canvas(
            2.2 + 1.75 * max(across, 2.5),
            down * (0.9 + 0.27 * len(systems)),
            rows=down,
            columns=across,
            shared_y=True,
        )
        for at, (title, found) in zip(axes, panels.items(), strict=False):
            _panel(at, [found.get(system) for system in systems])
            style.rows(at, systems)
            at.set_title(title)
            at.set_xlabel(measure)
            style.share_axis(at, values, ticks=4)
        for spare in axes[len(panels) :]:
            spare.set_visible(False)
    return drawn


def _panel(axes: Axes, rows: list[Estimate | None]) -> None:
    best = max((estimate.value for estimate in rows if estimate), default=None)
    for place, estimate in enumerate(rows):
        if estimate:
            style.point(axes, estimate, place, style.STRONG if estimate.value == best else style.MUTED)
    style.numbers(axes, rows)
