"""What a call's result says of it in a span: counts."""

from __future__ import annotations

from mnemic.telemetry import Attributes
from mnemic.types import Added, Answer, Erasure, Operation, SearchResult


def of_added(added: Added) -> Attributes:
    """Of ``add`` and ``add_notes``."""
    return {
        "mnemic.turns": len(added.turn_ids),
        "mnemic.notes": len(added.notes),
        "mnemic.new": added.new,
        "mnemic.warnings": len(added.warnings),
    }


def of_erased(receipt: Erasure) -> Attributes:
    """Of ``erase``, and so of ``delete`` and ``delete_all``."""
    return {"mnemic.turns": receipt.erased.turns}


def of_found(found: SearchResult) -> Attributes:
    """Of ``search``."""
    return {
        "mnemic.hits": len(found.results),
        "mnemic.nothing_relevant": found.nothing_relevant,
        "mnemic.warnings": len(found.warnings),
    }


def of_block(block: str) -> Attributes:
    """Of ``context``."""
    return {"mnemic.characters": len(block)}


def of_answer(answer: Answer) -> Attributes:
    """Of ``answer``."""
    return {"mnemic.answered": answer.text is not None, "mnemic.sources": len(answer.sources)}


def of_operations(done: tuple[Operation, ...]) -> Attributes:
    """Of ``reflect``."""
    return {"mnemic.operations": len(done)}
