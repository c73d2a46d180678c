"""Sign codes: a bit for each number of a vector, by which most of many vectors are told to be far from a query.

Two vectors at an angle of t radians differ in sign in about ``dim * t / pi`` of their numbers (Charikar, "Similarity
estimation techniques from rounding algorithms", 2002). Counting the differing bits of all vectors costs a thirtieth
of their dot products.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
Codes = Sequence[NDArray[np.uint64]]
"""(words) times (n,): the first 64 bits of n codes, the next 64, and so on."""

SUPPORTED = hasattr(np, "bitwise_count")
"""Counting bits came with numpy 2."""

_DEVIATIONS = 5.0
"""How far the number of differing bits may lie from what the angle makes likely."""


def words(dim: int) -> int:
    """Words of 64 bits in a code of ``dim`` bits."""
    return -(-dim // 64)


def encode(vectors: Floats) -> NDArray[np.uint64]:
    """(n, dim) to (words, n)."""
    n, dim = vectors.shape
    bits = np.zeros((n, 64 * words(dim)), np.bool_)
    np.greater(vectors, 0, out=bits[:, :dim])
    return np.ascontiguousarray(np.packbits(bits, axis=1).view(np.uint64).T)


def differing(codes: Codes, query: Floats) -> NDArray[np.uint16]:
    """Of n codes, at least one word each, and (dim,) to (n,): the bits in which each code differs from the query's."""
    counts = np.zeros(len(codes[0]), np.uint16)
    for word, asked in zip(codes, encode(query[None])[:, 0], strict=True):
        counts += np.bitwise_count(word ^ asked)
    return counts


def cosines(counts: NDArray[np.uint16], dim: int) -> NDArray[np.float32]:
    """The cosines that numbers of differing bits stand for, give or take ``deviation``."""
    return np.cos(np.arange(dim + 1) * (math.pi / dim)).astype(np.float32)[counts]


def deviation(dim: int) -> float:
    """The standard deviation of ``cosines`` of vectors at right angles, of independent signs; of others it is less."""
    return math.pi / (2 * math.sqrt(dim)) if dim else 0.0


def most(cosine: float, dim: int) -> float:
    """The most bits in which vectors of at least this cosine differ, but for one pair in some millions."""
    share = math.acos(min(max(cosine, -1.0), 1.0)) / math.pi
    return dim * share + _DEVIATIONS * math.sqrt(dim * share * (1 - share)) + 1
