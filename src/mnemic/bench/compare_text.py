"""A comparison as a person reads it: Markdown that is legible as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mnemic.bench.compare import SIGNIFICANT, Comparison, Cost, Pair
from mnemic.bench.differences import Change

_MARK = {"better": " ▲", "worse": " ▼", "noise": "", "untested": " ?"}


def as_text(comparison: Comparison, *, a: str = "A", b: str = "B") -> str:
    """Render a comparison.

    First the count of what is better and worse; then all values, category by metric, with ▲ and ▼ at what is beyond
    noise; then those again with their intervals; last what it cost.

    Args:
        comparison: What to render.
        a: Name of the first file, for the title.
        b: Name of the second.
    """
    lines = [f"# {a} → {b}"]
    for pair in comparison.pairs:
        lines += ["", *_pair(pair)]
    lines += ["", *_legend(comparison)]
    return "\n".join(lines) + "\n"


def _pair(pair: Pair) -> Iterator[str]:
    old, new = pair.systems
    gold = "" if pair.gold == "original" else f", {pair.gold} gold"
    yield f"## {pair.dataset}, {pair.split}{gold}: {old if old == new else f'{old} → {new}'}"
    yield ""
    yield f"{_count(pair.changes)}. {_how(pair)}"
    for level in dict.fromkeys(change.level for change in pair.changes):
        yield ""
        yield from _matrix(level, [change for change in pair.changes if change.level == level])
    if beyond := [change for change in pair.changes if change.verdict in ("better", "worse")]:
        yield ""
        yield from _beyond(beyond)
    if pair.costs:
        yield ""
        yield from _costs(pair.costs)


def _count(changes: Sequence[Change]) -> str:
    if not changes:
        return "Nothing that both were measured by"
    counts = {verdict: sum(change.verdict == verdict for change in changes) for verdict in _MARK}
    words = f"{counts['better']} better, {counts['worse']} worse, {counts['noise']} within noise"
    return f"{words}, {counts['untested']} untested" if counts["untested"] else words


def _how(pair: Pair) -> str:
    trials = "" if pair.trials == (1, 1) else f" Means of {pair.trials[0]} and {pair.trials[1]} trials."
    if pair.test == "paired":
        return f"Compared question by question.{trials}"
    return f"Compared by the intervals of the summaries, for rows are missing; this sees less.{trials}"


def _matrix(level: str, changes: Sequence[Change]) -> Iterator[str]:
    names = list(dict.fromkeys(change.metric for change in changes))
    cells = {(change.category, change.metric): change for change in changes}
    rows = [
        [category, f"{max(change.n for change in changes if change.category == category):,}"]
        + [_cell(cells.get((category, name))) for name in names]
        for category in dict.fromkeys(change.category for change in changes)
    ]
    yield from table([level, "n", *names], rows)


def _cell(change: Change | None) -> str:
    if change is None:
        return ""
    return f"{change.a:.3f} → {change.b:.3f}{_MARK[change.verdict]}"


def _beyond(changes: Sequence[Change]) -> Iterator[str]:
    yield from table(
        ["beyond noise", "", "", "change", "95 % interval", "p", "p (Holm)"],
        [
            [
                f"{change.verdict}{_MARK[change.verdict]}",
                f"{change.level}, {change.category}",
                change.metric,
                f"{change.difference:+.3f}",
                f"{change.low:+.3f} … {change.high:+.3f}",
                _p(change.p),
                _p(change.p_holm),
            ]
            for change in changes
        ],
    )


def _p(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.4f}" if value >= 0.0001 else "< .0001"


def _costs(costs: Sequence[Cost]) -> Iterator[str]:
    yield from table(
        ["cost (no test)", "A", "B", "B / A"],
        [[c.name, f"{c.a:,.1f}", f"{c.b:,.1f}", f"{c.b / c.a:.2f}" if c.a else ""] for c in costs],
    )


def _legend(comparison: Comparison) -> Iterator[str]:
    yield "▲ better, ▼ worse, no mark: within noise, ?: too few questions to tell from summaries."
    yield (
        f"{comparison.tests} differences were tested and their p values adjusted together by Holm's method: the chance "
        f"that even one ▲ or ▼ here is false is at most {SIGNIFICANT:.0%}. Intervals and the plain p are of one "
        "difference looked at alone."
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The lines of a Markdown table, padded so that its columns stand under each other in plain text too."""
    cells = [[cell.replace("|", "\\|") for cell in row] for row in (head, *rows)]
    widths = [max(3, *(len(row[column]) for row in cells)) for column in range(len(head))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in cells
    ]
    yield lines[0]
    yield "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    yield from lines[1:]
