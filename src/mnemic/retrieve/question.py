"""A question, understood: its words, cues, names and times, and its embedding."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from mnemic.algo import lexical, names, ordinal, temporal
from mnemic.algo.graph import Graph
from mnemic.config import Configuration, Hero
from mnemic.types import CueMention, Interval

if TYPE_CHECKING:
    from mnemic.protocols import CueExtractor, Embedder, Floats

_MAX_ENTITIES = 16
"""Of a very long question the first cues count; each unknown one costs an embedding."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, understood: everything about it that does not depend on a single candidate.

    Attributes:
        text: As asked.
        vector: (dim,) its embedding, with or without the participants' names; zeros without an embedder.
        entities: Its cues, or the whole question where it has none.
        entity_vectors: (entities, dim).
        terms: For lexical scoring, without stop words and names.
        named: The speakers it names, as positions in ``graph.speakers``.
        asked: (start, end, is relative) of the times it names, in seconds since the epoch.
        which: Whether it means the first or the last of several times.
    """

    text: str
    vector: Floats
    entities: tuple[CueMention, ...]
    entity_vectors: Floats
    terms: tuple[str, ...]
    named: frozenset[int]
    asked: tuple[tuple[float, float, bool], ...]
    which: ordinal.Which | None = None


def understand(
    text: str,
    graph: Graph,
    config: Configuration,
    *,
    embedder: Embedder | None,
    extractor: CueExtractor,
    reference: datetime,
) -> Question:
    """Take a question apart and embed it, with one call of the embedder.

    Cues that the graph holds with a vector need no embedding.

    Args:
        text: The question, not blank.
        graph: Of the user who is asked about.
        config: Says whether names are left out of the embedded question.
        embedder: The one that made the graph's vectors; None for lexical retrieval only.
        extractor: The one that made the graph's cues.
        reference: What "yesterday" in the question counts from, aware.

    Raises:
        EmbeddingFailed: The embedder failed.
    """
    stripped = names.strip(text, graph.speakers)
    asked = text if isinstance(config, Hero) and config.names == "keep" else stripped
    found = extractor.extract([text], names=graph.speakers)[0]
    entities = tuple({mention.key: mention for mention in found}.values())[:_MAX_ENTITIES] or (
        CueMention(asked, asked, 0, len(asked)),
    )
    vector = np.zeros(graph.dim, np.float32)
    entity_vectors = np.zeros((len(entities), graph.dim), np.float32)
    for row, entity in zip(entity_vectors, entities, strict=True):
        if (slot := graph.cue_slot.get(entity.key)) is not None:
            row[:] = graph.cue_vectors[slot]
    if embedder is not None and graph.dim:
        # Only the paper needs vectors of cues that no turn mentions: the default was measured to gain nothing by them.
        unknown = [i for i, row in enumerate(entity_vectors) if not row.any()] if isinstance(config, Hero) else []
        wanted = [asked, *(entities[i].key for i in unknown)]
        embedded = embedder.embed(wanted, kind="query")
        vector, entity_vectors[unknown] = embedded[0], embedded[1:]
    return Question(
        text=text,
        vector=vector,
        entities=entities,
        entity_vectors=entity_vectors,
        terms=tuple(lexical.content_terms(stripped)),
        named=names.named(text, graph.speakers),
        asked=_asked(text, graph, reference),
        which=ordinal.wanted(text),
    )


def _asked(text: str, graph: Graph, reference: datetime) -> tuple[tuple[float, float, bool], ...]:
    """Times in a question, counted from ``reference``; where that leads outside the memory, from its last turn."""
    found = _intervals(text, reference)
    times = graph.turn_time[graph.turn_alive & ~np.isnan(graph.turn_time)]
    if not found or not len(times):
        return found
    first, last = float(times.min()), float(times.max())
    if any(end >= first and start <= last for start, end, _ in found):
        return found
    try:
        return _intervals(text, datetime.fromtimestamp(last, reference.tzinfo))
    except (OverflowError, ValueError):  # at the very end of the calendar, in the year 9999
        return found


def _intervals(text: str, reference: datetime) -> tuple[tuple[float, float, bool], ...]:
    return tuple((*_seconds(found.interval), found.relative) for found in temporal.find(text, reference))


def _seconds(interval: Interval) -> tuple[float, float]:
    start = interval.start.timestamp() if interval.start else -np.inf
    return start, interval.end.timestamp() if interval.end else np.inf
