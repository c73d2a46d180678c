from __future__ import annotations

import math

import numpy as np
import pytest

from mnemic.algo import signs

pytestmark = pytest.mark.skipif(not signs.SUPPORTED, reason="counting bits came with numpy 2")


def unit_rows(n: int, dim: int, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((n, dim)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("dim", [1, 8, 64, 70, 384])
def test_differing_counts_the_signs_that_differ(dim: int) -> None:
    rows, query = unit_rows(50, dim), unit_rows(1, dim, seed=1)[0]
    codes = signs.encode(rows)
    assert codes.shape == (signs.words(dim), 50)
    assert signs.differing(codes, query).tolist() == ((rows > 0) != (query > 0)).sum(axis=1).tolist()


def test_close_vectors_differ_in_few_signs() -> None:
    query = unit_rows(1, 384)[0]
    for cosine in (0.3, 0.6, 0.9):
        near = []
        for other in unit_rows(500, 384, seed=2):
            aside = other - (other @ query) * query
            near.append(cosine * query + math.sqrt(1 - cosine**2) * aside / np.linalg.norm(aside))
        counts = signs.differing(signs.encode(np.array(near, np.float32)), query)
        expected = 384 * math.acos(cosine) / math.pi
        assert counts.mean() == pytest.approx(expected, abs=2)
        assert counts.max() <= signs.most(cosine, 384) < expected + 60


def test_equal_vectors_differ_in_no_sign_and_opposite_ones_in_all() -> None:
    assert signs.most(1.0, 384) == 1
    assert signs.most(-1.0, 384) == 385
    assert signs.most(2.0, 384) == 1


def test_the_estimated_cosine_is_near_the_true_one() -> None:
    rows, query = unit_rows(4000, 384), unit_rows(1, 384, seed=1)[0]
    rows[:400] = (rows[:400] + 0.7 * query) / np.linalg.norm(rows[:400] + 0.7 * query, axis=1, keepdims=True)
    error = signs.cosines(signs.differing(signs.encode(rows), query), 384) - rows @ query
    assert abs(error.mean()) < 0.01
    assert 0.5 * signs.deviation(384) < error.std() < signs.deviation(384)
    assert signs.deviation(0) == 0


def test_no_differing_sign_stands_for_the_cosine_1_and_all_for_the_opposite() -> None:
    assert signs.cosines(np.array([0, 4, 8], np.uint16), 8) == pytest.approx([1, 0, -1], abs=1e-6)
