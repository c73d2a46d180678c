"""How reliable probabilities are, against arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from mnemic.bench.reliability import Bin, reliability


def test_by_hand() -> None:
    said, useful = np.array([0.05, 0.15, 0.15, 0.95]), np.array([0.0, 0.0, 1.0, 1.0])
    found = reliability(said, useful)
    assert (found.n, found.rate, found.brier_of_rate) == (4, 0.5, 0.25)
    assert found.ece == pytest.approx((0.05 + abs(0.3 - 1) + 0.05) / 4)
    assert found.brier == pytest.approx((0.05**2 + 0.15**2 + 0.85**2 + 0.05**2) / 4)
    assert found.bins == (Bin(1, 0.05, 0.0), Bin(2, 0.15, 0.5), Bin(1, 0.95, 1.0))


def test_what_is_said_truly_has_no_error() -> None:
    found = reliability(np.full(10, 0.3), np.array([1.0] * 3 + [0.0] * 7))
    assert found.ece == pytest.approx(0)
    assert found.brier == pytest.approx(found.brier_of_rate)


def test_certainty_belongs_to_the_last_bin() -> None:
    assert [one.said for one in reliability(np.array([0.0, 1.0]), np.array([0.0, 1.0])).bins] == [0.0, 1.0]


@pytest.mark.parametrize(("said", "useful"), [([], []), ([0.5], [])])
def test_without_hits_there_is_nothing_to_say(said, useful) -> None:
    with pytest.raises(ValueError, match="hits"):
        reliability(np.array(said), np.array(useful))
