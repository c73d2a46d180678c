"""A matrix that grows answers like one made at once, and both like scipy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.algo.sparse import Sparse
from mnemic.index.incidence import Incidence

steps = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 2), st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)))),
    max_size=6,
)


def grown(given_steps: Any) -> tuple[Incidence, np.ndarray]:
    """An incidence that got some rows and columns and entries in each step; and what it should hold."""
    made, full = Incidence(), np.zeros((0, 0))
    for more_rows, more_columns, places in given_steps:
        height, width = full.shape[0] + more_rows, full.shape[1] + more_columns
        after = np.zeros((height, width))
        after[: full.shape[0], : full.shape[1]] = full
        entries = [(full.shape[0] + r % more_rows, c % width) for r, c in places] if more_rows and width else []
        for place in entries:
            after[place] += 2
        rows, columns = np.array(entries, np.int64).reshape(-1, 2).T
        made.append(rows, columns, np.full(len(entries), 2.0), height=height, width=width)
        full = after
    return made, full


@settings(max_examples=80, deadline=None)
@given(steps, steps)
def test_growing_equals_making_at_once(upper: Any, lower: Any) -> None:
    (above, top), (below, bottom) = grown(upper), grown(lower)
    width = max(top.shape[1], bottom.shape[1])
    nothing = np.zeros(0, np.int64)
    full = np.zeros((top.shape[0] + bottom.shape[0], width))
    full[: top.shape[0], : top.shape[1]] = top
    full[top.shape[0] :, : bottom.shape[1]] = bottom
    for made, height in ((above, top.shape[0]), (below, bottom.shape[0])):
        made.append(nothing, nothing, np.zeros(0), height=height, width=width)
    matrix = Sparse((above.block(), below.block()))

    rows, columns = np.nonzero(full)
    once = Sparse.from_pairs(rows, columns, full[rows, columns], full.shape)
    for one in (matrix, once):
        assert one.shape == full.shape
        assert (one.rows.tolist(), one.columns.tolist()) == (rows.tolist(), columns.tolist())
        assert one.values.tolist() == full[rows, columns].tolist()
        assert one.column_counts.tolist() == (full > 0).sum(axis=0).tolist()
        assert one.row_sums.tolist() == full.sum(axis=1).tolist()
        sums = np.maximum(full.sum(axis=1, keepdims=True), 1)
        assert one.column_shares == pytest.approx((full / sums).sum(axis=0))
        vector, other = np.arange(width) + 1.0, np.arange(len(full)) + 1.0
        assert one @ vector == pytest.approx(full @ vector)
        assert one.transposed_product(other) == pytest.approx(full.T @ other)
        some = np.arange(0, len(full), 2)
        counts, held = one.slice_rows(some)
        assert counts.tolist() == (full[some] > 0).sum(axis=1).tolist()
        assert held.tolist() == np.nonzero(full[some])[1].tolist()
        asked = np.arange(width)[::-1]
        found = sorted(zip(*(part.tolist() for part in one.column_entries(asked)), strict=True))
        place, row = np.nonzero(full.T[asked])
        assert found == sorted(zip(place.tolist(), row.tolist(), full[row, asked[place]].tolist(), strict=True))


def test_many_small_additions_keep_few_pieces() -> None:
    made = Incidence()
    for row in range(1000):
        made.append(np.array([row]), np.array([row % 7]), np.ones(1), height=row + 1, width=7)
    assert len(made.block().runs) <= 10
    assert made.block().column_counts.sum() == 1000
