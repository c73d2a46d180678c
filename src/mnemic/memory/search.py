"""One search: from a checked request to evidence."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Collection, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from mnemic import retrieve
from mnemic.algo import abstain
from mnemic.algo.filters import compile_filter
from mnemic.config import Configuration, Fusion, Hero
from mnemic.errors import InvalidQuery, ModelError
from mnemic.memory import past, reranking
from mnemic.memory.agreement import serving
from mnemic.memory.asked_models import question_cues
from mnemic.memory.turn_reader import TurnReader
from mnemic.models import registry
from mnemic.models.checked import Loading
from mnemic.telemetry import span
from mnemic.types import Evidence, Granularity, Json, Mode, Scope, SearchResult, Thresholds

if TYPE_CHECKING:
    from mnemic.algo.graph import Graph, Mask
    from mnemic.index import Indexes
    from mnemic.models.purposes import LanguageModels
    from mnemic.protocols import CueExtractor, Embedder, EmbedderRecord, Reranker, Store

Cues = tuple["CueExtractor", tuple[str, ...]]
"""Who finds a question's cues, and what that had to do without."""

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
    mode: Mode = "graph"
    keep_notes: bool = False
    evolve: bool = False
    as_of: datetime | None = None
    known_at: datetime | None = None

    @property
    def is_past(self) -> bool:
        """Whether it is about what held, or was known, at another time."""
        return self.as_of is not None or self.known_at is not None


@dataclass(frozen=True, slots=True)
class Look:
    """A question in a user's index, valid while that is held.

    Attributes:
        question: As understood.
        ranking: What the graph says.
        thresholds: Of the vectors that there are.
        began: When, by ``time.perf_counter``.
        warnings: What had to be done without.
        is_fitted: Whether there are vectors, of the embedder for which ``algo.usefulness`` was fitted.
    """

    question: retrieve.Question
    ranking: retrieve.Ranking
    thresholds: Thresholds
    began: float
    warnings: tuple[str, ...]
    is_fitted: bool

    @property
    def graph(self) -> Graph:
        """The index."""
        return self.ranking.matched.graph

    @property
    def topic(self) -> float:
        """In [0, 1]: whether anything that passes is about what the question is about."""
        least = abstain.floor(self.thresholds.relevance, int(self.ranking.matched.candidates.units.sum()))
        return abstain.on_topic(self.ranking.cosine, self.ranking.coverage, least)

    @property
    def speaker(self) -> float:
        """In [0, 1]: that the answer is the named speaker's own."""
        return abstain.by_whom(self.ranking.standing)


class Searcher:
    """Answers requests over the users' indexes.

    Args:
        store: Where the rows are.
        indexes: Of the same store.
        embedder: None for lexical retrieval only.
        extractor: Finds the cues of questions.
        way_out: What gives vectors to what has none yet, for a warning.
        models: Find the cues of questions where a configuration says so.
    """

    def __init__(
        self,
        store: Store,
        indexes: Indexes,
        embedder: Embedder | None,
        extractor: CueExtractor,
        way_out: str,
        models: LanguageModels,
    ) -> None:
        self._store = store
        self._indexes = indexes
        self._embedder = embedder
        self._extractor = extractor
        self._way_out = way_out
        self._models = models

    def search(self, request: Request) -> SearchResult:
        """Search; ``took_ms`` leaves out loading the embedder and bringing the index up to date.

        Raises:
            InvalidQuery, InvalidFilter: Names the argument.
        """
        config = checked(request)
        depth = reranking.depth(request.top_k, request.reranker)
        with self.looked(request, config, granularity=request.granularity, limit=depth) as look:
            with span("mnemic.search.read"):
                hits = self._evidence(request, config, look.ranking)
            topic, speaker, warnings = look.topic, look.speaker, look.warnings
            fitted = config == Fusion() and look.is_fitted
        reranker = None
        if request.reranker is not None and hits:
            hits, failures = _reranked(request.query, hits, request.reranker)
            warnings += failures
            reranker = None if failures else request.reranker.name
        hits = [hit for hit in hits if request.threshold is None or hit.score >= request.threshold][: request.top_k]
        topic = topic if hits else 0.0
        took_ms = (time.perf_counter() - look.began) * 1000
        return SearchResult(
            results=tuple(hits),
            relevance=topic * speaker,
            nothing_relevant=abstain.nothing(topic, speaker),
            took_ms=took_ms,
            warnings=warnings,
            reranker=reranker,
            calibrated=fitted and reranker is None,
        )

    @contextmanager
    def looked(
        self,
        request: Request,
        config: Configuration,
        *,
        granularity: Granularity,
        limit: int,
        cues: Cues | None = None,
        counting: Collection[tuple[str, int]] | None = None,
    ) -> Generator[Look]:
        """Look a question up in the user's graph, and hold that for the duration of the block.

        The embedder is loaded and the index brought up to date before the look begins.

        Args:
            request: What is asked.
            config: How.
            granularity: What is ranked.
            limit: How many of the best.
            cues: From ``cues_of``, where the same question was looked up before.
            counting: The versions of notes that count; else those of the time that is asked about.
        """
        self._load()
        # Before the index is held: other searches of the user need not wait for a model.
        extractor, unfound = cues or self.cues_of(request, config)
        counting = self._counting(request) if counting is None else counting
        with self._indexes.graph(request.scope.user_id, counting) as (graph, record):
            began = time.perf_counter()
            with span("mnemic.search.understand"):
                question, warnings = self._understand(request, graph, config, record, extractor)
            thresholds = record.thresholds if record and np.any(question.vector) else _NO_VECTORS
            ranking = retrieve.rank(
                question,
                graph,
                config,
                passing=_passing(request, graph),
                granularity=granularity,
                limit=limit,
                thresholds=thresholds,
            )
            fitted = bool(np.any(question.vector)) and record is not None and registry.is_fitted(record.fingerprint)
            yield Look(question, ranking, thresholds, began, (*unfound, *warnings), fitted)

    def _counting(self, request: Request) -> set[tuple[str, int]] | None:
        """The versions of notes that count for a question about another time; None for one about now."""
        if not request.is_past:
            return None
        found = past.notes(self._store, request.scope.user_id, request.as_of, request.known_at)
        return {(note.note_id, note.version) for note in found}

    def cues_of(self, request: Request, config: Configuration) -> Cues:
        """Who finds the question's cues: a model, asked now, where the configuration wants that and it can."""
        if config.query_cues == "rules":
            return self._extractor, ()
        found, warnings = question_cues(request.query, self._models.of("cues", request.scope.user_id))
        return found or self._extractor, warnings

    def _load(self) -> None:
        """Load the embedder; where that fails, so will embedding, which says so."""
        if isinstance(self._embedder, Loading):
            with suppress(ModelError):
                self._embedder.load()

    def _understand(
        self,
        request: Request,
        graph: Graph,
        config: Configuration,
        record: EmbedderRecord | None,
        extractor: CueExtractor,
    ) -> tuple[retrieve.Question, tuple[str, ...]]:
        """The question; by words alone, and with a warning, where the embedder fails or is not the vectors'."""
        embedder, unserved = serving(self._embedder, record)
        if unserved:
            return _question(request, graph, config, None, extractor), (f"searched by words alone: {unserved[0]}",)
        try:
            return _question(request, graph, config, embedder, extractor), self._waiting(request, graph, embedder)
        except ModelError as error:
            return _question(request, graph, config, None, extractor), (f"searched by words alone: {error}",)

    def _waiting(self, request: Request, graph: Graph, embedder: Embedder | None) -> tuple[str, ...]:
        """A warning where something waits for its vectors, and this embedder makes them."""
        if embedder is None or graph.is_complete:
            return ()
        waiting = self._store.pending(request.scope.user_id)
        if not waiting:
            return ()
        return (f"turns found by their words alone: {waiting}; the next add changes that, or: {self._way_out}",)

    def _evidence(self, request: Request, config: Configuration, ranking: retrieve.Ranking) -> list[Evidence]:
        graph = ranking.matched.graph
        allowed = ranking.matched.candidates.turns
        order: list[int] = ranking.order.tolist()
        scores: list[float] = retrieve.useful(ranking, config, request.granularity).tolist()
        found = [(slot, retrieve.spans_of(graph, slot, request.granularity, allowed)) for slot in order]
        reader = TurnReader(self._store, request.scope.user_id)
        reader.read([span.turn_id for _, spans in found for _, span in spans])
        hits: list[Evidence] = []
        for (slot, owned), score in zip(found, scores, strict=True):
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
                    passing=allowed,
                    score=score,
                    signals={name: float(values[slot]) for name, values in ranking.contributions.items()},
                    paths=retrieve.paths(ranking.matched, trace, reader.words) if request.explain else (),
                )
            )
        return hits


def _question(
    request: Request, graph: Graph, config: Configuration, embedder: Embedder | None, extractor: CueExtractor
) -> retrieve.Question:
    return retrieve.understand(
        request.query, graph, config, embedder=embedder, extractor=extractor, reference=request.reference
    )


def checked(request: Request) -> Configuration:
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
    passing = ~graph.turn_held
    if request.known_at is not None:
        passing &= graph.turn_known <= request.known_at.timestamp()
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
    scores, failures = reranking.scored(query, [hit.text for hit in hits], reranker)
    if scores is None:
        return hits, failures
    return [replace(hits[i], score=scores[i], signals={reranker.name: scores[i]}) for i in reranking.order(scores)], ()
