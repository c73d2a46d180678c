"""``mnemic bench graph`` and ``mnemic bench follow``: a look into the memory that is measured."""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mnemic.cli import bench_looks_text, bench_run, output
from mnemic.cli import bench_options as options
from mnemic.cli.options import AsJson
from mnemic.config import Environment

if TYPE_CHECKING:
    from mnemic.bench.datasets.notes import GivenNotes
    from mnemic.bench.records import Dataset
    from mnemic.bench.systems import Setup
    from mnemic.bench.systems.ours import Ours

Named = Annotated[
    Literal["locomo", "longmemeval", "personamem"],
    typer.Argument(metavar="DATASET", help="Which: locomo, longmemeval or personamem."),
]


def graph(
    dataset: Named,
    data: options.DataFile = None,
    split: options.Part = "dev",
    keep: options.Keep = None,
    embedder: options.Embedder = "local",
    json: AsJson = False,
) -> None:
    """Tell how large each user's memory is: traces, cues, notes, edges, megabytes, and what building it took.

    For LoCoMo and PersonaMem the figures that HERO's authors published stand beside it.
    """
    from mnemic.bench import graph as graphs

    setup = bench_run.setup(embedder, None, keep)
    bench_run.check([("default", setup)])
    loaded = bench_run.load(dataset, split, data, "original")
    with bench_run.work(setup) as setup, output.progress("Taking in", len(loaded.conversations)) as advance:
        found = graphs.summarise(loaded, graphs.measure(loaded, setup, progress=advance))
    output.result(output.as_json(found) if json else "\n".join(bench_looks_text.graph(found)))


def follow(
    dataset: Named,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="Its id, as in the rows: conv-26/17.")],
    data: options.DataFile = None,
    split: Annotated[options.Split, typer.Option("--split", help="Where to look for it.")] = "all",
    top_k: Annotated[int, typer.Option("--top-k", metavar="N", min=1, help="Hits to follow.")] = 5,
    beside_notes: Annotated[
        bool,
        typer.Option("--beside-notes", help="Show turns beside LoCoMo's notes on them, that a language model wrote."),
    ] = False,
    notes: Annotated[
        str | None,
        typer.Option(
            "--notes", metavar="FILE", help="Show turns beside the notes of this file, one JSON object a line."
        ),
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option("--system", metavar="NAME", help="Show what this one finds beside it; may be repeated."),
    ] = None,
    model: options.Model = None,
    model_tokens: options.ModelTokens = None,
    replies: options.Replies = options.REPLIES,
    keep: options.Keep = None,
    embedder: options.Embedder = "local",
    json: AsJson = False,
) -> None:
    """Follow one question to what it finds: its words, cues, sentences, notes and traces, step by step."""
    from mnemic.bench import follow as following
    from mnemic.bench.systems import system as made
    from mnemic.models import registry

    setup = bench_run.setup(embedder, None, keep, bench_run.model_use(model, model_tokens, replies))
    named = list(dict.fromkeys(system or ()))
    bench_run.check([(name, setup) for name in ("default", *named)])
    loaded = bench_run.load(dataset, split, data, "original")
    asked = following.question_of(loaded, question)
    given = _notes(loaded, data, beside_notes, notes)
    with bench_run.work(setup) as setup, ExitStack() as stack:
        systems = {name: stack.enter_context(closing(_ours(name, setup))) for name in following.WAYS}
        extractor = registry.cue_extractor("rules")
        others = [stack.enter_context(closing(made(name, setup))) for name in named]
        found = following.follow(loaded, asked, systems, extractor, top_k=top_k, notes=given, others=others)
    if json:
        output.result(output.as_json(bench_looks_text.followed_as_json(found)))
    else:
        bench_looks_text.followed(found)


def _ours(name: str, setup: Setup) -> Ours:
    from mnemic.bench.systems import system
    from mnemic.bench.systems.ours import Ours

    made = system(name, setup)
    assert isinstance(made, Ours)
    return made


def _notes(dataset: Dataset, data: str | None, observations: bool, file: str | None) -> GivenNotes | None:
    from mnemic.bench.datasets.notes import load_notes

    if observations and file is not None:
        raise typer.BadParameter("--beside-notes takes LoCoMo's own notes and --notes a file's: give one of them")
    if not observations and file is None:
        return None
    wanted: Path | Literal["observation"] = "observation" if file is None else output.path(file)
    of_file = None if data is None else output.path(data)
    return load_notes(wanted, dataset, data=Environment.read().data, file=of_file)
