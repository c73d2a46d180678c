"""Ids of what notes state, so that the same statement of the same words is known when it comes again."""

from __future__ import annotations

import hashlib
import json

from mnemic.types import Note


def statement_id(note: Note) -> str:
    """``h`` and 32 hex digits of a statement, its subject and its sources; another one while it does not count yet."""
    spans = sorted([span.turn_id, span.start, span.end] for span in note.sources)
    stated: list[object] = [note.text, note.about, spans]
    if note.status in ("unsupported", "proposed"):
        stated.append([note.status])
    return f"h{hashlib.sha256(json.dumps(stated).encode()).hexdigest()[:32]}"
