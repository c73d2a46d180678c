"""F1 and WindowDiff against arithmetic, and against the definition window by window."""

from __future__ import annotations

import numpy as np
import pytest

from mnemic.bench.boundary_scores import f1, half_segment, window_diff


def test_f1():
    assert f1(2, 4, 2) == pytest.approx(2 * 0.5 * 1.0 / 1.5)
    assert f1(0, 3, 2) == 0.0
    assert f1(0, 0, 2) == 0.0
    assert f1(0, 0, 0) == 1.0


def test_half_a_mean_segment():
    assert half_segment(40, [10, 20, 30]) == 5
    assert half_segment(40, []) == 20
    assert half_segment(2, []) == 1
    assert half_segment(3, [1, 2]) == 1


@pytest.mark.parametrize(
    ("gold", "predicted", "n", "k", "differing"),
    [
        ([5], [5], 10, 3, 0),
        ([5], [], 10, 3, 3),  # the windows at 2, 3 and 4 hold the boundary before turn 5
        ([], [5], 10, 3, 3),
        ([5], [6], 10, 3, 2),  # a near miss costs less than a miss: only the windows at 2 and 5 differ
        ([5], [9], 10, 3, 4),  # the windows at 2, 3, 4 and 6
        ([5], [5, 6], 10, 3, 3),  # a false boundary beside a right one is punished too: at 3, 4 and 5
        ([1], [], 4, 1, 1),
    ],
)
def test_window_diff(gold, predicted, n, k, differing):
    assert window_diff(gold, predicted, n, k) == pytest.approx(differing / (n - k))


@pytest.mark.parametrize("seed", range(5))
def test_window_diff_is_as_defined(seed):
    rng = np.random.default_rng(seed)
    n, k = 40, int(rng.integers(1, 20))
    gold, predicted = (set(rng.choice(np.arange(1, n), 6, replace=False).tolist()) for _ in range(2))
    windows = [range(i + 1, i + k + 1) for i in range(n - k)]
    counts = [(len(gold.intersection(window)), len(predicted.intersection(window))) for window in windows]
    assert window_diff(gold, predicted, n, k) == pytest.approx(np.mean([a != b for a, b in counts]))


@pytest.mark.parametrize(("gold", "n", "k"), [([], 5, 0), ([], 5, 5), ([5], 5, 2), ([0], 5, 2)])
def test_what_is_out_of_range_is_refused(gold, n, k):
    with pytest.raises(ValueError):
        window_diff(gold, [], n, k)
