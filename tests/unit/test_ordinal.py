"""Which of several times is meant."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.algo.ordinal import place, wanted

nan = float("nan")


@pytest.mark.parametrize(
    ("question", "which"),
    [
        ("When did I last water the fern?", "last"),
        ("when was the last time we went to the lake", "last"),
        ("What is Ana's latest painting?", "last"),
        ("Which book did Bo read most recently?", "last"),
        ("What was her most recent job?", "last"),
        ("Who have I last spoken to?", "last"),
        ("When did Nate first win a tournament?", "first"),
        ("When did we meet for the first time?", "first"),
        ("Where did she originally come from?", "first"),
        ("What did he initially think of the flat?", "first"),
        ("Where did you first meet?", "first"),
        ("What did we do last week?", None),
        ("What did John do last weekend before April 10, 2023?", None),
        ("Where did John explore on a road trip last year?", None),
        ("What happened last Friday?", None),
        ("When did the team win first place?", None),
        ("What is his first name?", None),
        ("What is her last name?", None),
        ("What did Bo do in the last two months?", None),
        ("How did John overcome his ankle injury from last season?", None),
        ("Did we first or last time go by train?", None),
        ("How long did the shoes last?", None),
        ("What do I like?", None),
        ("", None),
    ],
)
def test_first_and_last(question, which) -> None:
    assert wanted(question) == which


def test_by_hand() -> None:
    times = np.array([30.0, 10.0, nan, 20.0, 30.0])
    assert place(times, "last").tolist() == [1.0, 0.0, 0.0, 0.5, 1.0]
    assert place(times, "first").tolist() == [0.0, 1.0, 0.0, 0.5, 0.0]
    assert place(np.array([5.0, 5.0]), "first").tolist() == [1.0, 1.0]
    assert place(np.array([nan]), "last").tolist() == [0.0]
    assert place(np.array([]), "last").tolist() == []


@given(st.lists(st.one_of(st.just(nan), st.floats(-1e9, 1e9)), max_size=12))
def test_later_is_never_less(times) -> None:
    found = place(np.array(times), "last")
    known = [(time, share) for time, share in zip(times, found.tolist(), strict=True) if time == time]
    assert all(one[1] <= other[1] for one, other in zip(sorted(known), sorted(known)[1:], strict=False))
    if known:
        assert max(known)[1] == 1.0
