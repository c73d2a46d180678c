"""Where the names of points go: near their point, on nothing else. Pure geometry, in pixels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

_DIRECTIONS: Final = tuple(math.radians(degrees) for degrees in (0, 180, 90, 270, 35, 325, 145, 215, 60, 300, 120, 240))
_DISTANCES: Final = (4.0, 12.0, 24.0, 40.0, 60.0, 84.0, 112.0, 144.0, 180.0)


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle: left, bottom, right, top; y grows upwards."""

    left: float
    bottom: float
    right: float
    top: float

    def overlap(self, other: Box) -> float:
        """The area that both cover."""
        across = min(self.right, other.right) - max(self.left, other.left)
        up = min(self.top, other.top) - max(self.bottom, other.bottom)
        return max(across, 0.0) * max(up, 0.0)

    @property
    def area(self) -> float:
        """Width times height."""
        return (self.right - self.left) * (self.top - self.bottom)


@dataclass(frozen=True, slots=True)
class Spot:
    """A point that needs a name: its centre, its radius, and the width and height of the name."""

    x: float
    y: float
    radius: float
    width: float
    height: float

    @property
    def box(self) -> Box:
        """The square around the point."""
        return Box(self.x - self.radius, self.y - self.radius, self.x + self.radius, self.y + self.radius)


def placed(spots: Sequence[Spot], bounds: Box, *, around: Sequence[Box] = ()) -> list[Box]:
    """A place for each name: the nearest where it covers no point, no other name and nothing beyond the bounds.

    Greedy, the most crowded points first; the same input always gives the same places. Where no place is free (more
    names than the bounds have room for) the one that covers least is taken.

    Args:
        spots: The points.
        bounds: What must not be left.
        around: What else must not be covered.

    Returns:
        A box of each name's size, in the order of the points.
    """
    taken: list[Box] = [*(spot.box for spot in spots), *around]
    places: dict[int, Box] = {}
    for n in sorted(range(len(spots)), key=lambda n: (-_crowd(spots, n), n)):
        best = min(
            ((_covered(box, taken, bounds), order, box) for order, box in enumerate(_candidates(spots[n]))),
            key=lambda found: found[:2],
        )[2]
        places[n] = best
        taken.append(best)
    return [places[n] for n in range(len(spots))]


def spread(heights: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Heights of labels beside the ends of lines: as near to theirs as can be, ``gap`` apart, within low and high.

    The least-squares solution, by pooling neighbours that would touch (the isotonic regression of the heights less
    their rank times the gap). More labels than fit are spread evenly over the whole.

    Args:
        heights: Where the lines end.
        gap: > 0.
        low: The lowest height allowed.
        high: The highest height allowed.

    Returns:
        Heights in the order given.
    """
    if not heights:
        return []
    gap = min(gap, (high - low) / max(len(heights) - 1, 1))
    order = sorted(range(len(heights)), key=lambda n: (heights[n], n))
    pools: list[tuple[float, int]] = []
    for rank, n in enumerate(order):
        pools.append((heights[n] - rank * gap, 1))
        while len(pools) > 1 and pools[-2][0] >= pools[-1][0]:
            (first, some), (second, more) = pools[-2:]
            pools[-2:] = [((first * some + second * more) / (some + more), some + more)]
    top = high - gap * (len(heights) - 1)
    flat = [min(max(mean, low), top) for mean, count in pools for _ in range(count)]
    spaced = {n: flat[rank] + rank * gap for rank, n in enumerate(order)}
    return [spaced[n] for n in range(len(heights))]


def _candidates(spot: Spot) -> Iterator[Box]:
    """Boxes of the name around its point, the nearest first."""
    for distance in _DISTANCES:
        for angle in _DIRECTIONS:
            across, up = math.cos(angle), math.sin(angle)
            x = spot.x + across * (spot.radius + distance) + _towards(across) * spot.width / 2
            y = spot.y + up * (spot.radius + distance) + up * spot.height / 2
            yield Box(x - spot.width / 2, y - spot.height / 2, x + spot.width / 2, y + spot.height / 2)


def _towards(across: float) -> float:
    """-1, 0 or 1: left of the point, over or under it, right of it."""
    return 0.0 if abs(across) < 1e-9 else math.copysign(1.0, across)


def _covered(box: Box, taken: Sequence[Box], bounds: Box) -> float:
    """What a name would cover, in square pixels; beyond the bounds counts four times."""
    outside = box.area - box.overlap(bounds)
    return outside * 4 + sum(box.overlap(other) for other in taken)


def _crowd(spots: Sequence[Spot], n: int) -> float:
    """How crowded it is around a point: nearer neighbours count more."""
    here = spots[n]
    return sum(1 / (1 + math.hypot(here.x - other.x, here.y - other.y)) for m, other in enumerate(spots) if m != n)
