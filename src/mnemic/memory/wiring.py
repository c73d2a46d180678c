"""The only place that wires store, index, models and algorithms together."""

from __future__ import annotations

import importlib
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Self

from mnemic.algo.moments import parse_time, zone
from mnemic.config import Budgets, Enriching
from mnemic.errors import InvalidInput, LanguageModelUnavailable, ModelError
from mnemic.index import Indexes, Snapshots
from mnemic.memory.agreement import way_out
from mnemic.memory.asked_models import ModelReranker
from mnemic.memory.backlog import Backlog
from mnemic.memory.enriching import Enricher
from mnemic.memory.modes import Modes
from mnemic.memory.opening import enriching, kept_indexes, opened
from mnemic.memory.search import Searcher
from mnemic.memory.working import Workers
from mnemic.memory.writing import Writer
from mnemic.models import registry
from mnemic.models.prices import Price
from mnemic.models.purposes import Given, LanguageModels
from mnemic.protocols import CueExtractor, Embedder, Reranker, ServiceRows, Store
from mnemic.store import shown_name

_SEARCHING: Final = ("scipy.sparse", "scipy.linalg")
"""Imported where they are first used: 0.4 s, which adding does not need."""

Time = datetime | str | float | int | None


def utc_now() -> datetime:
    """Now."""
    return datetime.now(UTC)


class Wired:
    """A memory's parts, wired and opened; what it does with them is in ``Writes``, ``Reads`` and ``Thinks``."""

    def __init__(
        self,
        store: Store,
        *,
        embedder: Embedder | None,
        cue_extractor: CueExtractor,
        timezone: str = "UTC",
        index_bytes: int = 1 << 30,
        clock: Callable[[], datetime] = utc_now,
        make_id: Callable[[], str] = lambda: uuid.uuid4().hex,
        warnings: Sequence[str] = (),
        database: str | Path | None = None,
        models: LanguageModels | None = None,
        enrichment: Enriching | None = None,
        workers: int = 0,
        snapshots: Snapshots | None = None,
    ) -> None:
        """Wire a memory from its parts; ``open`` is the usual way.

        Args:
            store: Where the rows are; closed with the memory.
            embedder: The one whose vectors the store holds; None for lexical retrieval only.
            cue_extractor: Finds the cues of turns and questions.
            timezone: Of timestamps that come without one.
            index_bytes: Bound on the indexes held in memory.
            clock: Says when now is, aware.
            make_id: Makes ids for messages that have none.
            warnings: Repeated in every search result.
            database: The store's name, without a password, for the commands that messages name.
            models: The language models, over the same store's ledger; None for none.
            enrichment: What they do with what is added.
            workers: Threads that see to it.
            snapshots: Where large indexes are kept for the next process; None keeps none.
        """
        self._store = store
        self._extractor = cue_extractor
        self._timezone = timezone
        self._clock = clock
        self._make_id = make_id
        self._warnings = tuple(warnings)
        self._database = database
        self._models = models or LanguageModels(None, store, clock=clock)
        self._indexes = Indexes(store, max_bytes=index_bytes, snapshots=snapshots)
        self._enricher = Enricher(
            store,
            self._models,
            enrichment or Enriching(),
            indexes=self._indexes,
            extractor=cue_extractor,
            writer=lambda: self._writer,
            clock=clock,
            make_id=make_id,
        )
        backlog = Backlog(store, lambda: self._writer.embedder, clock=clock, make_id=make_id)
        self._workers = Workers(self._enricher, backlog, store, threads=workers)
        self._use(embedder)

    @classmethod
    def open(
        cls,
        database: str | Path = "memory.db",
        *,
        embedder: Embedder | str | None = "local",
        cue_extractor: CueExtractor | str = "rules",
        timezone: str = "UTC",
        index_bytes: int = 1 << 30,
        model: Given = None,
        budgets: Budgets | None = None,
        prices: Mapping[str, Price] | None = None,
        enrichment: Enriching | str = "default",
        workers: int = 3,
        snapshots: str | Path | None = "beside",
        snapshot_bytes: int = 4 << 30,
    ) -> Self:
        """Open a database, creating it where there is none.

        Args:
            database: A file, or ``postgresql://user:password@host:port/database?schema=name`` (extra ``postgres``).
            embedder: ``local`` is the embedded one (without its files memory is lexical only, and says so); None
                for lexical retrieval only; else a name as in ``models.registry``, or an embedder.
            cue_extractor: ``rules``, ``spacy``, or an extractor.
            timezone: IANA name or offset, for timestamps that come without one.
            index_bytes: Bound on the indexes held in memory.
            model: A language model, by name as in docs/models.md or itself, or a mapping of purposes to models (``""``
                for all others). Without one nothing leaves this machine, and local rules do what they can.
            budgets: What the models may spend.
            prices: Of a million tokens, under the same names as in ``model``.
            enrichment: ``default``, ``himem``, ``hero``, or an ``Enriching``: what the models do with what is added.
            workers: Threads of this process that have the models do it; 0 leaves it, and the vectors of what was added
                with ``embed="later"``, to ``mnemic worker``.
            snapshots: Where the indexes of users with 1000 turns or more are kept on disk, so that a new process
                answers them at once: ``beside`` a file, in a folder of its name with ``-index`` behind (PostgreSQL has
                none), or a folder, which every process that erases should be given; None for none. They are made of the
                rows, may be deleted at any time, and hold words: an erasure removes the user's.
            snapshot_bytes: Bound on these files together.

        Raises:
            InvalidInput: No embedder, extractor, model or timezone is called so.
            EmbedderMismatch: The database holds another embedder's vectors. (Another extractor's cues are a warning.)
            StoreError: The database cannot be opened; the subclass and message say why.
        """
        zone(timezone)
        settings = enriching(enrichment)
        kept = kept_indexes(database, snapshots, snapshot_bytes)
        parts = opened(database, embedder, cue_extractor)
        try:
            models = LanguageModels(model, parts.store, clock=utc_now, budgets=budgets, prices=prices)
        except BaseException:
            parts.store.close()
            raise
        memory = cls(
            parts.store,
            embedder=parts.embedder,
            cue_extractor=parts.extractor,
            timezone=timezone,
            index_bytes=index_bytes,
            warnings=parts.warnings,
            database=shown_name(database),
            models=models,
            enrichment=settings,
            workers=workers,
            snapshots=kept,
        )
        memory._workers.start()  # another process may have left work
        return memory

    def warm(self) -> None:
        """Load now what a first search would wait for; an embedder that fails is told by the search."""
        for library in _SEARCHING:
            importlib.import_module(library)
        embedder = self._writer.embedder
        if embedder is not None:
            with suppress(ModelError):
                embedder.embed(["Is anybody there?"], kind="query")

    def close(self) -> None:
        """Release the database, and leave work under way to others; twice is allowed."""
        self._workers.close()
        self._indexes.close()
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _use(self, embedder: Embedder | None) -> None:
        kinds = self._enricher.kinds
        self._writer = Writer(self._store, embedder, self._extractor, self._clock, self._warnings, kinds)
        way = "" if embedder is None else way_out(self._database, embedder.name)
        searcher = Searcher(self._store, self._indexes, embedder, self._extractor, way, self._models)
        self._modes = Modes(self._store, searcher, self._models, self._enricher.learn)

    def _reranker(self, given: Reranker | str | None, user_id: str) -> Reranker | None:
        """The reranker that is meant. Raises LanguageModelUnavailable where it is a model and there is none."""
        if given != "model":
            return registry.reranker(given)
        model = self._models.of("rerank", user_id)
        if model is None:
            raise LanguageModelUnavailable(
                "no language model is set to rerank: give one to Memory.open(model=…) (docs/models.md)"
            )
        return ModelReranker(model)

    def _time(self, value: Time, what: str) -> datetime | None:
        try:
            return parse_time(value, self._timezone)
        except InvalidInput as error:
            raise InvalidInput(f"{what}: {error}") from error


def service_rows(memory: Wired) -> ServiceRows:
    """What a server keeps in a memory's database: API keys, and replies. No part of the public interface."""
    return memory._store  # pyright: ignore[reportPrivateUsage] - of this module
