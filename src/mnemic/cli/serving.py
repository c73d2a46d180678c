"""The command that serves a memory to others: serve."""

from __future__ import annotations

from typing import Annotated

import typer

from mnemic.cli import options, output
from mnemic.errors import InvalidInput
from mnemic.models.optional import from_extra


def serve(
    db: options.Database = None,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65535, help="Where to listen; 0 for any.")
    ] = 8377,
    no_auth: Annotated[
        bool, typer.Option("--no-auth", help="Ask nobody for an API key; on this machine only.")
    ] = False,
    embedder: options.EmbedderName = "local",
) -> None:
    """Serve the memory over HTTP: REST under /v1, its description under /docs.

    Every request needs an API key: mnemic keys create.
    """
    uvicorn = from_extra("uvicorn", needed_by="mnemic serve", extra="server")
    from_extra("fastapi", needed_by="mnemic serve", extra="server")
    from mnemic.service.app import create
    from mnemic.service.door import is_loopback
    from mnemic.service.settings import Settings

    if no_auth and not is_loopback(host):
        raise InvalidInput(f"--no-auth is for this machine alone, not for {host}: leave out one of the two")
    name = options.database(db)
    with options.memory(name, embedder, options.readers()) as memory:
        app = create(memory, settings=Settings(auth=not no_auth))
        output.note(f"Serving {output.shown(name)} at http://{host}:{port}/docs; Ctrl-C ends it.")
        uvicorn.run(app, host=host, port=port, log_config=None, access_log=False, server_header=False)
