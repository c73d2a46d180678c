"""Edges of the graph, counted against arithmetic."""

from __future__ import annotations

from mnemic.bench.systems.edges import count
from mnemic.types import Interval, Note, Span, Trace, Unit

ALWAYS = Interval(None, None)


class _Turn:
    """The part of a row that is counted."""

    def __init__(self, *units):
        self.units = units


class _Rows:
    def __init__(self, turns, traces, notes=()):
        self.turns = turns
        self.traces = [(trace, None) for trace in traces]
        self.notes = [(note, None) for note in notes]


def trace(number, *spans):
    return Trace(f"T{number}", number, "s", tuple(Span(*span) for span in spans), 10)


def note(number, cues, *sources):
    return Note(f"N{number}", 1, "fact", "Ana", "x", ALWAYS, tuple(Span(*s) for s in sources), cues=cues)


def test_nothing_has_no_edges():
    assert count(_Rows([], [])) == {"edges": 0, "cue-trace": 0, "cue-note": 0, "note-trace": 0, "trace-trace": 0}


def test_each_kind_is_counted_once_a_pair():
    rows = _Rows(
        [
            _Turn(Unit("a", 0, 10, {"kiln": 2, "bowl": 1}), Unit("a", 10, 20, {"kiln": 1})),
            _Turn(Unit("b", 0, 5, {"kiln": 1})),
        ],
        # The second sentence of a begins in the second trace, in which b is, too.
        [trace(1, ("a", 0, 10)), trace(2, ("a", 10, 20), ("b", 0, 5)), trace(3, ("c", 0, 1))],
        # The first note rests on words of both traces, the second on one twice.
        [note(1, {"kiln": 1, "bowl": 3}, ("a", 5, 15)), note(2, {}, ("b", 0, 2), ("b", 2, 5))],
    )
    assert count(rows) == {"edges": 10, "cue-trace": 3, "cue-note": 2, "note-trace": 3, "trace-trace": 2}
