"""Texts longer than a model reads: cut into windows, embedded apart, averaged. Shared by every embedder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from mnemic.errors import EmbeddingFailed
from mnemic.models.clean import clean

if TYPE_CHECKING:
    from mnemic.protocols import Floats

Window = TypeVar("Window")


def embed_by_windows(
    texts: Sequence[str],
    *,
    cut: Callable[[str], Sequence[Window]],
    encode: Callable[[list[Window]], Floats],
    dim: Callable[[], int],
) -> Floats:
    """Embed each text as the normalised mean of the unit vectors of its windows.

    Args:
        texts: n texts, as given; they are cleaned here.
        cut: A cleaned text that is not blank -> its windows, at least one.
        encode: w windows -> (w, dim) vectors of any norm, in the same order.
        dim: Length of a vector; asked after ``encode``, so that it may be learnt there.

    Returns:
        (n, dim) float32 rows of norm 1; zero rows for blank texts.

    Raises:
        EmbeddingFailed: ``encode`` returned another number of vectors than it was given windows.
    """
    import numpy as np

    windows: list[Window] = []
    owners: list[int] = []
    for row, text in enumerate(map(clean, texts)):
        if text.strip():
            pieces = cut(text)
            windows.extend(pieces)
            owners.extend([row] * len(pieces))
    if not windows:
        return np.zeros((len(texts), dim()), dtype=np.float32)
    vectors = np.asarray(encode(windows), dtype=np.float32)
    if len(vectors) != len(windows):
        raise EmbeddingFailed(f"{len(windows)} texts were sent and {len(vectors)} vectors came back")
    rows = np.zeros((len(texts), dim()), dtype=np.float32)
    np.add.at(rows, owners, unit_rows(vectors))
    return unit_rows(rows)


def unit_rows(rows: Floats) -> Floats:
    """Rows (n, d) divided by their norm; zero rows stay zero."""
    import numpy as np

    norms = np.linalg.norm(rows, axis=1, keepdims=True).astype(np.float32)
    norms[norms == 0] = 1
    return rows / norms


def evenly_cut(length: int, *, size: int, most: int) -> list[slice]:
    """Slices of nearly equal length, at most ``size``, that cover ``[0, length)`` without overlap; at least one.

    Where that takes more than ``most`` slices, ``most`` of them, spread evenly, the first and the last included:
    a bound on time and memory that still sees every part of the text.
    """
    count = max(1, -(-length // size))
    chosen = range(count) if count <= most else [i * (count - 1) // max(1, most - 1) for i in range(most)]
    return [slice(i * length // count, (i + 1) * length // count) for i in chosen]


def by_characters(size: int, *, most: int) -> Callable[[str], list[str]]:
    """A ``cut`` for models whose tokenizer cannot be asked: windows of at most ``size`` characters."""

    def cut(text: str) -> list[str]:
        return [text[piece] for piece in evenly_cut(len(text), size=size, most=most)]

    return cut
