"""Turns as text for reading and for embedding. The words are always the turn's own, never reworded."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from mnemic.algo import names
from mnemic.types import Interval, Note, Trace, Turn

_MINUTE: Final = timedelta(minutes=1)
_LINE_END = re.compile("\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


def moment(at: datetime | None, around: Interval | None = None) -> str:
    """``2023-05-08 13:56 UTC``, in the zone it was given in; ``undated`` when unknown, and ``around`` when that was."""
    if at is None:
        return "undated" if around is None else f"undated, {_around(around)}"
    # Not by strftime, which takes a quarter of the time of rendering a hit.
    return f"{at.year:04}-{at.month:02}-{at.day:02} {at.hour:02}:{at.minute:02} {_zone(at.utcoffset())}"


def _around(around: Interval) -> str:
    if around.start == around.end:
        return f"about {moment(around.start)}"
    return f"between {moment(around.start)} and {moment(around.end)}"


def _zone(offset: timedelta | None) -> str:
    if not offset:
        return "UTC"
    hours, minutes = divmod(abs(offset) // _MINUTE, 60)
    return f"{'-' if offset < timedelta(0) else '+'}{hours:02}:{minutes:02}"


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


def line(turn: Turn, start: int, end: int, around: Interval | None = None) -> str:
    """One span for reading: who, when, words; further lines of the words are indented.

    So whatever somebody said, a line that is not indented begins another span. ``around`` is when a turn without a date
    must have been said.
    """
    said = _LINE_END.sub(r"\g<0>  ", words(turn, start, end))
    return f"{one_line(turn.speaker)} ({moment(turn.timestamp, around)}): {said}"


def one_line(name: str) -> str:
    """A name without line ends in it."""
    return _LINE_END.sub(" ", name)


def embedded(trace: Trace, texts: Mapping[str, str]) -> str:
    """What of a trace is embedded: its words alone, a line a span; ``texts`` by turn_id."""
    return "\n".join(texts[span.turn_id][span.start : span.end] for span in trace.spans)


def embedded_note(note: Note, speakers: Sequence[str]) -> str:
    """What of a note is embedded: a quotation as it is; a given one without the speakers' names, as questions are."""
    return note.text if note.given_id is None else names.strip(note.text, speakers)
