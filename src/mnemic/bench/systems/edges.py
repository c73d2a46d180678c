"""The edges of HERO's graph (paper section 3.1, methods.md 1.1), counted in the rows of one user."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mnemic.protocols import Delta
    from mnemic.types import Span, Trace

KINDS: Final = ("cue-trace", "cue-note", "note-trace", "trace-trace")


def count(rows: Delta) -> dict[str, int]:
    """How many edges of each kind there are, and under ``edges`` how many together.

    A cue and a trace are linked where a sentence that begins in the trace mentions the cue, a cue and a note where the
    note does, a note and a trace where the note rests on words of the trace, and each trace with the one before it.
    Pairs count once, however often they meet.

    Args:
        rows: Everything of a user, ``Store.load(…, since=0)``.
    """
    traces = [trace for trace, _ in rows.traces]
    places = _Places(traces)
    cue_trace = {
        (cue, trace)
        for row in rows.turns
        for unit in row.units
        for trace in places.at(unit.turn_id, unit.start)
        for cue in unit.cues
    }
    note_trace = {
        (note.note_id, note.version, trace)
        for note, _ in rows.notes
        for source in note.sources
        for trace in places.over(source)
    }
    counts = {
        "cue-trace": len(cue_trace),
        "cue-note": sum(len(note.cues) for note, _ in rows.notes),
        "note-trace": len(note_trace),
        "trace-trace": max(len(traces) - 1, 0),
    }
    return {"edges": sum(counts.values()), **counts}


class _Places:
    """Which traces hold which words."""

    def __init__(self, traces: Iterable[Trace]) -> None:
        self._spans: dict[str, list[tuple[int, int, str]]] = {}
        for trace in traces:
            for span in trace.spans:
                self._spans.setdefault(span.turn_id, []).append((span.start, span.end, trace.trace_id))

    def at(self, turn_id: str, place: int) -> list[str]:
        """The traces that hold the character at a place of a turn."""
        return [trace for start, end, trace in self._spans.get(turn_id, ()) if start <= place < end]

    def over(self, span: Span) -> list[str]:
        """The traces that hold any character of a span."""
        return [
            trace for start, end, trace in self._spans.get(span.turn_id, ()) if start < span.end and span.start < end
        ]
