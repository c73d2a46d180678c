"""Trained weights as an embedder of mnemic: the embedded embedder's tokenizer, windows and pooling, in torch."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from tokenizers import Tokenizer

from mnemic.models.minilm import MiniLM
from mnemic.models.windows import embed_by_windows, evenly_cut
from training import base
from training.loop import embedded
from training.model import loaded, padded

if TYPE_CHECKING:
    from torch import Tensor

    from mnemic.protocols import Floats

_WINDOW, _MAX_WINDOWS = 256, 16


class TrainedMiniLM:
    """An ``Embedder`` over a file of single-precision weights. Not thread-safe.

    Args:
        weights: A safetensors file of all-MiniLM-L6-v2's shape; the base's own for comparison.

    Raises:
        EmbedderUnavailable: The package with the tokenizer is missing.
    """

    dim = MiniLM.dim
    # The base's: what is trained is pulled towards it, and nobody has calibrated it yet.
    thresholds = MiniLM.thresholds

    def __init__(self, weights: Path) -> None:
        tokenizer = base.located(base.TOKENIZER)
        self._encoder = loaded(weights)
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._cls, self._sep = (self._tokenizer.token_to_id(token) for token in ("[CLS]", "[SEP]"))
        digest = hashlib.sha256(weights.read_bytes()).hexdigest()
        self.name = f"trained-minilm-{digest[:8]}"
        self.fingerprint = f"trained-{digest[:16]}"

    def embed(self, texts: Sequence[str], *, kind: Literal["query", "passage"] = "passage") -> Floats:
        """Embed texts of any length: see ``protocols.Embedder``."""
        return embed_by_windows(texts, cut=self._windows, encode=self._encoded, dim=lambda: self.dim)

    def _windows(self, text: str) -> list[tuple[int, ...]]:
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        pieces = evenly_cut(len(ids), size=_WINDOW - 2, most=_MAX_WINDOWS)
        return [(self._cls, *ids[piece], self._sep) for piece in pieces]

    def _encoded(self, windows: list[tuple[int, ...]]) -> Floats:
        distinct = list(dict.fromkeys(windows))
        place = {window: number for number, window in enumerate(distinct)}
        rows = embedded(self._encoder, _ids, distinct)
        return rows[np.array([place[window] for window in windows])]


def _ids(windows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    return padded(windows)
