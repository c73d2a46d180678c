"""Probabilities of hits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.algo.usefulness import CURVES, Curve, probabilities

PLAIN = Curve(strength=2.0, behind=-10.0, lead=5.0, standing=3.0, named=-1.0, offset=-0.5)


def logistic(odds: float) -> float:
    return 1 / (1 + math.exp(-odds))


def test_by_hand() -> None:
    found = probabilities(np.array([0.8, 0.7]), 0.1, None, PLAIN)
    assert found.tolist() == pytest.approx([logistic(1.6 + 0.5 - 0.5), logistic(1.4 - 1.0 - 0.5)])
    found = probabilities(np.array([0.8]), 0.3, -0.2, PLAIN)
    assert found.tolist() == pytest.approx([logistic(1.6 + 1.5 - 1.0 - 0.6 - 0.5)])
    assert probabilities(np.array([]), 0.0, None, PLAIN).tolist() == []


@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES)
@given(
    strengths=st.lists(st.floats(0, 1), min_size=1, max_size=20),
    standing=st.one_of(st.none(), st.floats(-2, 2)),
)
def test_the_order_stays_and_nothing_is_certain(curve, strengths, standing) -> None:
    ordered = np.array(sorted(strengths, reverse=True))
    lead = ordered[0] - ordered[1] if len(ordered) > 1 else 0.0
    found = probabilities(ordered, lead, standing, curve)
    assert ((found > 0) & (found < 1)).all()
    assert (np.diff(found) <= 0).all()


@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES)
def test_a_better_rival_or_somebody_else_make_it_less_likely(curve) -> None:
    alone = probabilities(np.array([0.7, 0.4]), 0.3, 0.1, curve)[0]
    assert probabilities(np.array([0.7, 0.69]), 0.01, 0.1, curve)[0] < alone
    assert probabilities(np.array([0.7, 0.4]), 0.3, -0.3, curve)[0] < alone
    assert probabilities(np.array([0.5, 0.2]), 0.3, 0.1, curve)[0] < alone
