"""Why a trace was found: the ways from the question's words to it, through cues, units and notes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mnemic.retrieve.matched import Matched
from mnemic.types import Span, Step

_CUES = 3
"""Most paths through cues for one trace."""


def paths(matched: Matched, trace: int, words: Callable[[Span], str]) -> tuple[tuple[Step, ...], ...]:
    """The ways to one trace, strongest first.

    Args:
        matched: The question and the graph.
        trace: Its slot.
        words: Reads a span.

    Returns:
        The way over its most similar unit, if any is similar at all; then those over its strongest active cues,
        each from the words of the question that anchored it.
    """
    walker = _Walker(matched, words)
    found = [*walker.over_unit(trace), *walker.over_cues(trace)]
    return tuple(sorted(found, key=lambda path: -path[-1].weight))


class _Walker:
    def __init__(self, matched: Matched, words: Callable[[Span], str]) -> None:
        self._matched = matched
        self._question = matched.question
        self._graph = matched.graph
        self._words = words

    def over_unit(self, trace: int) -> list[tuple[Step, ...]]:
        units = np.flatnonzero(self._graph.unit_trace == trace)
        if not len(units):
            return []
        best = int(units[np.argmax(self._matched.relevance[units])])
        cosine = float(self._matched.relevance[best])
        if not cosine > 0:
            return []
        return [(self._query(self._question.text, cosine), self._context(best), self._trace(trace, cosine))]

    def over_cues(self, trace: int) -> list[tuple[Step, ...]]:
        """The trace's strongest active cues, each with the chain of contexts that activated it."""
        active, frequency = self._matched.active, self._matched.candidates.frequency
        cues = frequency.columns[frequency.starts[trace] : frequency.starts[trace + 1]]
        weight = active.weight[cues] / np.maximum(active.level[cues], 1)
        order = [int(cues[i]) for i in np.argsort(-weight, kind="stable")[:_CUES] if weight[i] > 0]
        return [(*self._chain(cue), self._trace(trace, self._damped(cue))) for cue in order]

    def _damped(self, cue: int) -> float:
        return float(self._matched.active.weight[cue] / self._matched.active.level[cue])

    def _chain(self, cue: int) -> list[Step]:
        """From the question's words to a cue."""
        active = self._matched.active
        steps: list[Step] = []
        while True:
            steps.append(self._cue(cue, float(active.weight[cue])))
            if active.parent[cue] < 0:
                break
            context, alias, parent = int(active.context[cue]), int(active.alias[cue]), int(active.parent[cue])
            steps.append(self._context(context))
            if alias != parent:
                steps.append(self._cue(alias, float(active.weight[cue]) / steps[-1].weight))
            cue = parent
        entity = int(np.argmax(self._matched.similarity[:, cue]))
        steps.append(self._query(self._question.entities[entity].surface, float(active.weight[cue])))
        return steps[::-1]

    def _query(self, text: str, weight: float) -> Step:
        return Step("query", "", text, weight)

    def _cue(self, cue: int, weight: float) -> Step:
        return Step("cue", self._graph.cue_keys[cue], self._graph.cue_keys[cue], weight)

    def _trace(self, trace: int, weight: float) -> Step:
        return Step("trace", self._graph.trace_ids[trace], "", weight)

    def _context(self, context: int) -> Step:
        graph = self._graph
        weight = float(self._matched.relevance[context])
        units = len(graph.unit_turn)
        if context >= units:
            return Step("note", graph.note_ids[context - units], graph.note_text[context - units], weight)
        turn_id = graph.turn_ids[int(graph.unit_turn[context])]
        span = Span(turn_id, int(graph.unit_start[context]), int(graph.unit_end[context]))
        return Step("unit", turn_id, self._words(span), weight)
