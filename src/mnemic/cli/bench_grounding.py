"""``mnemic bench grounding``: how well the grounding gate tells true notes from altered ones."""

from __future__ import annotations

import json as jsons
from collections.abc import Iterator, Mapping
from typing import Annotated

import typer

from mnemic.cli import bench_options as options
from mnemic.cli import bench_run, output
from mnemic.cli.options import AsJson
from mnemic.config import Environment
from mnemic.types import Json


def grounding(
    data: options.DataFile = None,
    split: options.Part = "dev",
    results: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the results there: FILE.json.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Hold LoCoMo's notes against the turns that they cite, as they are and altered.

    Names, numbers, dates, speakers and negations are altered by rules; a good gate refuses those notes and no others.
    """
    from mnemic.bench import grounding as gate
    from mnemic.bench.datasets.notes import load_notes

    loaded = bench_run.load("locomo", split, data, "original")
    file = None if data is None else output.path(data)
    notes = load_notes("observation", loaded, data=Environment.read().data, file=file)
    with output.progress("Holding notes against their sources", len(loaded.conversations)) as advance:
        found = gate.summarise(loaded, notes, gate.measure(loaded, notes, progress=advance))
    output.result(output.as_json(found) if json else "\n".join(_lines(found)))
    if results is not None:
        path = output.path(results)
        path = path.with_name(path.name.removesuffix(".json") + ".json")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(jsons.dumps(found, indent=1) + "\n", encoding="utf-8")
        output.note(f"Results: {output.shown(str(path))}")


def _lines(found: Mapping[str, Json]) -> Iterator[str]:
    from mnemic.bench.columns import at, inner, number
    from mnemic.bench.compare_text import table

    kinds = [(kind, at(found, "altered", "by_kind", kind)) for kind in inner(found, "altered", "by_kind")]
    rows = [
        _row("as they are", at(found, "true"), "refused"),
        *(_row(f"other {kind}", row, "caught") for kind, row in kinds),
        _row("all altered", at(found, "altered"), "caught"),
        _row("citing another turn", at(found, "other_source"), "caught"),
    ]
    yield from table(("notes", "n", "refused", "interval"), rows)
    yield ""
    yield f"{number(found, 'cpu_ms', 'mean') or 0.0:.2f} CPU-ms a note."


def _row(label: str, share: Json, name: str) -> list[str]:
    from mnemic.bench.columns import ends, number
    from mnemic.bench.tables import MISSING

    value, interval = number(share, name), ends(share, "interval")
    return [
        label,
        f"{number(share, 'n') or 0:g}",
        MISSING if value is None else f"{value:.3f}",
        MISSING if interval is None else f"[{interval[0]:.3f}, {interval[1]:.3f}]",
    ]
