"""From results to the plots of a report: which numbers each picture shows, and whether there is anything to show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from mnemic.bench.columns import LEVEL_WORDS, Record, ends, inner, number
from mnemic.bench.plots import calibrated, categories, quality, recall, roc, scale, sweep
from mnemic.bench.plots.style import Estimate, Figure
from mnemic.bench.records import DEPTHS, Level, Row
from mnemic.bench.summary import LEVELS

_SPEED: Final[Mapping[str, tuple[tuple[str, ...], float]]] = {
    "search, CPU ms (p50)": (("search_cpu_ms", "p50"), 1.0),
    "add one turn, CPU ms": (("add_one_ms",), 1.0),
    "search after an add, CPU ms (p50)": (("search_after_add_ms",), 1.0),
    "restart to first answer, ms": (("restart_ms",), 1.0),
    "resident memory, MB": (("rss_mb",), 1.0),
    "disk, MB": (("bytes",), 1e-6),
}
"""Title -> where the number lies, and what it is multiplied by."""
_SWEPT: Final = (("fraction", "5", "recall@5"), ("fraction", "10", "recall@10"))


def recall_by_k(systems: Mapping[str, Record]) -> Figure | None:
    """Recall at every depth, a panel for each level; None where nobody has any."""
    panels: dict[str, dict[str, dict[int, Estimate]]] = {}
    for level in LEVELS:
        found = {
            name: {k: each for k in DEPTHS if (each := _estimate(record, (level,), "fraction", str(k)))}
            for name, record in systems.items()
        }
        if any(found.values()):
            panels[LEVEL_WORDS[level]] = found
    return recall.figure(panels) if panels else None


def recall_by_category(systems: Mapping[str, Record], level: Level) -> Figure | None:
    """Recall@10 by category at one level; None where there are no categories."""
    panels: dict[str, dict[str, Estimate]] = {}
    for category in categories_of(systems.values(), level):
        where = ("by_category", category, level)
        found = {name: each for name, record in systems.items() if (each := _estimate(record, where, "fraction", "10"))}
        sizes = [n for record in systems.values() if (n := number(record, *where, "n"))]
        panels[f"{category} ({max(sizes):,.0f})" if sizes else category] = found
    return categories.figure(panels, measure="recall@10") if panels else None


def categories_of(records: Iterable[Record], level: Level) -> list[str]:
    """The categories that have recall at a level, the largest first."""
    sizes: dict[str, float] = {}
    for record in records:
        for category in inner(record, "by_category"):
            if number(record, "by_category", category, level, "fraction", "10") is not None:
                n = number(record, "by_category", category, level, "n") or 0.0
                sizes[category] = max(n, sizes.get(category, 0.0))
    return sorted(sizes, key=lambda category: (-sizes[category], category))


def quality_by_cost(systems: Mapping[str, Record], level: Level) -> Figure | None:
    """Recall@10 against CPU time and tokens; None where nobody has both recall and a time."""
    points = [
        quality.Point(name, time, found, number(record, level, "tokens", "10"))
        for name, record in systems.items()
        if (found := _estimate(record, (level,), "fraction", "10"))
        and (time := number(record, "cpu_ms", "p50")) is not None
    ]
    return quality.figure(points, measure=f"recall@10, {LEVEL_WORDS[level]}") if points else None


def abstention(systems: Mapping[str, Sequence[Row]]) -> Figure | None:
    """The ROC of each system's relevance; None where nobody has both kinds of questions with one.

    Args:
        systems: Name -> its rows; of those, the first level's that it was asked at.
    """
    found = {name: said for name, rows in systems.items() if (said := _relevances(rows))}
    return roc.figure(found) if found else None


def calibration(systems: Mapping[str, Record], level: Level) -> Figure | None:
    """The calibration curve of each system's probabilities at one level; None where nobody says any.

    Of ``--split all`` the test half's: the curves were fitted on the other.
    """
    found: dict[str, list[tuple[int, float, float]]] = {}
    for name, record in systems.items():
        half = inner(record, "by_half", "test")
        bins = inner(half or record, "reliability", level, str(DEPTHS[-1])).get("bins")
        if isinstance(bins, list):
            found[name] = [tuple(one) for one in bins]  # pyright: ignore[reportArgumentType] - as summary writes them
    return calibrated.figure(found) if found else None


def growth(speed: Sequence[Record]) -> dict[str, Figure]:
    """Scale curves: ``turns`` of one user, and ``users`` of a store; each only where it was measured."""
    figures: dict[str, Figure] = {}
    for axis, grows in (("turns", "turns of one user"), ("users", "users of one store")):
        records = [record for record in speed if (number(record, "users") in (None, 1.0)) == (axis == "turns")]
        panels = {
            title: curves for title, where in _SPEED.items() if (curves := _curves(records, axis, where[0], where[1]))
        }
        if panels:
            figures[axis] = scale.figure(panels, grows=grows)
    return figures


def swept(setting: str, found: Sequence[tuple[str, Record]]) -> Figure | None:
    """Recall@5 and @10 at each value of a setting; None where there is none.

    Args:
        setting: Its name.
        found: Value, as text, and the summary under it.
    """
    lines = {
        f"{words}, {level}": [_estimate(record, (level,), metric, k) for _, record in found]
        for level in LEVELS
        for metric, k, words in _SWEPT
    }
    kept = {name: line for name, line in lines.items() if any(line)}
    return sweep.figure(setting, [value for value, _ in found], kept) if kept else None


def _curves(
    records: Sequence[Record], axis: str, path: tuple[str, ...], factor: float
) -> dict[str, list[tuple[float, float]]]:
    """System -> its points, by size; what a logarithmic axis cannot show is left out."""
    curves: dict[str, list[tuple[float, float]]] = {}
    for record in records:
        size, cost = number(record, axis), number(record, *path)
        if size and cost and min(size, cost) > 0:
            curves.setdefault(str(record.get("system")), []).append((size, cost * factor))
    return {name: sorted(points) for name, points in curves.items()}


def _estimate(record: Record, where: tuple[str, ...], metric: str, k: str) -> Estimate | None:
    value = number(record, *where, metric, k)
    if value is None:
        return None
    between = ends(record, *where, "interval", metric, k)
    return Estimate(value, *between) if between else Estimate(value)


def _relevances(rows: Sequence[Row]) -> roc.Relevances | None:
    level = next((level for level in LEVELS if any(row.level == level for row in rows)), None)
    asked = [row for row in rows if row.level == level and row.relevance is not None]
    # As bench.abstention counts: an answerable question without usable evidence is neither.
    sides = [row for row in asked if not row.answerable], [row for row in asked if row.answerable and row.ranks]
    if not all(sides):
        return None
    scores = [[row.relevance for row in side if row.relevance is not None] for side in sides]
    judged = all(row.nothing_relevant is not None for side in sides for row in side)
    taken = [sum(not row.nothing_relevant for row in side) / len(side) for side in sides]
    return roc.Relevances(scores[1], scores[0], (taken[0], taken[1]) if judged else None)
