"""The embedder of our own: all-MiniLM-L6-v2 trained further for remembering, with int8 weights, in this package.

How it was trained and what that brought: ``weights/README.md``, the model card, and
``docs/decisions/0010-own-embedder.md``; by what: ``training/`` in the repository.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from mnemic.models.onnx_encoder import OnnxEncoder, Pinned
from mnemic.types import Thresholds

_FOLDER: Final = Path(__file__).parent / "weights"


def _file(name: str, sha256: str) -> Pinned:
    return Pinned(lambda: _FOLDER / name, sha256, "mnemic", "pip install --force-reinstall --no-deps mnemic")


_WEIGHTS: Final = _file("model.onnx", "4af5f6c1c22d6c4813b1c6273477f54889fa0979c322c611efb49c06e7028f5f")
_TOKENIZER: Final = _file("tokenizer.json", "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037")


class MnemicMiniLM(OnnxEncoder):
    """The default, English, 384 dimensions; see ``OnnxEncoder``."""

    name = "mnemic-minilm-1"
    thresholds = Thresholds(tau_init=0.69, tau_alias=0.79, tau_iter=0.53, relevance=0.31)
    _prefix = "mnemic-minilm"
    _files = (_WEIGHTS, _TOKENIZER)
