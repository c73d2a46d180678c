"""MCP over standard input and output, for a program that starts mnemic as its child."""

from __future__ import annotations

import asyncio
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server


def serve(server: Server[Any]) -> None:
    """Speak MCP on this process's standard input and output until the input ends.

    Meanwhile whatever else the process writes to standard output goes to standard error.
    """
    asyncio.run(_serve(server))


async def _serve(server: Server[Any]) -> None:
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
