"""The commands of the benchmark: a data set by its name, speed, graph, follow, segment, sweep, report and more.

Everything that computes is imported where it is used: the other commands start without it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mnemic.cli import bench_grounding, bench_looks, bench_run, bench_segment, bench_speed, bench_text, output
from mnemic.cli import bench_options as options
from mnemic.cli.options import AsJson
from mnemic.config import Environment

if TYPE_CHECKING:
    from mnemic.bench.records import DatasetName

app = typer.Typer(
    name="bench",
    help="Measure how good the memory is, beside its rivals.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def _command(dataset: DatasetName) -> Callable[..., None]:
    def measure(
        data: options.DataFile = None,
        split: options.Part = "dev",
        system: options.System = None,
        set: options.Settings = None,
        gold: options.GoldOf = "original",
        notes: options.Notes = None,
        trials: options.Trials = 1,
        jobs: options.Jobs = 1,
        keep: options.Keep = None,
        embedder: options.Embedder = "local",
        model: options.Model = None,
        model_tokens: options.ModelTokens = None,
        answer_model: options.AnswerModel = None,
        judge_model: options.JudgeModel = None,
        answer_price: options.AnswerPrice = None,
        judge_price: options.JudgePrice = None,
        replies: options.Replies = options.REPLIES,
        beside: options.Beside = None,
        results: options.Output = None,
        report: options.Report = None,
        json: AsJson = False,
    ) -> None:
        asking = bench_run.asking(answer_model, judge_model, answer_price, judge_price, replies, beside)
        names = bench_run.systems(system, dataset, answers=asking is not None)
        setup = bench_run.setup(embedder, set, keep, bench_run.model_use(model, model_tokens, replies))
        added = [(asking.beside, bench_run.auxiliary_setup(setup))] if asking and asking.beside else []
        bench_run.check([*((name, setup) for name in names), *added])
        loaded = bench_run.load(dataset, split, data, gold)
        setup = bench_run.noted(setup, notes, loaded, data)
        with bench_run.work(setup) as setup:
            measured = bench_run.measured(loaded, names, setup, trials=trials, jobs=jobs)
            answered = bench_run.answered(loaded, names, setup, asking, trials=trials) if asking else []
        bench_run.tell(measured, answered, json=json)
        bench_run.write(measured, answered, results, report)

    return measure


_HELP: dict[DatasetName, str] = {
    "locomo": "Measure retrieval on LoCoMo.\n\nTen long dialogues of two friends, 1,986 questions.",
    "longmemeval": "Measure retrieval on LongMemEval_S.\n\nA haystack of some 50 sessions a question.",
    "personamem": "Measure answers on PersonaMem-32k.\n\nFour options a question; retrieval alone has no gold.",
}
for _name, _help in _HELP.items():
    app.command(_name, help=_help)(_command(_name))
app.command()(bench_speed.speed)
app.command()(bench_looks.graph)
app.command()(bench_looks.follow)
app.command()(bench_grounding.grounding)
app.command()(bench_segment.segment)


@app.command()
def systems(json: AsJson = False) -> None:
    """List the systems that can be measured."""
    from mnemic.bench.systems import NAMES, describe

    if json:
        output.result(output.as_json([{"name": name, "what": describe(name)} for name in NAMES]))
    else:
        width = max(map(len, NAMES))
        for name in NAMES:
            output.result(f"{name.ljust(width)}  {describe(name)}")


@app.command()
def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="A file of results, of --output or --report.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another; better and worse are said of it.")],
    systems: Annotated[
        str | None,
        typer.Option("--systems", metavar="X,Y", help="Compare X of the first file with Y of the second."),
    ] = None,
    json: AsJson = False,
) -> None:
    """Say what got better or worse between two results, beyond noise."""
    from mnemic.bench import results
    from mnemic.bench.compare import compare as compared
    from mnemic.bench.compare_text import as_text

    pair = _pair(systems)
    found = compared(results.load(output.path(a)), results.load(output.path(b)), systems=pair)
    output.result(output.as_json(asdict(found)) if json else output.shown(as_text(found, a=a, b=b)).rstrip("\n"))


@app.command()
def report(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="Where the report is written.")],
    files: Annotated[list[str], typer.Argument(metavar="FILE…", help="Files of results, of --output or --report.")],
    baseline: Annotated[
        str | None, typer.Option("--baseline", metavar="NAME", help="What the others are compared with. [rrf]")
    ] = None,
) -> None:
    """Write one report, with tables and plots, of results from several runs."""
    from mnemic.bench.gather import gather
    from mnemic.bench.report import write

    found = gather(map(output.path, files))
    page = write(
        output.path(folder),
        found.summaries,
        rows=found.rows,
        baseline=baseline,
        answers=found.answers,
        speed=found.speed,
        sweeps=found.sweeps,
    )
    output.result(output.shown(str(page)))


@app.command()
def sweep(
    dataset: Annotated[Literal["locomo", "longmemeval"], typer.Argument(metavar="DATASET", help="What to measure on.")],
    over: Annotated[str, typer.Option("--over", metavar="NAME=V,W,…", help="The setting, and the values to try.")],
    data: options.DataFile = None,
    split: options.Part = "dev",
    system: Annotated[str, typer.Option("--system", metavar="NAME", help="Of mnemic's own.")] = "hero",
    set: options.Settings = None,
    gold: options.GoldOf = "original",
    notes: options.Notes = None,
    jobs: options.Jobs = 1,
    keep: options.Keep = None,
    embedder: options.Embedder = "local",
    report: options.Report = None,
    json: AsJson = False,
) -> None:
    """Try the values of one setting of mnemic's search, on one ingestion."""
    from mnemic.bench.systems.settings import value

    name, _, given = over.partition("=")
    texts = list(dict.fromkeys(text.strip() for text in given.split(",") if text.strip()))
    if not name or not texts:
        raise typer.BadParameter("--over takes a setting and its values: tau_alias=.6,.7,.8,.9")
    setup = bench_run.setup(embedder, set, keep)
    # All values are looked at before the first is tried.
    tried = {text: {**setup.settings, name: value(text)} for text in texts}
    bench_run.check([(system, replace(setup, settings=settings)) for settings in tried.values()])
    loaded = bench_run.load(dataset, split, data, gold)
    with bench_run.work(bench_run.noted(setup, notes, loaded, data)) as working:
        outcomes = [
            bench_run.run(
                loaded,
                system,
                replace(working, settings=settings),
                jobs=None if jobs == 1 else jobs,
                note=f"{name}={text}",
            )
            for text, settings in tried.items()
        ]
    swept = dict(zip(texts, bench_run.summaries(outcomes), strict=True))
    if json:
        for text, summary in swept.items():
            output.result(output.as_json({"over": {name: value(text)}, **summary}))
    else:
        output.result("\n".join(bench_text.lines({f"{system} {name}={text}": one for text, one in swept.items()})))
    if report is not None:
        from mnemic.bench.report import write

        page = write(output.path(report), (), sweeps={name: list(swept.items())})
        output.note(f"Report: {output.shown(str(page))}")


@app.command()
def download(
    dataset: Annotated[
        Literal["locomo", "locomo-corrections", "longmemeval", "personamem"],
        typer.Argument(metavar="DATASET", help="Which: locomo, locomo-corrections, longmemeval or personamem."),
    ],
    address: Annotated[
        str | None,
        typer.Option("--address", metavar="URL", help="A folder on the web that holds its files. [its authors' own]"),
    ] = None,
) -> None:
    """Fetch a data set into the folder that MNEMIC_DATA names.

    What is there already is left alone. Licences are the authors' own: LoCoMo's is CC BY-NC 4.0, LongMemEval's MIT;
    PersonaMem states none.
    """
    from mnemic.bench.datasets.download import PUBLISHED
    from mnemic.bench.datasets.download import download as fetch

    size = sum(file.size for file in PUBLISHED[dataset])
    try:
        with output.progress(f"Fetching {dataset}, bytes", size) as advance:
            paths = fetch(dataset, Environment.read().data, address=address, progress=advance)
    except KeyboardInterrupt:
        output.note("Interrupted. What came is kept; the same command goes on from there.")
        raise typer.Exit(130) from None
    for path in paths:
        output.result(output.shown(str(path)))


def _pair(names: str | None) -> tuple[str, str] | None:
    if names is None:
        return None
    pair = tuple(name.strip() for name in names.split(","))
    if len(pair) != 2 or not all(pair):
        raise typer.BadParameter("--systems takes two names: rrf,default")
    return pair
