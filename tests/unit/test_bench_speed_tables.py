"""What could not be measured is told, not dropped."""

from __future__ import annotations

import pytest

from mnemic.bench import tables
from mnemic.bench.columns import SPEED
from mnemic.bench.speed import Growth, check
from mnemic.errors import InvalidInput

FAILED = {"system": "slow", "users": 1, "turns": 1000, "failed": "it took longer than 5 s"}
DONE = {"system": "default", "users": 1, "turns": 1000, "add_one_ms": 2.0, "search_after_add_ms": 9.0}


def test_a_failure_has_a_row_of_dashes_and_a_reason():
    kept = tables.present([DONE, FAILED], SPEED)
    assert tables.speed([DONE, FAILED], kept).rows[1] == ("slow", "1", "1,000", tables.MISSING, tables.MISSING)
    assert tables.failures([DONE, FAILED]) == [("slow, 1 × 1000 turns", "it took longer than 5 s")]


@pytest.mark.parametrize("given", [{"turns": (10, 5)}, {"turns": (5, 5)}, {"turns": (0,)}, {"users": (1, 4)}])
def test_sizes_rise(given):
    with pytest.raises(InvalidInput, match="must rise"):
        Growth(**given)


def test_something_has_to_grow():
    with pytest.raises(InvalidInput, match="nothing to grow"):
        Growth((), ())
    assert Growth((), (3,)).total == 300


def test_what_cannot_grow_is_said():
    with pytest.raises(InvalidInput, match="'rrf' is not measured"):
        check("rrf")
