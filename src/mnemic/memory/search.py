"""One search: from a checked request to evidence."""

from __future__ import annotations

import math
import time
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from mnemic import retrieve
from mnemic.algo import abstain
from mnemic.algo.filters import compile_filter
from mnemic.config import Configuration, Fusion, Hero
from mnemic.errors import InvalidQuery, ModelError, RerankingFailed
from mnemic.memory.agreement import serving
from mnemic.models.checked import Loading
from mnemic.types import Evidence, Granularity, Json, Scope, SearchResult, Span, Thresholds, Turn

if TYPE_CHECKING:
    from mnemic.algo.graph import Graph, Mask
    from mnemic.index import Indexes
    from mnemic.protocols import CueExtractor, Embedder, EmbedderRecord, Reranker, Store

_CONFIGURATIONS: dict[str, Configuration] = {"default": Fusion(), "hero": Hero()}
_NO_VECTORS = Thresholds(tau_init=0.99, tau_alias=2.0, tau_iter=2.0, relevance=2.0)
"""Without vectors: only equal keys are anchors, and only words make something relevant."""


@dataclass(frozen=True, slots=True)
class Request:
    """What ``Memory.search`` was asked, its times parsed and its scope checked."""

    query: str
    scope: Scope
    top_k: int
    threshold: float | None
    filters: Json
    since: datetime | None
    until: datetime | None
    reference: datetime
    granularity: Granularity
    config: str | Configuration
    reranker: Reranker | None
    explain: bool


class Searcher:
    """Answers requests over the users' indexes.

    Args:
        store: Where the rows are.
        indexes: Of the same store.
        embedder: None for lexical retrieval only.
        extractor: Finds the cues of questions.
        way_out: What gives vectors to what has none yet, for a warning.
    """

    def __init__(
        self, store: Store, indexes: Indexes, embedder: Embedder | None, extractor: CueExtractor, way_out: str
    ) -> None:
        self._store = store
        self._indexes = indexes
        self._embedder = embedder
        self._extractor = extractor
        self._way_out = way_out

    def search(self, request: Request) -> SearchResult:
        """Search; ``took_ms`` leaves out loading the embedder and bringing the index up to date.

        Raises:
            InvalidQuery, InvalidFilter: Names the argument.
        """
        config = _checked(request)
        self._load()
        with self._indexes.graph(request.scope.user_id) as (graph, record):
            started = time.perf_counter()
            question, warnings = self._understand(request, graph, config, record)
            passing = _passing(request, graph)
            has_vectors = bool(np.any(question.vector))
            thresholds = record.thresholds if record and has_vectors else _NO_VECTORS
            depth = request.top_k if request.reranker is None else max(3 * request.top_k, 30)
            ranking = retrieve.rank(
                question,
                graph,
                config,
                passing=passing,
                granularity=request.granularity,
                limit=depth,
                thresholds=thresholds,
            )
            hits = self._evidence(request, graph, ranking)
        reranker = None
        if request.reranker is not None and hits:
            hits, failures = _reranked(request.query, hits, request.reranker)
            warnings += failures
            reranker = None if failures else request.reranker.name
        hits = [hit for hit in hits if request.threshold is None or hit.score >= request.threshold][: request.top_k]
        least = abstain.floor(thresholds.relevance, int(ranking.matched.candidates.units.sum()))
        topic = abstain.on_topic(ranking.cosine, ranking.coverage, least) if hits else 0.0
        speaker = abstain.by_whom(ranking.standing)
        took_ms = (time.perf_counter() - started) * 1000
        return SearchResult(
            results=tuple(hits),
            relevance=topic * speaker,
            nothing_relevant=abstain.nothing(topic, speaker),
            took_ms=took_ms,
            warnings=warnings,
            reranker=reranker,
        )

    def _load(self) -> None:
        """Load the embedder; where that fails, so will embedding, which says so."""
        if isinstance(self._embedder, Loading):
            with suppress(ModelError):
                self._embedder.load()

    def _understand(
        self, request: Request, graph: Graph, config: Configuration, record: EmbedderRecord | None
    ) -> tuple[retrieve.Question, tuple[str, ...]]:
        """The question; by words alone, and with a warning, where the embedder fails or is not the vectors'."""
        embedder, unserved = serving(self._embedder, record)
        if unserved:
            return self._question(request, graph, config, None), (f"searched by words alone: {unserved[0]}",)
        try:
            return self._question(request, graph, config, embedder), self._waiting(request, graph, embedder)
        except ModelError as error:
            return self._question(request, graph, config, None), (f"searched by words alone: {error}",)

    def _waiting(self, request: Request, graph: Graph, embedder: Embedder | None) -> tuple[str, ...]:
        """A warning where something waits for its vectors, and this embedder makes them."""
        if embedder is None or graph.is_complete:
            return ()
        waiting = self._store.pending(request.scope.user_id)
        if not waiting:
            return ()
        return (f"turns found by their words alone: {waiting}; the next add changes that, or: {self._way_out}",)

    def _question(
        self, request: Request, graph: Graph, config: Configuration, embedder: Embedder | None
    ) -> retrieve.Question:
        return retrieve.understand(
            request.query,
            graph,
            config,
            embedder=embedder,
            extractor=self._extractor,
            reference=request.reference,
        )

    def _evidence(self, request: Request, graph: Graph, ranking: retrieve.Ranking) -> list[Evidence]:
        allowed = ranking.matched.candidates.turns
        found = [
            (int(slot), retrieve.spans_of(graph, int(slot), request.granularity, allowed)) for slot in ranking.order
        ]
        reader = _Reader(self._store, request.scope.user_id)
        reader.read([span.turn_id for _, spans in found for _, span in spans])
        hits: list[Evidence] = []
        for slot, owned in found:
            # Somebody may have erased a turn since the index was brought up to date.
            spans = [(trace, span) for trace, span in owned if span.turn_id in reader.turns]
            if not spans:
                continue
            trace = spans[0][0]
            hits.append(
                retrieve.evidence(
                    graph,
                    trace,
                    [span for _, span in spans],
                    reader.turns,
                    score=float(ranking.scores[slot]),
                    signals={name: float(values[slot]) for name, values in ranking.contributions.items()},
                    paths=retrieve.paths(ranking.matched, trace, reader.words) if request.explain else (),
                )
            )
        return hits


class _Reader:
    """Reads turns of one user, each once."""

    def __init__(self, store: Store, user_id: str) -> None:
        self._store = store
        self._user_id = user_id
        self.turns: dict[str, Turn] = {}

    def read(self, turn_ids: Sequence[str]) -> None:
        missing = [turn_id for turn_id in dict.fromkeys(turn_ids) if turn_id not in self.turns]
        if missing:
            self.turns.update((turn.turn_id, turn) for turn in self._store.turns(self._user_id, turn_ids=missing))

    def words(self, span: Span) -> str:
        self.read([span.turn_id])
        turn = self.turns.get(span.turn_id)
        return turn.text[span.start : span.end] if turn else ""


def _checked(request: Request) -> Configuration:
    """The configuration, after checking the rest of the request."""
    if not isinstance(request.query, str):  # pyright: ignore[reportUnnecessaryIsInstance] - callers without types
        raise InvalidQuery(f"query must be a string, not {type(request.query).__name__}")
    if not any(unicodedata.category(character)[0] in "LNSPM" for character in request.query):
        raise InvalidQuery("query is blank; ask in plain words")
    check_count(request.top_k, "top_k")
    _check_threshold(request.threshold)
    if request.granularity not in ("trace", "turn"):
        raise InvalidQuery(f"granularity is 'trace' or 'turn', not {request.granularity!r}")
    config = _CONFIGURATIONS.get(request.config) if isinstance(request.config, str) else request.config
    if not isinstance(config, Configuration):
        raise InvalidQuery(f"config is {', '.join(_CONFIGURATIONS)}, a Fusion or a Hero, not {request.config!r}")
    return config


def check_count(value: object, what: str) -> None:
    """Raises InvalidQuery unless the value is a whole number of at least 1."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InvalidQuery(f"{what} must be a whole number of at least 1, not {value!r}")


def _check_threshold(value: object) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is not None and (not is_number or value != value):
        raise InvalidQuery(f"threshold must be a number or None, not {value!r}")


def _passing(request: Request, graph: Graph) -> Mask:
    """(turns,) what passes every filter."""
    scope = request.scope
    passing = np.ones(len(graph.turn_ids), np.bool_)
    if scope.session_id is not None:
        passing &= np.fromiter((session == scope.session_id for session in graph.turn_session), np.bool_, len(passing))
    if scope.agent_id is not None:
        passing &= np.fromiter((agent == scope.agent_id for agent in graph.turn_agent), np.bool_, len(passing))
    # A comparison with NaN, an unknown time, is False.
    if request.since is not None:
        passing &= graph.turn_time >= request.since.timestamp()
    if request.until is not None:
        passing &= graph.turn_time < request.until.timestamp()
    if request.filters != {}:
        meets = compile_filter(request.filters)
        passing &= np.fromiter((meets(metadata) for metadata in graph.turn_metadata), np.bool_, len(passing))
    return passing


def _reranked(query: str, hits: list[Evidence], reranker: Reranker) -> tuple[list[Evidence], tuple[str, ...]]:
    """The hits in the reranker's order and with its scores; as they were, and a warning, where it fails."""
    try:
        scores = [float(score) for score in reranker.score(query, [hit.text for hit in hits])]
    except Exception as error:  # noqa: BLE001 - anybody's code; without it the search is still right
        return hits, (f"not reranked: {error if isinstance(error, RerankingFailed) else repr(error)}",)
    if len(scores) != len(hits) or not all(map(math.isfinite, scores)):
        return hits, (f"not reranked: {reranker.name} gave no finite score for each of {len(hits)} texts",)
    order = sorted(range(len(hits)), key=lambda i: -scores[i])
    return [replace(hits[i], score=scores[i], signals={reranker.name: scores[i]}) for i in order], ()
