"""Long-term memory for LLM agents that never loses the words.

    from mnemic import Memory

    memory = Memory.open("memory.db")
    memory.add("I moved to Lisbon in May.", user_id="ana")
    memory.search("Where does Ana live?", user_id="ana")

Importing this package loads nothing heavy: each name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mnemic.config import Fusion, Hero
    from mnemic.errors import MnemicError
    from mnemic.memory import AsyncMemory, Memory
    from mnemic.types import (
        Added,
        Evidence,
        Interval,
        Note,
        Operation,
        Part,
        Scope,
        SearchResult,
        Span,
        Status,
        Step,
        Trace,
        Turn,
    )

__version__ = "0.1.0"

_HOME = {
    "AsyncMemory": "memory",
    "Memory": "memory",
    "Fusion": "config",
    "Hero": "config",
    "MnemicError": "errors",
    **dict.fromkeys(
        (
            "Added",
            "Evidence",
            "Interval",
            "Note",
            "Operation",
            "Part",
            "Scope",
            "SearchResult",
            "Span",
            "Status",
            "Step",
            "Trace",
            "Turn",
        ),
        "types",
    ),
}

__all__ = [
    "Added",
    "AsyncMemory",
    "Evidence",
    "Fusion",
    "Hero",
    "Interval",
    "Memory",
    "MnemicError",
    "Note",
    "Operation",
    "Part",
    "Scope",
    "SearchResult",
    "Span",
    "Status",
    "Step",
    "Trace",
    "Turn",
]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"mnemic.{_HOME[name]}"), name)
    raise AttributeError(f"module 'mnemic' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
