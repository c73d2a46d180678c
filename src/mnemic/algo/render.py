"""Turns as text for reading and for embedding. The words are always the turn's own, never reworded."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from mnemic.types import Trace, Turn


def moment(at: datetime | None) -> str:
    """``2023-05-08 13:56 UTC``, in the zone it was given in; ``undated`` when unknown."""
    if at is None:
        return "undated"
    offset = at.strftime("%z")
    zone = "UTC" if offset in ("", "+0000") else f"{offset[:3]}:{offset[3:5]}"
    return f"{at.year:04}-{at:%m-%d %H:%M} {zone}"


def words(turn: Turn, start: int, end: int) -> str:
    """The slice ``[start, end)`` of a turn, with what is no plain text (a caption, a tool call) in brackets."""
    if not turn.parts:
        return turn.text[start:end]
    pieces: list[str] = []
    for part in turn.parts:
        text = turn.text[max(part.start, start) : min(part.end, end)]
        # What has no words of its own stands at the end of those before it.
        is_there = text or start <= part.start == part.end <= end
        if part.kind != "text" and is_there:
            text = f"[{part.kind.replace('_', ' ')}{': ' if text else ''}{text}]"
        if text:
            pieces.append(text)
    return "\n".join(pieces)


def line(turn: Turn, start: int, end: int) -> str:
    """One span for reading: who, when, words."""
    return f"{turn.speaker} ({moment(turn.timestamp)}): {words(turn, start, end)}"


def embedded(trace: Trace, texts: Mapping[str, str]) -> str:
    """What of a trace is embedded: its words alone, a line a span; ``texts`` by turn_id."""
    return "\n".join(texts[span.turn_id][span.start : span.end] for span in trace.spans)
