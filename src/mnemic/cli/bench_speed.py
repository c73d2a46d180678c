"""``mnemic bench speed``: what growing costs."""

from __future__ import annotations

import json as jsons
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mnemic.cli import bench_options as options
from mnemic.cli import output
from mnemic.cli.options import AsJson

if TYPE_CHECKING:
    from mnemic.bench.columns import Record
    from mnemic.bench.speed import Growth

_PEERS = "~/.cache/mnemic/peers"


def speed(
    sizes: Annotated[
        str, typer.Option("--sizes", metavar="N,M,…", help="Turns that one user grows to, or none.")
    ] = "1000,10000,100000",
    users: Annotated[
        str, typer.Option("--users", metavar="N,M,…", help="Users of 100 turns that a store grows to, or none.")
    ] = "10,100,1000",
    system: Annotated[
        list[str] | None,
        typer.Option(
            "--system", metavar="NAME", help="One of mnemic's own or a peer; may be repeated. Ratios are to the first."
        ),
    ] = None,
    queries: Annotated[int, typer.Option("--queries", metavar="N", min=1, help="Searches at each size.")] = 50,
    adds: Annotated[int, typer.Option("--adds", metavar="N", min=1, help="Turns added one by one at each size.")] = 20,
    limit: Annotated[
        float,
        typer.Option("--limit", metavar="SECONDS", min=1, help="A system that takes longer at a size stops there."),
    ] = 1800,
    embedder: Annotated[
        str,
        typer.Option(
            "--embedder", metavar="NAME", help="The one of all systems: hash (fast, knows words only), local, …."
        ),
    ] = "hash",
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of the dialogues.")] = 0,
    cache: Annotated[
        str, typer.Option("--cache", metavar="DIR", help="Where the peers' environments are, or are made.")
    ] = _PEERS,
    results: options.Output = None,
    report: options.Report = None,
    json: AsJson = False,
) -> None:
    """Measure how time, memory and disk grow with turns and with users.

    The dialogues are made up. Each system runs in a process of its own; a time without embedding leaves out what the
    embedder took, for that is the same in all of them.
    """
    from mnemic.bench.peers.embedding import embedder as made
    from mnemic.bench.speed import Growth, check

    growth = Growth(_numbers(sizes, "--sizes"), _numbers(users, "--users"), queries, adds, limit, seed)
    names = list(dict.fromkeys(system or ["default"]))
    for name in names:
        check(name)
    made(embedder)
    place = None if results is None else output.path(results)
    place = None if place is None else place.with_name(place.name.removesuffix(".json") + ".json")
    measured: list[Record] = []
    try:
        for name in names:
            _measure(name, growth, embedder, output.path(cache), measured, place, json=json)
    except KeyboardInterrupt:
        kept = f"; what was measured is in {output.shown(str(place))}" if place is not None and measured else ""
        output.note(f"Interrupted{kept}.")
        raise typer.Exit(130) from None
    if not json:
        output.result("\n".join(_lines(measured)))
    if place is not None:
        output.note(f"Results: {output.shown(str(place))}")
    if report is not None:
        from mnemic.bench.report import write

        output.note(f"Report: {output.shown(str(write(output.path(report), (), speed=measured)))}")


def _measure(
    name: str, growth: Growth, embedder: str, cache: Path, measured: list[Record], place: Path | None, *, json: bool
) -> None:
    """Measure one system; each measurement is told and written when it is there, for a run may take hours."""
    from mnemic.bench.speed import grow, start

    start_one = partial(start, name, embedding=embedder, limit_s=growth.limit_s, cache=cache, say=output.note)
    with output.progress(f"{name}, turns", growth.total) as advance:
        for one in grow(name, start_one, growth, progress=advance):
            record = {**one, "embedder": embedder, "queries": growth.queries, "adds": growth.adds, "seed": growth.seed}
            measured.append(record)
            if json:
                output.result(output.as_json(record))
                output.flush()
            if place is not None:
                _write(place, measured)


def _write(place: Path, measured: Sequence[Record]) -> None:
    from dataclasses import asdict

    from mnemic.bench.provenance import Provenance

    place.parent.mkdir(parents=True, exist_ok=True)
    found = {**asdict(Provenance.now()), "speed": list(measured)}
    place.write_text(jsons.dumps(found, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def _lines(measured: Sequence[Record]) -> list[str]:
    """The measurements as a table, as multiples of the first system, and what failed."""
    from mnemic.bench import tables
    from mnemic.bench.columns import SPEED
    from mnemic.bench.compare_text import table

    kept = tables.present(measured, SPEED)
    cells = tables.speed(measured, kept)
    lines = [*table(cells.heads, cells.rows)]
    if times := tables.multiples(measured, kept):
        lines += ["", f"As multiples of {measured[0]['system']} at the same size:", ""]
        lines += table(times.heads, times.rows)
    lines += [output.shown(f"{name}: {why}") for name, why in tables.failures(measured)]
    return lines


def _numbers(text: str, option: str) -> tuple[int, ...]:
    if text.strip().lower() == "none":
        return ()
    try:
        return tuple(int(part.replace("_", "")) for part in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"{option} takes whole numbers: 1000,10000") from None
