"""Two files of results: what got better or worse beyond noise.

Where both files have their rows, systems are compared question by question, otherwise by the intervals of their
summaries (``bench.differences``). All p values of one comparison are adjusted together (Holm), so that looking at many
metrics and categories does not find changes that are luck.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

from mnemic.bench.differences import Change, Verdict, by_intervals, by_rows, mean_at
from mnemic.bench.records import DatasetName, Row
from mnemic.bench.results import Results
from mnemic.bench.statistics import holm
from mnemic.bench.summary import Summary
from mnemic.errors import InvalidInput

SIGNIFICANT = 0.05

_COSTS = (
    ("tokens_per_query",),
    ("latency_ms", "p50"),
    ("latency_ms", "p95"),
    ("cpu_ms", "p50"),
    ("cpu_ms", "p50_without_embedding"),
    ("rss_mb",),
    ("build", "cpu_s"),
    ("build", "bytes_on_disk"),
)


@dataclass(frozen=True, slots=True)
class Cost:
    """One number of what it cost, in A and in B; without a test, for one run says little about times."""

    name: str
    a: float
    b: float


@dataclass(frozen=True, slots=True)
class Pair:
    """One system of A against one of B on one data set.

    Attributes:
        systems: Their names; equal where one system is compared with another version of itself.
        trials: How many trials of each are averaged.
        test: ``paired`` by rows, or by the ``intervals`` of the summaries.
        changes: By level, category and metric, the overall ones first in each level.
    """

    dataset: str
    split: str
    gold: str
    systems: tuple[str, str]
    trials: tuple[int, int]
    test: Literal["paired", "intervals"]
    changes: tuple[Change, ...]
    costs: tuple[Cost, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two files of results differ in.

    Attributes:
        tests: How many p values were adjusted together.
    """

    pairs: tuple[Pair, ...]
    tests: int


@dataclass(frozen=True, slots=True)
class _Trials:
    """All that one file has of one system on one data set."""

    summaries: tuple[Summary, ...]
    rows: tuple[tuple[Row, ...], ...]


_Part = tuple[str, str, str]
"""Data set, split, gold."""


def compare(a: Results, b: Results, *, systems: tuple[str, str] | None = None) -> Comparison:
    """Compare what two files of results have in common.

    Args:
        a: The earlier one, or the rival's.
        b: The later one; better and worse are said of it. May be ``a``, to compare two systems of one file.
        systems: Which system of A to compare with which of B. By default each with its namesake, and on a data set
            where each file has one system, those two.

    Raises:
        InvalidInput: They have nothing in common, or were measured on different data or questions.
    """
    ours, theirs = _parts(a), _parts(b)
    pairs = [
        _pair(part, names, ours[part][names[0]], theirs[part][names[1]])
        for part in ours
        if part in theirs
        for names in _matched(list(ours[part]), list(theirs[part]), systems)
    ]
    if not pairs:
        raise InvalidInput(
            f"nothing to compare: the first file has {_contents(ours)}; the second {_contents(theirs)}. "
            "Give results of one data set, split and gold, and name the systems where they differ"
        )
    adjusted = iter(holm([change.p for pair in pairs for change in pair.changes if change.p is not None]))
    judged = tuple(replace(pair, changes=tuple(_judged(pair.changes, adjusted))) for pair in pairs)
    return Comparison(judged, sum(change.p is not None for pair in judged for change in pair.changes))


def _parts(results: Results) -> dict[_Part, dict[str, _Trials]]:
    parts: dict[_Part, dict[str, _Trials]] = {}
    for summary, rows in zip(results.summaries, results.rows, strict=True):
        part = (str(summary["dataset"]), str(summary["split"]), str(summary["gold"]))
        systems = parts.setdefault(part, {})
        before = systems.get(system := str(summary["system"]), _Trials((), ()))
        systems[system] = _Trials((*before.summaries, summary), (*before.rows, rows))
    return parts


def _matched(ours: Sequence[str], theirs: Sequence[str], systems: tuple[str, str] | None) -> list[tuple[str, str]]:
    if systems is not None:
        return [systems] if systems[0] in ours and systems[1] in theirs else []
    namesakes = [(name, name) for name in ours if name in theirs]
    if not namesakes and len(ours) == len(theirs) == 1:
        return [(ours[0], theirs[0])]
    return namesakes


def _pair(part: _Part, names: tuple[str, str], a: _Trials, b: _Trials) -> Pair:
    _on_one_file(part, (*a.summaries, *b.summaries))
    with_rows = all(a.rows) and all(b.rows)
    changes = (
        by_rows(a.rows, b.rows, cast(DatasetName, part[0])) if with_rows else by_intervals(a.summaries, b.summaries)
    )
    costs: list[Cost] = []
    for path in _COSTS:
        one, other = mean_at(a.summaries, path), mean_at(b.summaries, path)
        if one is not None and other is not None:
            costs.append(Cost(" ".join(path), one, other))
    return Pair(
        *part,
        systems=names,
        trials=(len(a.summaries), len(b.summaries)),
        test="paired" if with_rows else "intervals",
        changes=tuple(changes),
        costs=tuple(costs),
    )


def _on_one_file(part: _Part, summaries: Sequence[Summary]) -> None:
    if len(checksums := sorted({str(summary["checksum"])[:12] for summary in summaries})) > 1:
        raise InvalidInput(
            f"{part[0]} ({part[1]}): measured on different files (SHA-256 {', '.join(checksums)}); "
            "run both on the same one"
        )


def _judged(changes: Iterable[Change], adjusted: Iterator[float]) -> Iterator[Change]:
    for change in changes:
        if change.p is None:
            yield change
            continue
        p = next(adjusted)
        verdict: Verdict = "noise"
        if p <= SIGNIFICANT:
            verdict = "better" if change.difference > 0 else "worse"
        yield replace(change, p_holm=p, verdict=verdict)


def _contents(parts: dict[_Part, dict[str, _Trials]]) -> str:
    named = [f"{' '.join(part)}: {', '.join(systems)}" for part, systems in parts.items()]
    return "; ".join(named) or "nothing"
