"""Configurations check what they are given."""

from __future__ import annotations

from typing import Any

import pytest

from mnemic.config import Enriching, Fusion, Hero


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        (Hero, "follow", 1.0),
        (Hero, "seeds", 0),
        (Hero, "alpha", -5),
        (Hero, "rounds", -1),
        (Hero, "tau_init", float("nan")),
        (Hero, "names", "x"),
        (Hero, "thresholds", "y"),
        (Fusion, "follow", 1),
        (Fusion, "spread", 0),
        (Fusion, "unit", -1),
        (Fusion, "date_scale_days", 0),
        (Fusion, "relative_date", 1.5),
        (Fusion, "graph", float("nan")),
        (Enriching, "notes", "everything"),
        (Enriching, "cues", None),
        (Enriching, "episodes", "session"),
        (Enriching, "conflicts", "person"),
        (Enriching, "batch", 0),
        (Enriching, "settle_s", -1),
        (Enriching, "lease_s", 0.5),
        (Enriching, "tries", 0),
    ],
)
def test_values_out_of_range_are_refused_by_name(kind: Any, field: str, value: object) -> None:
    with pytest.raises(ValueError, match=field):
        kind(**{field: value})


def test_every_documented_switch_is_accepted() -> None:
    Hero(tau_init=2, seeds=None, rounds=0, ppr=False, profile=False, directed=True, names="strip")
    Fusion(graph=0, date=0, lexical=0, unit=0, trace=0, speaker=0)
