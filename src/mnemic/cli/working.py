"""The command that has language models read what was added."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from mnemic.cli import options, output
from mnemic.cli.reading import enrichment_lines
from mnemic.errors import InvalidInput


def worker(
    db: options.Database = None,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="NAME", help="Who reads: openai:gpt-4.1-mini, ollama:llama3, … [MNEMIC_MODEL]"),
    ] = None,
    threads: Annotated[int, typer.Option("--threads", metavar="N", min=1, help="Pieces of work at a time.")] = 3,
    once: Annotated[bool, typer.Option("--once", help="Do what there is, due or not, and end.")] = False,
    retry: Annotated[bool, typer.Option("--retry", help="Try again what failed or was put off, first.")] = False,
    embedder: options.EmbedderName = "local",
    json: options.AsJson = False,
) -> None:
    """Have language models read what was added, as it comes.

    Any number of workers may share a database; Ctrl-C ends this one, and what it had under way is left to others.
    """
    name, thinking = options.existing(db), options.readers(model)
    if thinking["model"] is None:
        raise InvalidInput("no language model is set: name one by --model or MNEMIC_MODEL (docs/models.md)")
    with options.memory(name, embedder, thinking, workers=0 if once else threads - 1) as memory:
        if retry:
            again = memory.retry()
            output.note(f"Again: {output.counted(again, 'piece')} of work")
        if not once:
            output.note(f"Working for {output.shown(name)}; Ctrl-C ends it.")
            memory.work()
        found = memory.wait()
    if json:
        output.result(output.as_json(asdict(found)))
        return
    for line in enrichment_lines(found):
        output.result(output.shown(line))
    if found.failed:
        raise typer.Exit(1)
