"""The command line: ``mnemic``, also ``python -m mnemic``."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from mnemic import __version__
from mnemic.cli import (
    answering,
    bench,
    demonstration,
    exploring,
    importing,
    keys,
    mcp,
    output,
    reading,
    serving,
    tending,
    upkeep,
    working,
    writing,
)
from mnemic.errors import MnemicError

app = typer.Typer(
    name="mnemic",
    help="Long-term memory for agents that never loses the words.",
    no_args_is_help=True,
    add_completion=False,
    # Rich tracebacks would print local variables: other people's messages.
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(demonstration.demo)
app.command()(writing.add)
app.command("import")(importing.import_)
app.command()(reading.search)
app.command()(reading.context)
app.command()(answering.answer)
app.command()(reading.notes)
app.command()(reading.evolution)
app.command()(tending.proposals)
app.command()(tending.approve)
app.command()(tending.reject)
app.command()(tending.confirm)
app.command()(tending.retract)
app.command()(tending.history)
app.command()(tending.undo)
app.command()(tending.diff)
app.command()(tending.quarantine)
app.command()(tending.release)
app.command()(tending.discard)
app.command()(tending.reflect)
app.command()(tending.forget)
app.command()(tending.restore)
app.command()(reading.episodes)
app.command()(exploring.sessions)
app.command()(exploring.traces)
app.command()(exploring.cues)
app.command()(exploring.neighbours)
app.command()(reading.status)
app.command()(reading.notice)
app.command()(reading.export)
app.command()(writing.delete)
app.command()(writing.erase)
app.command()(working.worker)
app.command()(working.enrich)
app.command()(working.retry)
app.command()(serving.serve)
app.add_typer(keys.app)
app.command()(mcp.mcp)
app.command()(upkeep.reembed)
app.command()(upkeep.migrate)
app.command()(upkeep.copy)
app.command()(upkeep.backup)
app.command()(upkeep.doctor)
app.add_typer(bench.app)


def _version(asked: bool) -> None:
    if asked:
        output.result(f"mnemic {__version__}")
        raise typer.Exit


@app.callback()
def _start(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which version this is.")
    ] = False,
) -> None:
    pass


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit: 0 done, 1 failed, 2 called wrongly, 130 interrupted.

    Args:
        arguments: Instead of the process's own.
    """
    output.use_utf8()
    # What the library warns of, commands say themselves.
    logging.getLogger("mnemic").addHandler(logging.NullHandler())
    if arguments is None:
        arguments = [output.given(argument) for argument in sys.argv[1:]]
    try:
        try:
            app(args=list(arguments), prog_name="mnemic")
        finally:
            output.flush()
    except MnemicError as error:
        _fail(str(error))
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))


def _fail(message: str) -> None:
    output.note(f"error: {output.shown(' '.join(message.split()))}")
    sys.exit(1)
