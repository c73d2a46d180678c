"""What work reads: some traces of one session, their turns, and what was said before."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from mnemic.algo import render
from mnemic.algo.recalled import blanked
from mnemic.protocols import Store
from mnemic.types import Span, Trace, Turn

_BEFORE = 2
"""Turns that what is said may refer to."""
_GAP: Final = re.compile(" {9,}")


@dataclass(frozen=True, slots=True)
class Line:
    """A piece of one turn, as a model reads it."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Passage:
    """Traces to be read.

    Attributes:
        traces: In the order of the dialogue.
        session: All turns of the session, in order.
        turns: The same by their ids.
        speakers: Everybody who speaks in the memory.
    """

    user_id: str
    session_id: str
    traces: tuple[Trace, ...]
    session: tuple[Turn, ...]
    turns: Mapping[str, Turn]
    speakers: tuple[str, ...]

    @property
    def owners(self) -> tuple[str, ...]:
        """The people who speak in these traces; assistants and tools are none."""
        said = (self.turns[span.turn_id] for trace in self.traces for span in trace.spans)
        return tuple(dict.fromkeys(turn.speaker for turn in said if turn.role == "user"))

    def lines(self, owner: str) -> list[Line]:
        """What the traces hold of one person's words: who, when and what in one line a piece.

        An assistant that has a person's name is no person.
        """
        said = [(span, self.turns[span.turn_id]) for trace in self.traces for span in trace.spans]
        spans = [span for span, turn in said if turn.speaker == owner and turn.role == "user" and is_open(turn)]
        lines = [Line(span, render.line(self.turns[span.turn_id], span.start, span.end)) for span in spans]
        return [replace(line, text=_GAP.sub(" ", line.text)) for line in lines]

    def cited(self, spans: Sequence[Span]) -> tuple[list[Turn], list[Turn]]:
        """The turns that some spans lie in, and the two just before the first of these, each in order."""
        wanted = {span.turn_id for span in spans}
        places = [place for place, turn in enumerate(self.session) if turn.turn_id in wanted]
        first = places[0] if places else 0
        return [self.session[place] for place in places], list(self.session[max(first - _BEFORE, 0) : first])


def is_open(turn: Turn) -> bool:
    """Whether a model may read a turn: it is not in quarantine, or a person let it out."""
    return turn.quarantine in (None, "released")


def read(store: Store, user_id: str, session_id: str, trace_ids: Sequence[str]) -> Passage | None:
    """Read what some traces hold, without what memory had said itself; None where nothing is left of them."""
    said = store.turns(user_id, session_id=session_id)
    session = tuple(replace(turn, text=blanked(turn.text)) for turn in said)
    known = {turn.turn_id: turn for turn in session}
    traces = [
        trace
        for trace in store.traces(user_id, trace_ids=trace_ids)
        if all(span.turn_id in known for span in trace.spans)
    ]
    if not traces:
        return None
    return Passage(user_id, session_id, tuple(traces), session, known, tuple(store.speakers(user_id)))
