"""How strong a note is, by hand, and which ones are let go."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.algo.forgetting import PRIOR, strength, weakest


def test_strength_by_hand():
    assert strength(0, 0, "fact", half_life_days=90) == 1.0
    assert strength(90, 0, "fact", half_life_days=90) == 0.5
    assert strength(180, 0, "preference", half_life_days=90) == pytest.approx(0.25 * 1.2)
    assert strength(30, 2, "trait", half_life_days=30) == pytest.approx(0.5 * (1 + math.log(3)) * 1.5)
    assert strength(1e6, 0, "state", half_life_days=1) == 0.0


def test_the_weakest_go_first_and_of_equal_ones_the_earlier():
    assert weakest([3.0, 1.0, 2.0, 1.0], [None] * 4, 1) == [1, 3, 2]
    assert weakest([3.0, 1.0], [None] * 2, 2) == []


def test_the_last_witness_stays_however_weak_it_is():
    assert weakest([0.1, 0.2, 0.3, 9.0], ["tea", "tea", None, "cat"], 0) == [0, 2]


@given(st.lists(st.tuples(st.floats(0, 9), st.none() | st.sampled_from("abc"))), st.integers(0, 9))
def test_what_is_left(notes, most):
    strengths, witnesses = [one for one, _ in notes], [two for _, two in notes]
    gone = weakest(strengths, witnesses, most)
    left = [place for place in range(len(notes)) if place not in gone]
    assert len(set(gone)) == len(gone)
    assert {witnesses[place] for place in left} >= set(witnesses) - {None}
    assert len(left) >= min(most, len(notes))
    if len(left) > most:  # then all of them are protected
        kept = [witnesses[place] for place in left]
        assert None not in kept
        assert len(kept) == len(set(kept))
    assert [strengths[place] for place in gone] == sorted(strengths[place] for place in gone)


def test_every_kind_has_a_prior_and_none_is_below_a_fact():
    assert min(PRIOR.values()) == PRIOR["fact"] == 1.0
    assert PRIOR["trait"] > PRIOR["preference"] > PRIOR["fact"]
