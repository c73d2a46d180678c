"""Recall by k: a row for each system, a point with its interval for each k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from mnemic.bench.plots import style
from mnemic.bench.plots.style import Axes, Estimate, Figure

# From pale to strong as k grows; the darkness alone tells them apart, in print too.
_SHADES: Final = ("#9ecae1", "#56a3d4", "#0072B2", "#08306b")
_TOLD: Final = 10
_STEP: Final = 0.075
"""Inches between the points of one row, so that wide intervals do not lie on each other."""


def figure(panels: Mapping[str, Mapping[str, Mapping[int, Estimate]]], *, measure: str = "recall") -> Figure:
    """Draw recall by k with intervals.

    Args:
        panels: Title (``trace level``) -> system -> k -> its recall in [0, 1]; systems from the top down, in the order
            in which they first appear. A panel, a system or a k may lack what others have. At least one number.
        measure: What is recalled, for the axis.

    Returns:
        The figure: every system named once, at the left, all panels on one scale; the points of one k share a shade,
        explained above; the numbers of the largest k up to 10 stand at the right of each panel.
    """
    systems = list(dict.fromkeys(system for panel in panels.values() for system in panel))
    depths = sorted({k for panel in panels.values() for found in panel.values() for k in found})
    values = [end for panel in panels.values() for ks in panel.values() for e in ks.values() for end in e.ends]
    told = max([k for k in depths if k <= _TOLD] or depths[:1])
    row = 0.16 + _STEP * len(depths)
    with style.sheet():
        drawn, axes = style.canvas(9.2, 1.1 + row * len(systems), columns=len(panels), shared_y=True)
        for at, (title, found) in zip(axes, panels.items(), strict=True):
            style.rows(at, systems)
            style.share_axis(at, values)
            for place, system in enumerate(systems):
                _row(at, found.get(system, {}), place, depths, _STEP / row)
            style.numbers(at, [found.get(system, {}).get(told) for system in systems], head=f"k = {told}")
            at.set_title(title)
            at.set_xlabel(f"{measure} within the first k hits")
        style.key(drawn, [(f"k = {k}", _shade(k, depths)) for k in depths])
    return drawn


def _row(axes: Axes, found: Mapping[int, Estimate], place: int, depths: Sequence[int], step: float) -> None:
    for k, estimate in sorted(found.items()):
        height = place + (depths.index(k) - (len(depths) - 1) / 2) * step
        style.point(axes, estimate, height, _shade(k, depths))


def _shade(k: int, depths: Sequence[int]) -> str:
    """The strongest colours go to the largest k."""
    return _SHADES[max(len(_SHADES) - len(depths) + depths.index(k), 0)]
