"""What a question gets: evidence, and answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from mnemic.types.kept import Note, Span


@dataclass(frozen=True, slots=True)
class Step:
    """One stop of the path that led to a hit: what was reached, its words, and with what weight."""

    kind: Literal["query", "cue", "unit", "note", "trace"]
    id: str
    text: str
    weight: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """One hit: original words, where they stand, and why they were found.

    Attributes:
        trace_id: The trace it is, or (at turn granularity) the trace that holds the turn.
        spans: What ``text`` was rendered from; each is byte-identical to its turn.
        quotes: The words of each span, aligned with ``spans``.
        text: The spans rendered for reading: speaker, date, words.
        timestamp: Of the first span's turn.
        score: In ``default`` the probability, in (0, 1), that the hit holds words which answer the question, see
            ``SearchResult.calibrated``. In ``hero`` its share of PageRank's mass; with a reranker the reranker's. Of a
            note or an episode what its layer ranks by.
        signals: What each signal contributed to what hits are ranked by, which is their sum.
        paths: With ``explain``: the ways from the question's words to this hit, strongest first.
        episode_id: Of a whole episode; its ``trace_id`` is that of its best trace.
    """

    trace_id: str
    turn_ids: tuple[str, ...]
    spans: tuple[Span, ...]
    quotes: tuple[str, ...]
    session_id: str
    speakers: tuple[str, ...]
    timestamp: datetime | None
    text: str
    score: float
    signals: Mapping[str, float]
    paths: tuple[tuple[Step, ...], ...] = ()
    episode_id: str | None = None


@dataclass(frozen=True, slots=True)
class FoundNote:
    """A note that a search found, and its score, comparable within one search."""

    note: Note
    score: float


@dataclass(frozen=True, slots=True)
class Reason:
    """Words of the dialogue that say why: a sentence, byte for byte, and who said it when."""

    span: Span
    text: str
    speaker: str
    at: datetime | None


@dataclass(frozen=True, slots=True)
class EvolutionStep:
    """One note of a chain.

    Attributes:
        note: As it counted or counts; its validity says from when to when it held.
        change: Whether with it something ``began``, or ``changed``, or was put right (``corrected``), or more was said
            of the same (``extended``).
        replaces: The ids of the notes that it took the place of.
        reasons: Why, as far as the words beside it say so.
    """

    note: Note
    change: Literal["began", "changed", "corrected", "extended"]
    replaces: tuple[str, ...]
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Evolution:
    """How what is known about a topic has changed: every note that ever counted, in the order of what it tells of."""

    topic: str
    steps: tuple[EvolutionStep, ...]


@dataclass(frozen=True, slots=True)
class Sufficiency:
    """Whether what a layer gave answers the question: HiMem's self-evaluation.

    Attributes:
        by: The model's name, or ``relevance`` for the calibrated one.
    """

    layer: Literal["notes", "episodes"]
    sufficient: bool
    by: str


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits of one search, best first.

    Attributes:
        relevance: In [0, 1]: how sure it is that the memory answers the question at all, by its topic and by who said
            what was found; comparable between searches.
        nothing_relevant: True when nothing is about the topic, or what is was said by somebody else than the one whom
            the question names.
        took_ms: Wall time of the search, in milliseconds, without loading the model and the index before it.
        warnings: What the search had to do without (no vectors, a failing reranker), if anything.
        reranker: Who put the hits in their last order; None where nobody did (methods.md R6).
        calibrated: Whether the scores are probabilities that were measured: of ``default`` as it ships, with the
            embedder that mnemic brings. With another embedder, or other weights, they are in the same unit, unmeasured.
        notes: What the mode found in Note Memory, best first; none in the modes that do not look there. ``results``
            are then the words that these notes rest on, and what else was found.
        sufficiency: How each layer was judged, in order; only of ``best_effort``.
        operations: The ids of what self-evolution changed, if it did.
    """

    results: tuple[Evidence, ...]
    relevance: float
    nothing_relevant: bool
    took_ms: float
    warnings: tuple[str, ...] = ()
    reranker: str | None = None
    notes: tuple[FoundNote, ...] = ()
    sufficiency: tuple[Sufficiency, ...] = ()
    operations: tuple[str, ...] = ()
    calibrated: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer from memory, with its sources.

    Attributes:
        text: None where memory does not contain it, or where the model failed.
        sources: The evidence that the answer rests on, in the order of its rank.
        evidence: All that the model was shown, best first; the sources are among it.
        model: Who answered.
        failure: Why there is no answer, or what was wrong with the reply: ``refused``, ``truncated``, ``empty``,
            ``wrong_shape``, ``prose`` (an answer without sources); None where nothing was.
        tokens_in, tokens_out: Of the call that answered.
        warnings: What had to be done without.
    """

    text: str | None
    sources: tuple[Evidence, ...]
    evidence: tuple[Evidence, ...]
    model: str
    failure: str | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    warnings: tuple[str, ...] = ()
