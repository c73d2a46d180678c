"""From ranked slots to evidence: original words, read from the rows, rendered, budgeted and cited."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from mnemic.algo import render, select, tokens
from mnemic.algo.graph import Graph, Mask
from mnemic.types import Evidence, Granularity, Span, Step, Turn

_DELIMITER = re.compile(r"<(?=\s*+/?\s*+memory\b)", re.IGNORECASE)


def spans_of(graph: Graph, slot: int, granularity: Granularity, allowed: Mask) -> list[tuple[int, Span]]:
    """(trace slot, span) of everything that a hit may show: only of turns that pass the filters.

    Args:
        graph: As searched.
        slot: Of a trace, or of a turn; a turn's spans are the pieces of it that its traces hold.
        granularity: Which of the two.
        allowed: (turns,) mask.
    """
    places: Sequence[int]
    if granularity == "trace":  # in ascending order
        first, stop = map(int, np.searchsorted(graph.span_trace, (slot, slot + 1)))
        places = range(first, stop)
    else:
        places = np.flatnonzero(graph.span_turn == slot).tolist()
    return [
        (
            int(graph.span_trace[i]),
            Span(graph.turn_ids[int(graph.span_turn[i])], int(graph.span_start[i]), int(graph.span_end[i])),
        )
        for i in places
        if graph.trace_alive[graph.span_trace[i]] and allowed[graph.span_turn[i]]
    ]


def evidence(
    graph: Graph,
    trace: int,
    spans: Sequence[Span],
    turns: dict[str, Turn],
    *,
    passing: Mask,
    score: float,
    signals: dict[str, float],
    paths: tuple[tuple[Step, ...], ...],
    episode_id: str | None = None,
) -> Evidence:
    """One hit. ``turns`` holds at least the turns of its spans; of ``passing`` ones alone others take their dates."""
    said = [turns[span.turn_id] for span in spans]
    undated = {turn.turn_id: turn.session_id for turn in said if turn.timestamp is None}
    around = {turn_id: graph.around(turn_id, session, passing) for turn_id, session in undated.items()}
    return Evidence(
        trace_id=graph.trace_ids[trace],
        turn_ids=tuple(dict.fromkeys(span.turn_id for span in spans)),
        spans=tuple(spans),
        quotes=tuple(turn.text[span.start : span.end] for turn, span in zip(said, spans, strict=True)),
        session_id=said[0].session_id,
        speakers=tuple(dict.fromkeys(turn.speaker for turn in said)),
        timestamp=said[0].timestamp,
        text="\n".join(
            render.line(turn, span.start, span.end, around.get(turn.turn_id))
            for turn, span in zip(said, spans, strict=True)
        ),
        score=score,
        signals=signals,
        paths=paths,
        episode_id=episode_id,
    )


def block(hits: Sequence[Evidence], max_tokens: int) -> str:
    """Evidence as a block for a prompt: delimited, dated, cited, best first, whole hits only, within the budget.

    What people said cannot close the block, ``<memory`` inside the words is written ``&lt;memory``, nor begin an entry
    of its own, since further lines of the words are indented.

    Returns:
        The block; an empty string when no hit fits.
    """
    opening, closing = "<memory>", "</memory>"
    entries = [
        f"[{number}] session {render.one_line(hit.session_id)} · "
        f"turns {', '.join(map(render.one_line, hit.turn_ids))}\n{hit.text}\n"
        for number, hit in enumerate(hits, 1)
    ]
    entries = [_DELIMITER.sub("&lt;", entry) for entry in entries]
    frame = tokens.count(f"{opening}\n{closing}")
    taken = select.within_budget([tokens.count(entry) for entry in entries], max_tokens - frame)
    return "".join([opening, "\n", *(entries[i] for i in taken), closing]) if taken else ""
