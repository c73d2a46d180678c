"""Commands that have language models read what was added: worker, enrich, retry."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from mnemic.cli import hits, interrupt, options, output
from mnemic.cli.reading import enrichment_lines, knows
from mnemic.errors import InvalidInput

if TYPE_CHECKING:
    from mnemic.memory import Memory

_LOOK_S = 2.0


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
    """Do what was left for later, as it comes: vectors of what was imported, and reading by language models.

    Without a language model it makes vectors alone. Any number of workers may share a database; Ctrl-C ends this one,
    and what it had under way is left to others.
    """
    name, thinking = options.existing(db), options.readers(model)
    if thinking["model"] is None and embedder == "none":
        raise InvalidInput(
            "there is nothing to do without an embedder and without a language model: name one by --model or "
            "MNEMIC_MODEL (docs/models.md)"
        )
    if not once:
        with interrupt.until_told() as told, options.memory(name, embedder, thinking, workers=threads) as memory:
            _again(memory, retry=retry)
            output.note(f"Working for {output.shown(options.shown(name))}; Ctrl-C ends it.")
            # Where there is no model, this thread makes the vectors: no other one was begun for it.
            number = told((lambda: memory.wait(timeout=_LOOK_S)) if thinking["model"] is None else lambda: None)
        raise typer.Exit(128 + number)
    with options.memory(name, embedder, thinking) as memory:
        _again(memory, retry=retry)
        found = memory.wait()
    if json:
        output.result(output.as_json(asdict(found)))
        return
    for line in enrichment_lines(found) or ["Nothing is left to do"]:
        output.result(output.shown(line))
    if found.failed:
        raise typer.Exit(1)


def _again(memory: Memory, *, retry: bool) -> None:
    if retry:
        output.note(f"Again: {output.counted(memory.retry(), 'piece')} of work")


def enrich(db: options.Database = None, user: options.User = None, json: options.AsJson = False) -> None:
    """Have models read what they were never to read: what was added without one.

    Leaves the work in the database; worker does it.
    """
    user_id, name, thinking = options.user(user), options.existing(db), options.readers()
    if thinking["model"] is None:
        raise InvalidInput("no language model is set: name one by MNEMIC_MODEL (docs/models.md)")
    with options.memory(name, "none", thinking) as memory:
        made = memory.enrich(user_id=user_id)
        stranger = None if made or knows(memory, user_id) else user_id
    _left(made, stranger, json=json)


def retry(db: options.Database = None, user: options.User = None, json: options.AsJson = False) -> None:
    """Have failed and put-off work done again; of one user with --user.

    Leaves the work in the database; worker does it.
    """
    user_id = options.optional_user(user)
    with options.memory(options.existing(db), "none") as memory:
        made = memory.retry(user_id=user_id)
        stranger = None if made or user_id is None or knows(memory, user_id) else user_id
    _left(made, stranger, json=json)


def _left(pieces: int, stranger: str | None, *, json: bool) -> None:
    """Say how much is left to a worker; ``stranger`` is a user who is not in the database."""
    if stranger is not None:
        output.note(hits.nobody(stranger))
    output.result(output.as_json({"pieces": pieces}) if json else f"{output.counted(pieces, 'piece')} of work to do")
