"""The command that serves a memory to others: serve."""

from __future__ import annotations

from typing import Annotated

import typer

from mnemic.cli import interrupt, options, output
from mnemic.errors import InvalidInput
from mnemic.models.optional import from_extra


def serve(
    db: options.Database = None,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65535, help="Where to listen; 0 for any.")
    ] = 8377,
    no_auth: Annotated[bool, typer.Option("--no-auth", help="Ask nobody for an API key; this machine only.")] = False,
    rate: Annotated[float, typer.Option("--rate", metavar="N", help="Requests a second of one API key.")] = 100.0,
    contact: Annotated[
        str | None, typer.Option("--contact", metavar="TEXT", help="Whom people may ask; in the notice.")
    ] = None,
    threads: Annotated[int, typer.Option("--threads", metavar="N", min=0, help="Of language models' work.")] = 3,
    embedder: options.EmbedderName = "local",
    snapshots: options.SnapshotPlace = None,
    snapshot_bytes: options.SnapshotBytes = None,
) -> None:
    """Serve the memory over HTTP: REST under /v1 (see /openapi.json), MCP at /mcp, and the inspector at /inspector.

    Every request needs an API key: mnemic keys create. Ctrl-C ends it.
    """
    for module in ("fastapi", "uvicorn", "prometheus_client", "mcp", "nicegui"):
        from_extra(module, needed_by="mnemic serve", extra="server")
    from mnemic.service import inspector, mcp_http
    from mnemic.service.app import create
    from mnemic.service.door import is_loopback
    from mnemic.service.running import run
    from mnemic.service.settings import Settings
    from mnemic.service.watching import log_as_json

    if no_auth and not is_loopback(host):
        raise InvalidInput(f"--no-auth is for this machine alone, not for {host}: leave out one of the two")
    if rate <= 0:
        raise typer.BadParameter(f"--rate must be over 0, not {rate:g}")
    settings = Settings(auth=not no_auth, rate=rate, burst=max(1, round(2 * rate)), contact=contact)
    name = options.database(db)
    if not is_loopback(host):
        output.note("API keys travel as they are: put something that speaks TLS before this server (docs/security.md).")
    # Told to end while the server ends: by then it has to be ended, not killed, for its work to be given back.
    kept, models = options.keeping(snapshots, snapshot_bytes), options.everything()
    with interrupt.until_told(), options.memory(name, embedder, models, workers=threads, kept=kept) as memory:
        log_as_json()
        shown = output.shown(options.shown(name))
        run(
            create(memory, settings=settings, mounts=[mcp_http.mount, inspector.mount]), host=host, port=port,
            started=lambda address: output.note(f"Serving {shown} at {address}; Ctrl-C ends it."),
        )  # fmt: skip
