"""What grows: mnemic under one of its configurations, or a peer, each in a process of its own behind one wire."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from mnemic.bench.peers import ours
from mnemic.bench.peers.environment import CACHE
from mnemic.bench.peers.recipes import RECIPES
from mnemic.bench.peers.system import Peer, open_peer, open_with
from mnemic.bench.systems.named import OURS
from mnemic.errors import InvalidInput

MEASURED: Final = (*OURS, *RECIPES)


def check(name: str) -> None:
    """Raises InvalidInput unless a system of this name can grow."""
    if name not in MEASURED:
        raise InvalidInput(f"the growth of {name!r} is not measured, only that of: {', '.join(MEASURED)}")


def start(
    name: str,
    *,
    embedding: str,
    limit_s: float,
    cache: Path = CACHE,
    say: Callable[[str], None] = lambda _: None,
) -> Peer:
    """Start a system, empty.

    Args:
        name: One of ``MEASURED``.
        embedding: The embedder, as ``peers.embedding.embedder`` names it.
        limit_s: For one request.
        cache: Folder of the peers' environments.
        say: Told, in a sentence, of what takes long.

    Raises:
        InvalidInput: There is none of that name.
        PeerFailed: It cannot be installed, or does not start.
    """
    check(name)
    if name in OURS:
        return open_with(sys.executable, ours.recipe(name), embedding=embedding, limit_s=limit_s)
    return open_peer(name, cache=cache, embedding=embedding, limit_s=limit_s, say=say)
