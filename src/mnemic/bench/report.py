"""The report: a page that says at a glance how good the memory is, its pictures, and all its numbers as JSON."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final, cast

import mnemic
from mnemic.bench import markdown, page, tables
from mnemic.bench.columns import OVERVIEW, Record
from mnemic.bench.plots import style
from mnemic.bench.records import DatasetName, Row
from mnemic.bench.summary import Summary
from mnemic.errors import InvalidFile, InvalidInput

PAGE: Final = "report.md"
_RESULTS: Final = "results.json"
_ROWS: Final = "results.rows.jsonl"
_TITLES: Final = {"locomo": "LoCoMo", "longmemeval": "LongMemEval_S", "personamem": "PersonaMem-32k"}
_README: Final = ("trace R@5", "trace R@10", "any@5", "any@10", "turn R@10", "multi-hop turn R@10", "CPU ms", "tokens")


def write(
    folder: Path,
    summaries: Sequence[Summary],
    *,
    rows: Sequence[Sequence[Row]] = (),
    baseline: str | None = None,
    answers: Sequence[Record] = (),
    speed: Sequence[Record] = (),
    sweeps: Mapping[str, Sequence[tuple[str, Record]]] | None = None,
) -> Path:
    """Write ``report.md``, the pictures it shows, ``results.json`` and, where rows are given, ``results.rows.jsonl``.

    The JSON is what ``results.load`` reads, with the answers and the speed beside the summaries. Files of an earlier
    report of the same names are replaced. Equal arguments give equal bytes, with one version of matplotlib.

    Args:
        folder: Made if need be.
        summaries: In the order of the tables.
        rows: For each summary the rows it was made from, perhaps none; empty where none are at hand. With them there
            are paired differences and ROC curves.
        baseline: The system that the others are compared with; by default ``rrf``, else the first of a data set.
        answers: As ``bench.answers.summarise`` makes them.
        speed: Measurements, each ``{"system", "users", "turns", "add_one_ms", "search_cpu_ms": {"p50", "p95"},
            "search_wall_ms", "restart_ms", "rss_mb", "bytes"}``.
        sweeps: Setting -> its values, as text, each with the summary under it.

    Returns:
        Where the page is.

    Raises:
        InvalidInput: There is nothing to report, or systems that were asked different questions of one data set.
        InvalidFile: Nothing can be written there.
        MissingExtra: matplotlib is not installed.
    """
    if not (summaries or answers or speed or sweeps):
        raise InvalidInput("there are no results to report; run a benchmark first, mnemic bench --help says which")
    given = list(rows) if rows else [()] * len(summaries)
    written = _page(summaries, given, baseline, answers, speed, sweeps or {})
    record = {
        "mnemic": mnemic.__version__,
        "summaries": list(summaries),
        **({"answers": list(answers)} if answers else {}),
        **({"speed": list(speed)} if speed else {}),
        **({"sweeps": {name: [list(one) for one in values] for name, values in sweeps.items()}} if sweeps else {}),
        **({"rows": _ROWS} if any(given) else {}),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, figure in written.figures.items():
            style.save(figure, folder / name)
        if any(given):
            _text(folder / _ROWS, "".join(_lines(given)))
        _text(folder / _RESULTS, json.dumps(record, indent=1, allow_nan=False) + "\n")
        _text(folder / PAGE, "\n".join(written.lines).rstrip("\n") + "\n")
    except OSError as error:
        raise InvalidFile(f"{folder}: the report cannot be written ({error.strerror}); give another folder") from error
    return folder / PAGE


def readme_table(summaries: Sequence[Summary]) -> str:
    """The table that the README shows: a row for each system, in Markdown.

    Args:
        summaries: Of one part of one data set, in the order of the rows.
    """
    columns = [column for head in _README for column in OVERVIEW if column.head == head]
    return "\n".join(markdown.table(tables.filled(_named(summaries), columns)))


def table(summaries: Sequence[Summary]) -> list[list[str]]:
    """The same at a glance for a terminal: the headings, then a row for each system, as plain text without intervals.

    Names are as in the results: whoever shows them sees to what a terminal would act on.
    """
    found = tables.filled(_named(summaries), OVERVIEW, intervals=False)
    return [list(found.heads), *map(list, found.rows)]


def _page(
    summaries: Sequence[Summary],
    rows: Sequence[Sequence[Row]],
    baseline: str | None,
    answers: Sequence[Record],
    speed: Sequence[Record],
    sweeps: Mapping[str, Sequence[tuple[str, Record]]],
) -> page.Page:
    written = page.Page()
    written.say(
        "# How good the memory is", f"Measured by mnemic {mnemic.__version__}; all numbers are in `{_RESULTS}`."
    )
    for found in _groups(summaries, rows):
        page.group(written, found, baseline)
    page.sweeps(written, sweeps)
    for (dataset, split, gold, _), places in _parts(answers).items():
        page.answers(written, _title(dataset, split, gold), _named([answers[n] for n in places]))
    if speed:
        page.speed(written, speed)
    page.guide(written)
    return written


def _groups(summaries: Sequence[Summary], rows: Sequence[Sequence[Row]]) -> list[page.Group]:
    slugs: Counter[str] = Counter()
    groups: list[page.Group] = []
    for (dataset, split, gold, _), places in _parts(summaries).items():
        slug = re.sub(r"[^a-z0-9]+", "-", _title(dataset, split, gold, {}).lower()).strip("-") or "data"
        slugs[slug] += 1
        named = _named([summaries[n] for n in places])
        groups.append(
            page.Group(
                title=_title(dataset, split, gold),
                slug=slug if slugs[slug] == 1 else f"{slug}-{slugs[slug]}",
                dataset=cast(DatasetName, dataset),
                systems=named,
                rows={name: rows[n] for name, n in zip(named, places, strict=True) if rows[n]},
            )
        )
    return groups


def _parts(records: Sequence[Record]) -> dict[tuple[str, ...], list[int]]:
    """What can stand in one table: places of what is of the same part of the same file, by the same gold."""
    parts: dict[tuple[str, ...], list[int]] = {}
    for n, record in enumerate(records):
        key = tuple(str(record.get(name)) for name in ("dataset", "split", "gold", "checksum"))
        parts.setdefault(key, []).append(n)
    return parts


def _title(dataset: str, split: str, gold: str, titles: Mapping[str, str] = _TITLES) -> str:
    return ", ".join([titles.get(dataset, dataset), split, *([] if gold == "original" else [f"{gold} gold"])])


def _named(summaries: Sequence[Record]) -> dict[str, Record]:
    """Each summary under the name of its system, and of its trial where there are several."""
    trials = Counter(str(summary.get("system")) for summary in summaries)
    named: dict[str, Record] = {}
    for summary in summaries:
        system = str(summary.get("system"))
        name = f"{system}, trial {summary.get('trial')}" if trials[system] > 1 else system
        while name in named:
            name = f"{name}, again"
        named[name] = summary
    return named


def _lines(rows: Sequence[Sequence[Row]]) -> list[str]:
    return [
        json.dumps({"summary": place, **asdict(row)}, allow_nan=False) + "\n"
        for place, own in enumerate(rows)
        for row in own
    ]


def _text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
