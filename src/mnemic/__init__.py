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
    from mnemic.config import Budgets, Enriching, Fusion, Hero, Limit
    from mnemic.errors import MnemicError
    from mnemic.memory import AnswerStream, AsyncMemory, Memory
    from mnemic.store import Copied, Migrated, copy, migrate
    from mnemic.types import (
        Added,
        Allowance,
        Answer,
        Cue,
        Enrichment,
        Episode,
        Erased,
        Erasure,
        Evidence,
        FailedWork,
        FoundNote,
        Interval,
        Neighbour,
        Neighbourhood,
        Note,
        Operation,
        Part,
        Scope,
        SearchResult,
        Sentence,
        Session,
        Span,
        Spent,
        Status,
        Step,
        Sufficiency,
        Trace,
        Turn,
    )

__version__ = "0.1.0"

_HOME = {
    **dict.fromkeys(("AnswerStream", "AsyncMemory", "Memory"), "memory"),
    **dict.fromkeys(("Budgets", "Enriching", "Fusion", "Hero", "Limit"), "config"),
    "MnemicError": "errors",
    **dict.fromkeys(("Copied", "Migrated", "copy", "migrate"), "store"),
    **dict.fromkeys(
        (
            "Added",
            "Allowance",
            "Answer",
            "Cue",
            "Enrichment",
            "Episode",
            "Erased",
            "Erasure",
            "Evidence",
            "FailedWork",
            "FoundNote",
            "Interval",
            "Neighbour",
            "Neighbourhood",
            "Note",
            "Operation",
            "Part",
            "Scope",
            "SearchResult",
            "Sentence",
            "Session",
            "Span",
            "Spent",
            "Status",
            "Step",
            "Sufficiency",
            "Trace",
            "Turn",
        ),
        "types",
    ),
}

__all__ = [
    "Added",
    "Allowance",
    "Answer",
    "AnswerStream",
    "AsyncMemory",
    "Budgets",
    "Copied",
    "Cue",
    "Enriching",
    "Enrichment",
    "Episode",
    "Erased",
    "Erasure",
    "Evidence",
    "FailedWork",
    "FoundNote",
    "Fusion",
    "Hero",
    "Interval",
    "Limit",
    "Memory",
    "Migrated",
    "MnemicError",
    "Neighbour",
    "Neighbourhood",
    "Note",
    "Operation",
    "Part",
    "Scope",
    "SearchResult",
    "Sentence",
    "Session",
    "Span",
    "Spent",
    "Status",
    "Step",
    "Sufficiency",
    "Trace",
    "Turn",
    "copy",
    "migrate",
]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"mnemic.{_HOME[name]}"), name)
    raise AttributeError(f"module 'mnemic' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
