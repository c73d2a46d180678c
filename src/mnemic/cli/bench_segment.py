"""``mnemic bench segment``: how well sessions are cut into episodes without a language model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

import typer

from mnemic.cli import bench_options as options
from mnemic.cli import output
from mnemic.cli.options import AsJson
from mnemic.config import Environment
from mnemic.types import Json

_LEGEND = (
    "F1, precision and recall of exact boundaries; WindowDiff (lower is better) with windows of half a mean segment. "
    "In brackets 95 % intervals over persons."
)


def segment(
    data: options.DataFile = None,
    split: options.Part = "dev",
    embedder: options.Embedder = "local",
    vectors: Annotated[
        Literal["sentences", "turns"],
        typer.Option("--vectors", help="A turn's vector: the mean of its sentences', or one of its whole text."),
    ] = "sentences",
    results: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the results there: FILE.json.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Measure the local segmenter on the blocks of PersonaMem's contexts.

    Each context is one session; the system messages that open its blocks are removed first. Beside it stand fixed
    lengths, the whole session, topic drift by a running mean, and its own channels alone.
    """
    from mnemic.bench import segmentation
    from mnemic.bench.peers.embedding import embedder as made

    model = made(embedder)
    file = None if data is None else output.path(data)
    gathered = segmentation.gather(split, data=Environment.read().data, file=file)
    try:
        with output.progress("Cutting", len(gathered.sessions)) as advance:
            found = segmentation.measure(gathered, model, vectors=vectors, progress=advance)
    except KeyboardInterrupt:
        output.note("Interrupted.")
        raise typer.Exit(130) from None
    summary = segmentation.summarise(found)
    output.result(output.as_json(summary) if json else "\n".join(_lines(summary)))
    if results is not None:
        path = output.path(results)
        path = path.with_name(path.name.removesuffix(".json") + ".json")
        segmentation.save(path, summary)
        output.note(f"Results: {output.shown(str(path))}")


def _lines(summary: Mapping[str, Json]) -> Iterator[str]:
    from mnemic.bench.columns import Column, inner, share, small, whole
    from mnemic.bench.compare_text import table
    from mnemic.bench.tables import filled

    columns = (
        Column("F1", "", ("f1",), share, interval=("interval", "f1")),
        Column("precision", "", ("precision",), share),
        Column("recall", "", ("recall",), share),
        Column("WindowDiff", "", ("window_diff",), share, interval=("interval", "window_diff")),
        Column("boundaries", "", ("predicted",), whole),
        Column("CPU-ms", "", ("cpu_ms",), small),
    )
    for half, found in inner(summary, "halves").items():
        systems = {name: inner(found, "systems", name) for name in inner(found, "systems")}
        cells = filled(systems, columns)
        counts = inner(summary, "halves", half)
        yield f"{half}: {counts['sessions']} sessions, {counts['turns']} turns, {counts['boundaries']} boundaries"
        yield from table(("segmenter", *cells.heads[1:]), cells.rows)
        yield ""
    yield _LEGEND
