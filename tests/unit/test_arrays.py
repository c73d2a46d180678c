from __future__ import annotations

import numpy as np
import pytest

from mnemic.algo.arrays import Rows
from mnemic.algo.sparse import Sparse
from mnemic.algo.vectors import dot, dots


def test_rows_grow_and_keep_what_they_hold() -> None:
    rows = Rows(np.int64, 2)
    for i in range(100):
        rows.extend([(i, -i)])
    rows.extend([])
    assert len(rows) == 100
    assert rows.view.tolist() == [[i, -i] for i in range(100)]
    assert rows.nbytes <= 2 * 100 * 2 * 8


def test_more_rows_than_twice_the_capacity() -> None:
    rows = Rows(np.float32)
    rows.extend(np.arange(1000))
    assert rows.view.tolist() == list(range(1000))


def test_rows_without_columns() -> None:
    rows = Rows(np.float32, 0)
    rows.extend(np.zeros((3, 0)))
    rows.extend([])
    assert rows.view.shape == (3, 0)


def test_the_view_writes_through() -> None:
    rows = Rows(np.bool_)
    rows.extend([True, True])
    rows.view[1] = False
    assert rows.view.tolist() == [True, False]


def test_rows_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="reshape"):
        Rows(np.int64, 3).extend([(1, 2)])


def example() -> Sparse:
    rows, columns = np.array([2, 0, 0, 2]), np.array([1, 2, 0, 1])
    return Sparse.from_pairs(rows, columns, np.array([1.0, 2.0, 3.0, 4.0]), (4, 3))


def test_equal_places_are_added_and_columns_ascend() -> None:
    matrix = example()
    assert matrix.rows.tolist() == [0, 0, 2]
    assert matrix.columns.tolist() == [0, 2, 1]
    assert matrix.values.tolist() == [3, 2, 5]


def test_products_maps_and_slices() -> None:
    matrix = example()
    assert (matrix @ np.array([1.0, 10.0, 100.0])).tolist() == [203, 0, 50, 0]
    assert matrix.map(np.sqrt).values.tolist() == pytest.approx([3**0.5, 2**0.5, 5**0.5])
    assert matrix.values.tolist() == [3, 2, 5]
    counts, columns = matrix.slice_rows(np.array([2, 1, 0]))
    assert (counts.tolist(), columns.tolist()) == ([1, 0, 2], [1, 0, 2])


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_empty_matrices(shape: tuple[int, int]) -> None:
    nothing = np.zeros(0, np.int64)
    matrix = Sparse.from_pairs(nothing, nothing, np.zeros(0), shape)
    assert (matrix @ np.zeros(shape[1])).tolist() == [0.0] * shape[0]
    assert matrix.rows.tolist() == []


def test_dot_products() -> None:
    matrix, vector = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([10.0, 1.0])
    assert dot(matrix, vector).tolist() == [12, 34]
    assert dots(matrix, matrix[:1]).tolist() == [[5], [11]]
    assert dots(np.zeros((2, 0)), np.zeros((3, 0))).tolist() == [[0, 0, 0], [0, 0, 0]]
