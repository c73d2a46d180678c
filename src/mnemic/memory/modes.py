"""Searching in another mode than the graph: notes, episodes, both, or notes first and episodes where they fall short.

HiMem's retrieval modes and self-evolution: methods.md 2.7 and 2.8.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, get_args

import numpy as np

from mnemic.algo import abstain, reciprocal
from mnemic.algo.activation import minmax
from mnemic.config import Configuration
from mnemic.errors import InvalidQuery
from mnemic.memory import evolution, reranking
from mnemic.memory.evolving import Reconcile, evolved
from mnemic.memory.layers import Item, Layer, Layers
from mnemic.memory.search import Request, Searcher, checked
from mnemic.memory.sufficiency import judged
from mnemic.types import Evidence, Evolution, FoundNote, Mode, SearchResult, Span, Sufficiency

if TYPE_CHECKING:
    from mnemic.models.purposes import LanguageModels
    from mnemic.protocols import Store

HIMEM: Final = "himem"
"""The configuration of HiMem's authors; it has no graph."""
_MODES: Final = get_args(Mode)


@dataclass(frozen=True, slots=True)
class _Gone:
    """How a search went.

    Attributes:
        items: Those to show, in their order.
        topic, speaker: As of the layers that are shown.
        began: Of the first one.
    """

    items: tuple[Item, ...]
    topic: float
    speaker: float
    began: float
    warnings: tuple[str, ...] = ()
    reranker: str | None = None
    sufficiency: tuple[Sufficiency, ...] = ()
    operations: tuple[str, ...] = ()


class Modes:
    """Answers requests in any mode.

    Args:
        store: Where the rows are.
        searcher: Over the same store's indexes.
        models: Judge and learn, where there are any.
        reconcile: What self-evolution hands new notes to.
    """

    def __init__(self, store: Store, searcher: Searcher, models: LanguageModels, reconcile: Reconcile) -> None:
        self._store = store
        self._searcher = searcher
        self._layers = Layers(store)
        self._models = models
        self._reconcile = reconcile

    def search(self, request: Request) -> SearchResult:
        """Search in the mode that is asked for.

        Raises:
            InvalidQuery, InvalidFilter: Names the argument.
        """
        _check_mode(request)
        if request.mode == "graph":
            return self._searcher.search(request)
        gone = self._best_effort(request) if request.mode == "best_effort" else self._layered(request)
        shown = tuple(_distinct(gone.items))
        topic = gone.topic if gone.items else 0.0
        return SearchResult(
            results=shown,
            relevance=topic * gone.speaker,
            nothing_relevant=abstain.nothing(topic, gone.speaker),
            took_ms=(time.perf_counter() - gone.began) * 1000,
            warnings=gone.warnings,
            reranker=gone.reranker,
            notes=tuple(FoundNote(item.note, item.score) for item in gone.items if item.note is not None),
            sufficiency=gone.sufficiency,
            operations=gone.operations,
        )

    def evolution(self, request: Request, about: str | None) -> Evolution:
        """How what is known about a topic has changed. Raises InvalidQuery."""
        return evolution.evolution(self._store, self._searcher, request, checked(request), about=about)

    def _layered(self, request: Request) -> _Gone:
        """One layer, or both with top_k each, of which top_k stay."""
        himem, config = _configured(request)
        depth = reranking.depth(request.top_k, request.reranker)
        both = request.mode == "hybrid"
        limit = request.top_k if both else depth
        found: list[Layer] = []
        with self._searcher.looked(request, config, granularity="turn", limit=limit) as look:
            if request.mode != "episodes":
                found.append(self._layers.notes(look, request, himem=himem, limit=limit))
            if request.mode != "notes":
                found.append(self._layers.episodes(look, request, himem=himem, limit=limit))
            topic = max(layer.topic for layer in found)
            gone = _Gone((), topic, look.speaker, look.began, look.warnings)
        items, failures, reranker = _ordered(request, found, scale=both)
        return replace(gone, items=_kept(request, items), warnings=gone.warnings + failures, reranker=reranker)

    def _best_effort(self, request: Request) -> _Gone:
        """Notes; where they do not suffice, episodes, and what can be learnt from them."""
        himem, config = _configured(request)
        user_id = request.scope.user_id
        model = self._models.of("sufficiency", user_id)
        depth = reranking.depth(request.top_k, request.reranker)
        cues = self._searcher.cues_of(request, config)
        # Nothing is held while a model is asked: other searches of the user would wait for it.
        with self._searcher.looked(request, config, granularity="turn", limit=depth, cues=cues) as look:
            notes = self._layers.notes(look, request, himem=himem, limit=depth)
            gone = _Gone((), notes.topic, look.speaker, look.began, look.warnings)
        notes, gone = _cut(request, notes, gone)
        enough, failures = judged("notes", notes, request.query, model)
        gone = replace(gone, items=notes.items, sufficiency=(enough,), warnings=gone.warnings + failures)
        if enough.sufficient:
            return gone
        with self._searcher.looked(request, config, granularity="turn", limit=depth, cues=cues) as look:
            episodes = self._layers.episodes(look, request, himem=himem, limit=depth)
            topic = max(episodes.topic, notes.topic) if request.keep_notes else episodes.topic
            gone = replace(gone, topic=topic, speaker=look.speaker, warnings=gone.warnings + look.warnings)
        episodes, gone = _cut(request, episodes, gone)
        last, failures = judged("episodes", episodes, request.query, model)
        kept = notes.items if request.keep_notes else ()
        gone = replace(
            gone,
            items=(*kept, *episodes.items),
            sufficiency=(enough, last),
            warnings=tuple(dict.fromkeys(gone.warnings + failures)),
        )
        if not (request.evolve and last.sufficient):
            return gone
        operations, failures = evolved(
            user_id, request.query, episodes, self._models.of("notes", user_id), self._reconcile
        )
        return replace(gone, operations=operations, warnings=gone.warnings + failures)


def _check_mode(request: Request) -> None:
    if request.mode not in _MODES:
        raise InvalidQuery(f"mode is {', '.join(_MODES)}, not {request.mode!r}")
    if request.mode != "best_effort" and (request.keep_notes or request.evolve):
        name = "evolve" if request.evolve else "keep_notes"
        raise InvalidQuery(f"{name} is for mode 'best_effort', not {request.mode!r}")
    if request.evolve and request.is_past:
        raise InvalidQuery("evolve learns from what is known now; leave as_of and known_at out")
    if request.mode == "graph" and request.config == HIMEM:
        raise InvalidQuery("config 'himem' has no graph: give a mode of notes, episodes, hybrid or best_effort")


def _configured(request: Request) -> tuple[bool, Configuration]:
    """Whether it is ``himem``, and the configuration of the graph, which relevance is judged by in any case."""
    himem = request.config == HIMEM
    return himem, checked(replace(request, config="default") if himem else request)


def _cut(request: Request, layer: Layer, gone: _Gone) -> tuple[Layer, _Gone]:
    """The best top_k of a layer, after the reranker if there is one."""
    items, failures, reranker = _ordered(request, [layer], scale=False)
    items = _kept(request, items)
    gone = replace(gone, warnings=gone.warnings + failures, reranker=reranker or gone.reranker)
    return replace(layer, items=items), gone


def _ordered(
    request: Request, found: Sequence[Layer], *, scale: bool
) -> tuple[list[Item], tuple[str, ...], str | None]:
    """The items of all layers in one order, why the reranker did not make it, and who did.

    Several layers without a reranker are fused by rank, for their scores do not compare; of equal rank notes go first.
    """
    pooled = [item for layer in found for item in layer.items]
    failures: tuple[str, ...] = ()
    if request.reranker is not None and pooled:
        scores, failures = reranking.scored(request.query, [item.text for item in pooled], request.reranker)
        if scores is not None:
            name = request.reranker.name
            scores = minmax(np.array(scores)).tolist() if scale else scores
            order = reranking.order(scores)
            return [pooled[i].scored(scores[i], {name: scores[i]}) for i in order], failures, name
    if len(found) < 2:
        return pooled, failures, None
    fused = [
        item.scored(share, {name: share})
        for name, layer in zip(("notes", "episodes"), found, strict=True)
        for item, share in zip(layer.items, _shares(layer), strict=True)
    ]
    return [fused[i] for i in reranking.order([item.score for item in fused])], failures, None


def _shares(layer: Layer) -> list[float]:
    return reciprocal.shares(np.arange(len(layer.items)), len(layer.items)).tolist()


def _kept(request: Request, items: Sequence[Item]) -> tuple[Item, ...]:
    """Those that reach the threshold, top_k at most."""
    least = request.threshold
    return tuple(item for item in items if least is None or item.score >= least)[: request.top_k]


def _distinct(items: Iterable[Item]) -> Iterable[Evidence]:
    """The evidence of all items in their order, without words that an earlier hit shows already."""
    shown: dict[str, list[Span]] = {}
    for item in items:
        for hit in item.hits:
            if item.note is not None and all(_within(span, shown.get(span.turn_id, ())) for span in hit.spans):
                continue
            for span in hit.spans:
                shown.setdefault(span.turn_id, []).append(span)
            yield hit


def _within(span: Span, shown: Sequence[Span]) -> bool:
    return any(one.start <= span.start and span.end <= one.end for one in shown)
