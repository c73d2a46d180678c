"""Turns to traces: HERO's evidence, packed to a token budget (methods.md C1, C2)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from mnemic.algo import sentences, tokens
from mnemic.types import Span, Trace, Turn

BUDGET = 128
SMALLEST_BUDGET = 32

_FRAME = tokens.count(' said, ""') + 1
"""What rendering adds to a speaker's name and words: four tokens, and the line end."""

_LONGEST_NAME = 16


def pack(turns: Sequence[Turn], *, budget: int = BUDGET) -> list[Trace]:
    """Pack turns into traces of at most ``budget`` tokens.

    Whole turns are appended while the running total of their renderings (speaker, the word "said", quoted words,
    line end) stays within the budget; a change of session or agent starts a new trace. A turn that alone is over the
    budget is cut at the ends of its sentences, an overlong sentence at a blank or else between tokens, and each
    piece is a trace of its own.

    The span of a whole turn is its whole text, blanks included; the span of a piece has no blanks at its ends. So
    every non-blank character of every turn is in exactly one span of exactly one trace. A blank turn has no span.

    Args:
        turns: In the order of the dialogue.
        budget: Tokens by ``algo.tokens.count``, at least 32; a speaker's name counts at most 16 of them.

    Returns:
        Traces in the order of the dialogue, with an empty ``trace_id`` and ordinal -1.

    Raises:
        ValueError: The budget is below 32, too small for words beside a name.
    """
    if budget < SMALLEST_BUDGET:
        raise ValueError(f"budget must be at least {SMALLEST_BUDGET} tokens, not {budget}")
    spoken = (turn for turn in turns if turn.text and not turn.text.isspace())
    return [
        trace
        for _, conversation in groupby(spoken, key=lambda turn: (turn.session_id, turn.agent_id))
        for trace in _pack_conversation(conversation, budget)
    ]


def repack(trace: Trace, erased: Collection[str], turns: Mapping[str, Turn]) -> Trace | None:
    """What is left of a trace when turns are erased.

    Args:
        trace: A trace made by ``pack``.
        erased: Ids of the turns whose words have to go.
        turns: At least the remaining turns of the trace, by id, for counting.

    Returns:
        The trace itself where none of its turns is erased; None where nothing is left; else a new trace (its
        ``trace_id`` empty) at the same ordinal with the remaining spans.
    """
    spans = tuple(span for span in trace.spans if span.turn_id not in erased)
    if spans == trace.spans:
        return trace
    if not spans:
        return None
    total = sum(rendered_tokens(turns[span.turn_id], span.start, span.end) for span in spans)
    return replace(trace, trace_id="", spans=spans, tokens=total)


def rendered_tokens(turn: Turn, start: int, end: int) -> int:
    """Size in tokens of the slice ``[start, end)`` of a turn in the paper's rendering: speaker, said, quoted words."""
    return _frame(turn) + tokens.count(turn.text[start:end])


def _frame(turn: Turn) -> int:
    return min(tokens.count(turn.speaker), _LONGEST_NAME) + _FRAME


def _pack_conversation(turns: Iterable[Turn], budget: int) -> Iterator[Trace]:
    """Traces of the turns of one session and agent."""
    session_id = ""
    spans: list[Span] = []
    total = 0
    for turn in turns:
        session_id = turn.session_id
        size = rendered_tokens(turn, 0, len(turn.text))
        if spans and total + size > budget:
            yield Trace("", -1, session_id, tuple(spans), total)
            spans, total = [], 0
        if size > budget:
            for start, end in _pieces(turn.text, budget - _frame(turn)):
                yield Trace("", -1, session_id, (Span(turn.turn_id, start, end),), rendered_tokens(turn, start, end))
        else:
            spans.append(Span(turn.turn_id, 0, len(turn.text)))
            total += size
    if spans:
        yield Trace("", -1, session_id, tuple(spans), total)


def _pieces(text: str, budget: int) -> Iterator[tuple[int, int]]:
    """Spans of at most ``budget`` tokens, trimmed, cut at the last sentence end that fits, else blank, else token."""
    ends = list(tokens.ends(text, 0, len(text)))
    sentence_ends = {end for _, end in sentences.split(text)}
    first = start = 0
    while first < len(ends):
        last = min(first + budget, len(ends))
        if last < len(ends):
            last = _place_to_cut(text, ends, sentence_ends, first, last)
        words = text[start : ends[last - 1]].rstrip()
        if words:
            end = start + len(words)
            yield end - len(words.lstrip()), end
        first, start = last, ends[last - 1]


def _place_to_cut(text: str, ends: list[int], sentence_ends: set[int], first: int, last: int) -> int:
    """How many of the first ``last`` tokens to keep; more than ``first``."""
    places = range(last, first, -1)
    for place in places:
        if ends[place - 1] in sentence_ends:
            return place
    return next((place for place in places if text[ends[place - 1]].isspace()), last)
