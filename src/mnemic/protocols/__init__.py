"""The five seams: Embedder, CueExtractor, Reranker, LanguageModel, Store. Nothing in them is optional.

Each has one contract suite (``tests/contract/``) that every implementation runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnemic.protocols.embedding import EmbeddingLease, EmbeddingQueue
from mnemic.protocols.models import Completion, CueExtractor, Embedder, LanguageModel, Reply, Reranker, StreamingModel
from mnemic.protocols.restoring import Numbers, Recovered, Restoring
from mnemic.protocols.rows import (
    BY_NOTE,
    CONFIRMED,
    EVERY_OPERATION,
    Amount,
    Batch,
    Delta,
    EmbedderRecord,
    Held,
    LogFilter,
    Mark,
    NoteState,
    Removed,
    TurnRow,
    Unembedded,
    Usage,
    Vectors,
    Written,
)
from mnemic.protocols.service import KeptReply, KeyRow, ServiceRows
from mnemic.protocols.store import Ledger, Store
from mnemic.protocols.work import Lease, WorkQueue

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

__all__ = [
    "BY_NOTE",
    "CONFIRMED",
    "EVERY_OPERATION",
    "Amount",
    "Batch",
    "Completion",
    "CueExtractor",
    "Delta",
    "Embedder",
    "EmbedderRecord",
    "EmbeddingLease",
    "EmbeddingQueue",
    "Held",
    "KeptReply",
    "KeyRow",
    "LanguageModel",
    "Lease",
    "Ledger",
    "LogFilter",
    "Mark",
    "NoteState",
    "Numbers",
    "Recovered",
    "Removed",
    "Reply",
    "Reranker",
    "Restoring",
    "ServiceRows",
    "Store",
    "StreamingModel",
    "TurnRow",
    "Unembedded",
    "Usage",
    "Vectors",
    "WorkQueue",
    "Written",
]
