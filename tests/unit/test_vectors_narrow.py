"""Products of float16 vectors are those of the same numbers in float32."""

from __future__ import annotations

import numpy as np
import pytest

from mnemic.algo.vectors import dot, dot_rows, dots, widen
from mnemic.index.vectors import Vectors


def test_every_finite_number_is_widened_exactly() -> None:
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    finite = every[np.isfinite(every)].reshape(-1, 16)
    # By the bits: 0.0 equals -0.0.
    assert np.array_equal(widen(finite).view(np.uint32), finite.astype(np.float32).view(np.uint32))


@pytest.mark.parametrize(("rows", "dim"), [(0, 8), (1, 8), (255, 3), (256, 384), (700, 5), (3, 0)])
def test_products_are_equal_to_those_in_float32(rows: int, dim: int) -> None:
    numbers = np.random.default_rng(7)
    narrow = numbers.standard_normal((rows, dim)).astype(np.float16)
    wide, vector = narrow.astype(np.float32), numbers.standard_normal(dim).astype(np.float32)
    assert np.array_equal(dot(narrow, vector), dot(wide, vector))
    chosen = numbers.integers(0, max(rows, 1), 2 * rows)
    assert np.array_equal(dot_rows(narrow, chosen, vector), dot_rows(wide, chosen, vector))
    assert np.array_equal(dots(narrow[:3], narrow), dots(wide[:3], wide))
    assert dot(narrow, vector).dtype == np.float32


def test_the_wide_copy_follows_until_there_are_too_many() -> None:
    numbers = np.random.default_rng(3)
    held, plain = Vectors(5, wide=3000), Vectors(5)
    kinds: list[np.dtype[np.floating]] = []
    for count in (1000, 24, 800, 1, 1175, 1, 400):
        rows = numbers.standard_normal((count, 5)).astype(np.float32)
        for vectors in (held, plain):
            vectors.extend(rows)
            vectors.put(len(vectors) // 3, -rows[:1], 1)
            vectors.put(len(vectors) - 1, None, 1)
        assert np.array_equal(held.view, widen(plain.view))
        held.put(7, -rows[:1], 1)  # where a copy is already
        plain.put(7, -rows[:1], 1)
        assert np.array_equal(held.view, widen(plain.view))
        assert np.array_equal(held.blank, ~plain.view.any(axis=1))
        kinds.append(held.view.dtype)
    assert kinds == [np.float16, *[np.float32] * 4, np.float16, np.float16]
    assert plain.view.dtype == np.float16
    assert held.nbytes == plain.nbytes
