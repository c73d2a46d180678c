"""The name under which an ingested memory is kept: equal names hold equal memories."""

from __future__ import annotations

import ast
import functools
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import mnemic
from mnemic.types import Json

if TYPE_CHECKING:
    from mnemic.bench.datasets.notes import GivenNote
    from mnemic.importers import Conversation

_SOURCES = Path(mnemic.__file__).parent
_INGESTION = ("mnemic.memory.writing", "mnemic.algo.messages", "mnemic.store", "mnemic.models.cues")
"""What runs when messages are added; the embedder answers for itself by its fingerprint."""
_READING = ("mnemic.memory.enriching", "mnemic.memory.opening")
"""What runs besides when a language model reads them."""
_APART = frozenset({"mnemic.config", "mnemic.types", "mnemic.errors"})
"""Reached too, and changed for reasons that are not ingestion's: a new default of a search, a new kind of result."""


def key(
    conversations: Sequence[Conversation],
    embedder: str | None,
    extractor: str,
    notes: Sequence[GivenNote] = (),
    reading: Json = None,
) -> str:
    """The name of a memory: a hash of everything that it depends on.

    Args:
        conversations: Of one user, in order.
        embedder: Its fingerprint; None for none.
        extractor: Its name.
        notes: Given to the memory after the conversations.
        reading: Which language model reads them, and what for; None for none.
    """
    said: list[Json] = [json.loads(json.dumps(asdict(one))) for one in (*conversations, *notes)]
    read = [] if reading is None else [reading, code(_READING)]
    whole = json.dumps([said, embedder, extractor, code(_INGESTION), *read], sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()[:32]


@functools.cache
def code(modules: tuple[str, ...]) -> str:
    """A hash of the source of these modules and of every module of mnemic that they import, in turn.

    Args:
        modules: Their full names.
    """
    reached: dict[str, bytes] = {}
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        path = _path(module)
        if path is not None and module not in reached and module not in _APART:
            reached[module] = path.read_bytes()
            waiting += imported(reached[module])
    digest = hashlib.sha256()
    for module in sorted(reached):
        digest.update(module.encode() + b"\0" + reached[module] + b"\0")
    return digest.hexdigest()


def imported(source: bytes) -> Iterator[str]:
    """Names that may be modules of mnemic among what a source imports, for running and not for types alone."""
    tree = ast.parse(source)
    for_types = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node not in for_types and (node.module or "").startswith("mnemic"):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _path(module: str) -> Path | None:
    """A module's file; None for what is no module, such as a function."""
    place = _SOURCES.joinpath(*module.split(".")[1:])
    if place.is_dir():
        return place / "__init__.py"
    return place.with_suffix(".py") if place.with_suffix(".py").is_file() else None
