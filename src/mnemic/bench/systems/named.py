"""From the name of a system to the system."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mnemic.bench.cost import TimedEmbedder, TimedExtractor
from mnemic.bench.generated.model import MemoryModel, ModelUse, open_model
from mnemic.bench.generated.reader import Reading
from mnemic.bench.peers.recipes import GENERATING, RECIPES
from mnemic.bench.systems.settings import Value, configured
from mnemic.config import Configuration, Enriching, Fusion, Hero
from mnemic.errors import EmbedderUnavailable, InvalidInput

if TYPE_CHECKING:
    from mnemic.bench.datasets.notes import GivenNotes
    from mnemic.bench.records import System


@dataclass(frozen=True, slots=True)
class Setup:
    """What systems are made with; it can be sent to another process.

    Attributes:
        embedder: Spec of the one embedder that all systems use, as in ``models.registry``.
        settings: Fields of mnemic's configuration to set (``graph`` -> 0.2).
        keep: A folder in which what was ingested stays for the next run.
        model: What those systems may ask whose memory a language model writes; None for nothing.
        notes: Given to mnemic's own systems, and to no other, after the conversations.
    """

    embedder: str = "local"
    settings: Mapping[str, Value] = field(default_factory=dict[str, Value])
    keep: Path | None = None
    model: ModelUse | None = None
    notes: GivenNotes | None = None


@dataclass(frozen=True, slots=True)
class Variant:
    """mnemic under one configuration; ``extractor`` is a spec as in ``models.registry``."""

    what: str
    config: Configuration
    extractor: str = "rules"
    dense: bool = True


@dataclass(frozen=True, slots=True)
class Read:
    """mnemic with a language model, under one reading of methods.md."""

    what: str
    reading: Reading
    config: Configuration | Literal["himem"] = "himem"


OURS: Mapping[str, Variant] = {
    "default": Variant("mnemic as it ships", Fusion()),
    "default-no-graph": Variant("without the graph's signal", Fusion(graph=0.0)),
    "default-no-beside": Variant("without the better trace beside", Fusion(beside=0.0)),
    "default-no-date": Variant("without the dates' signal", Fusion(date=0.0)),
    "default-no-speaker": Variant("without the speakers' signal", Fusion(speaker=0.0)),
    "default-no-lexical": Variant("without BM25", Fusion(lexical=0.0)),
    "default-no-trace": Variant("without the cosine of whole traces", Fusion(trace=0.0)),
    "default-no-unit": Variant("without the cosine of sentences", Fusion(unit=0.0)),
    "default-no-dense": Variant("without an embedder: by words, dates and the graph alone", Fusion(), dense=False),
    "hero": Variant("the paper's method, literally", Hero()),
    "hero-no-profile": Variant("without notes", Hero(profile=False)),
    "hero-no-expansion": Variant("without iterative expansion of cues", Hero(rounds=0)),
    "hero-no-ppr": Variant("ranked by activation alone", Hero(ppr=False)),
    "hero-directed": Variant("edges from cue to trace and to the next trace only", Hero(directed=True)),
    "hero-paper": Variant(
        "with the paper's thresholds and spaCy's cues",
        Hero(tau_init=0.4, tau_iter=0.4, tau_alias=0.8, alpha=1.0, rounds=2, follow=0.5, names="keep"),
        extractor="spacy",
    ),
}
_ALIKE = Enriching(check_facts=False)
"""HiMem's, but for what an ablation changes."""
_HYBRID = Reading("himem", "hybrid", most=10)
READ: Mapping[str, Read] = {
    "hero-model": Read(
        "HERO with notes and cues of each trace by a language model, in one call",
        Reading("hero"),
        Hero(query_cues="model"),
    ),
    "himem": Read("HiMem: notes and episodes in parallel, 10 in all", _HYBRID),
    "himem-best-effort": Read(
        "HiMem: notes, or episodes where a model finds that they fall short", replace(_HYBRID, mode="best_effort")
    ),
    "himem-evolution": Read(
        "the same, and notes are made of what only episodes knew", replace(_HYBRID, mode="best_effort", evolve=True)
    ),
    "himem-no-episodes": Read("HiMem: notes alone", replace(_HYBRID, mode="notes")),
    "himem-no-notes": Read("HiMem: episodes alone", replace(_HYBRID, mode="episodes")),
    "himem-no-alignment": Read(
        "HiMem: neither notes nor topics aligned",
        replace(_HYBRID, enriching=replace(_ALIKE, align=False, align_topics=False)),
    ),
    "himem-note-alignment": Read(
        "HiMem: notes aligned, topics not", replace(_HYBRID, enriching=replace(_ALIKE, align_topics=False))
    ),
    "himem-episode-alignment": Read(
        "HiMem: topics aligned, notes not", replace(_HYBRID, enriching=replace(_ALIKE, align=False))
    ),
    "himem-coarse": Read("HiMem: sessions cut coarsely", replace(_HYBRID, enriching=replace(_ALIKE, cut="coarse"))),
    "himem-topic-only": Read(
        "HiMem: sessions cut by topic, not by surprise", replace(_HYBRID, enriching=replace(_ALIKE, cut="topic"))
    ),
}
"""mnemic with a language model that reads what is added."""
_OTHERS: Mapping[str, str] = {
    "bm25": "BM25 of bm25s, with its stop words and Snowball's stemmer",
    "dense": "cosine of the same embedder, as plain vector stores rank",
    "dense-nameless": "the same, asked without the participants' names, as mnemic asks its embedder",
    "rrf": "reciprocal rank fusion of bm25 and dense",
    "full-context": "everything, in order (for answers)",
    "no-memory": "nothing (for answers)",
}
PEERS: Mapping[str, str] = {
    name: f"{recipe.pins[0]}, installed in an environment of its own when first asked for"
    for name, recipe in {**RECIPES, **GENERATING}.items()
}
ASKING: Mapping[str, str] = {
    **{name: f"{read.what}: needs --model" for name, read in READ.items()},
    "a-mem": "A-MEM-style notes, one a turn: needs --model",
    "secom": "SeCom-style segments of sessions: needs --model",
    **{name: f"{PEERS[name]}; writes memories: needs --model" for name in GENERATING},
}
"""Those whose memory a language model writes. They ask where they are named and a model is given."""
NAMES: tuple[str, ...] = (*OURS, *_OTHERS, *RECIPES, *ASKING)
_NOTES = "+notes:"
ANSWERS_ONLY = ("full-context", "no-memory")
"""Their recall says nothing."""


def describe(name: str) -> str:
    """What a system is, in a few words.

    Args:
        name: One of ``NAMES``, or as ``labelled`` makes of it.

    Raises:
        InvalidInput: There is none of that name.
    """
    plain, given, notes = name.partition(_NOTES)
    _check(plain)
    what = OURS[plain].what if plain in OURS else {**_OTHERS, **PEERS, **ASKING}[plain]
    return f"{what}; notes given: {notes}" if given else what


def refuse(name: str, setup: Setup) -> None:
    """Raises InvalidInput where a system of this name cannot be made with this setup, without making it."""
    _check(name)
    if name in OURS:
        return
    if setup.settings and (name not in READ or READ[name].config == "himem"):
        raise InvalidInput(f"the system {name!r} has no settings; --set is for mnemic's own: {', '.join(OURS)}")
    if name in ASKING and setup.model is None:
        raise InvalidInput(
            f"the system {name!r} has a language model write its memory, and none is given: add --model PROVIDER:MODEL "
            "(what people said goes to that provider), or leave it out"
        )
    if name in PEERS and setup.embedder != "local":
        raise InvalidInput(f"the system {name!r} embeds with 'local' alone, not with {setup.embedder!r}")


def labelled(name: str, setup: Setup) -> str:
    """What results call a system: its name, and the notes it was given (``default+notes:observation``)."""
    return f"{name}{_NOTES}{setup.notes.label}" if setup.notes is not None and name in {**OURS, **READ} else name


def system(name: str, setup: Setup | None = None) -> System:
    """Make a system, empty.

    Args:
        name: One of ``NAMES``.
        setup: What it is made with.

    Raises:
        InvalidInput: There is none of that name, or it cannot be made with this (``refuse``).
        EmbedderUnavailable: It needs an embedder whose files are missing.
        MissingExtra: The library it needs is not installed.
    """
    setup = setup or Setup()
    refuse(name, setup)
    if name in OURS:
        return _ours(name, OURS[name], setup)
    if name in READ:
        return _read(name, READ[name], setup)
    if name in GENERATING:
        return _generating(name, setup)
    if name in PEERS:
        return _peer(name)
    return _MAKERS[name](setup)


def _check(name: str) -> None:
    if name not in NAMES:
        raise InvalidInput(f"no system is called {name!r}; there are: {', '.join(NAMES)}")


def _ours(name: str, variant: Variant, setup: Setup) -> System:
    from mnemic.bench.systems.ours import Ours
    from mnemic.models import registry

    return Ours(
        labelled(name, setup),
        configured(variant.config, setup.settings),
        embedder=_embedder(setup) if variant.dense else None,
        extractor=TimedExtractor(registry.cue_extractor(variant.extractor)),
        keep=setup.keep,
        notes=setup.notes,
    )


def _read(name: str, read: Read, setup: Setup) -> System:
    from mnemic.bench.generated.reader import Reader
    from mnemic.bench.systems.ours import Ours
    from mnemic.models import registry

    return Ours(
        labelled(name, setup),
        read.config if read.config == "himem" else configured(read.config, setup.settings),
        embedder=_embedder(setup),
        extractor=TimedExtractor(registry.cue_extractor("rules")),
        keep=setup.keep,
        notes=setup.notes,
        reader=Reader(read.reading, _model(setup)),
    )


def _embedder(setup: Setup) -> TimedEmbedder:
    from mnemic.models import registry

    found = registry.embedder(setup.embedder)
    if found is None:
        raise EmbedderUnavailable("the benchmark's systems need an embedder; default-no-dense is the one without")
    return TimedEmbedder(found)


def _peer(name: str) -> System:
    from mnemic.bench.peers.system import open_peer

    return open_peer(name)


def _generating(name: str, setup: Setup) -> System:
    from mnemic.bench.generated.peer import open_generating

    return open_generating(name, _model(setup))


def _model(setup: Setup) -> MemoryModel:
    assert setup.model is not None  # or it was refused
    return open_model(setup.model)


def _a_mem(setup: Setup) -> System:
    from mnemic.bench.generated.amem import AMem

    return AMem(_embedder(setup), _model(setup))


def _secom(setup: Setup) -> System:
    from mnemic.bench.generated.secom import SeCom

    return SeCom(_embedder(setup), _model(setup))


def _bm25(_: Setup) -> System:
    from mnemic.bench.systems.rankers import Bm25
    from mnemic.bench.systems.reference import Reference

    return Reference("bm25", Bm25())


def _dense(setup: Setup) -> System:
    from mnemic.bench.systems.rankers import Dense
    from mnemic.bench.systems.reference import Reference

    embedder = _embedder(setup)
    return Reference("dense", Dense(embedder), embedder)


def _dense_nameless(setup: Setup) -> System:
    from mnemic.bench.systems.rankers import Dense
    from mnemic.bench.systems.reference import Reference

    embedder = _embedder(setup)
    return Reference("dense-nameless", Dense(embedder), embedder, nameless=True)


def _rrf(setup: Setup) -> System:
    from mnemic.bench.systems.rankers import Bm25, Dense, Fused
    from mnemic.bench.systems.reference import Reference

    embedder = _embedder(setup)
    return Reference("rrf", Fused(Bm25(), Dense(embedder)), embedder)


def _full_context(_: Setup) -> System:
    from mnemic.bench.systems.reference import FullContext

    return FullContext()


def _no_memory(_: Setup) -> System:
    from mnemic.bench.systems.reference import NoMemory

    return NoMemory()


_MAKERS: Mapping[str, Callable[[Setup], System]] = {
    "bm25": _bm25,
    "dense": _dense,
    "dense-nameless": _dense_nameless,
    "rrf": _rrf,
    "full-context": _full_context,
    "no-memory": _no_memory,
    "a-mem": _a_mem,
    "secom": _secom,
}
