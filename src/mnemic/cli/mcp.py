"""``mnemic mcp``: the memory of one person for an MCP client, over standard input and output."""

from __future__ import annotations

import logging
import sys
from typing import Annotated

import typer

from mnemic.cli import options
from mnemic.models.optional import from_extra


def mcp(
    db: options.Database = None,
    user: options.User = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Offer no tool that adds, changes or erases.")] = False,
    embedder: options.EmbedderName = "local",
    snapshots: options.SnapshotPlace = None,
    snapshot_bytes: options.SnapshotBytes = None,
) -> None:
    """Serve the memory of one person to an MCP client, over standard input and output.

    Whose it is, only --user says: no tool can name another user. An MCP client starts this itself (docs/mcp.md).
    """
    user_id = options.user(user)
    from_extra("mcp", needed_by="mnemic mcp", extra="server")
    # Imported here: the extra may be missing, and no other command needs it.
    from mnemic.service import mcp as service
    from mnemic.service import mcp_stdio

    # Standard output is the protocol's; what goes wrong is for the client's log.
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    rights = frozenset[service.Right](("read",)) if read_only else service.RIGHTS
    kept = options.keeping(snapshots, snapshot_bytes)
    with options.memory(options.database(db), embedder, options.readers(), workers=3, kept=kept) as memory:
        mcp_stdio.serve(service.for_one(memory, user_id, rights=rights))
