"""A BERT encoder of 384 dimensions with int8 weights, run by onnxruntime on one thread from files that are pinned.

What was measured: ``docs/decisions/0002-embedded-embedder.md``.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
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
class Pinned:
    """One file that must be there, byte for byte.

    Attributes:
        place: Tells where it lies; raises EmbedderUnavailable where what holds it is not installed.
        sha256: Of its bytes, in hexadecimal.
        source: What it is a file of, for messages.
        way_out: The command that brings it back.
    """

    place: Callable[[], Path]
    sha256: str
    source: str
    way_out: str

    def located(self, instead: Path | None) -> Path:
        """Where it lies, or should; or the other place that was given."""
        return self.place() if instead is None else instead

    def verified(self, instead: Path | None) -> str:
        """The path of the file, checked; hashing the weights takes 30 ms.

        Raises:
            EmbedderUnavailable: It is missing or another one.
        """
        path = self.located(instead)
        try:
            with path.open("rb") as content:
                digest = hashlib.file_digest(content, "sha256").hexdigest()
        except OSError as error:
            raise EmbedderUnavailable(f"{path} cannot be read ({error.strerror}): {self.way_out}") from error
        if digest != self.sha256:
            raise EmbedderUnavailable(f"{path} is not the file of {self.source}: {self.way_out}")
        return str(path)


_DIM: Final = 384
_WINDOW: Final = 256  # tokens the model was trained to read at once, [CLS] and [SEP] included
_MAX_WINDOWS: Final = 16  # of one text; more are thinned out evenly
_SLICE: Final = 2048  # characters
_BATCH_ROWS: Final = 16
_BATCH_TOKENS: Final = 256  # padding included; larger batches fall out of the processor's cache
_POOLING: Final = "mean;windows=256/16;v1"  # part of the fingerprint: change it when a text's vector changes


class _Loaded(NamedTuple):
    session: Any  # onnxruntime.InferenceSession
    kinds: bool  # whether it wants to be told the kind of each token
    tokenizer: Any  # tokenizers.Tokenizer
    cls: int
    sep: int


class OnnxEncoder:
    """Texts to unit vectors. Symmetric: ``kind`` makes no difference.

    A text of more than 256 tokens is cut into equally long windows without overlap and embedded as the
    normalised mean of their vectors. Of more than 16 windows, 16 are read, evenly spread from the first to the
    last, so that time (about a CPU-second) and memory stay bounded; mnemic embeds sentences and traces, which
    never come near.

    Constructing it reads and imports nothing; the first ``embed`` (or ``load``) does. Thread-safe. Which files and what
    thresholds says the subclass.

    Args:
        weights: Read the weights from here instead of their pinned place; the hash must be the same.
        tokenizer: The same for the tokenizer.
    """

    name: str
    thresholds: Thresholds
    dim = _DIM
    _prefix: str
    """What the fingerprint begins with."""
    _files: tuple[Pinned, Pinned]
    """The weights and the tokenizer."""

    def __init__(self, *, weights: Path | None = None, tokenizer: Path | None = None) -> None:
        self._instead = (weights, tokenizer)
        self._loaded: _Loaded | None = None
        self._lock = threading.Lock()

    @property
    def fingerprint(self) -> str:
        """Of the weights, the tokenizer and the pooling."""
        parts = "|".join((*(file.sha256 for file in self._files), _POOLING))
        return f"{self._prefix}-{hashlib.sha256(parts.encode()).hexdigest()[:16]}"

    def locate(self) -> None:
        """Look whether the files are there, without reading them: 2 ms where loading takes half a second.

        Raises:
            EmbedderUnavailable: A file is missing.
        """
        for pinned, instead in zip(self._files, self._instead, strict=True):
            path = pinned.located(instead)
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
                    self._loaded = self._read()
        return self._loaded

    def _read(self) -> _Loaded:
        try:
            silence_libraries()
            onnxruntime: Any = importlib.import_module("onnxruntime")  # this way, because it ships no type information
            tokenizers: Any = importlib.import_module("tokenizers")
        except ImportError as error:
            raise EmbedderUnavailable(
                f"{self.name} cannot import {error.name}: pip install --force-reinstall onnxruntime tokenizers"
            ) from error
        options = onnxruntime.SessionOptions()
        # One thread: a query costs a third of the CPU time of the default pool, and threads belong to the caller.
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
        # The fused kernels of the higher levels are 15 % slower on texts this short.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        # By path, not as bytes: 30 MB less stay resident.
        weights, tokenizer = (file.verified(instead) for file, instead in zip(self._files, self._instead, strict=True))
        session = onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
        _give_back_memory()
        tokens = tokenizers.Tokenizer.from_file(tokenizer)
        # The file asks for truncation and padding to 128 tokens.
        tokens.no_truncation()
        tokens.no_padding()
        kinds = "token_type_ids" in {given.name for given in session.get_inputs()}
        return _Loaded(session, kinds, tokens, tokens.token_to_id("[CLS]"), tokens.token_to_id("[SEP]"))


def _give_back_memory() -> None:
    """Return to the system what unpacking the weights took and left: of 310 MB, 160."""
    with suppress(OSError, AttributeError, TypeError):  # only glibc can be told to
        ctypes.CDLL(None).malloc_trim(0)


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
        feed = {"input_ids": ids, "attention_mask": mask}
        if loaded.kinds:
            feed["token_type_ids"] = np.zeros_like(ids)
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
