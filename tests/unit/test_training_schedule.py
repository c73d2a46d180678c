"""The order of a training, its learning rate, its curve, and recall on the held-out personas."""

import numpy as np
import pytest

from training import curve, held_out
from training.curve import Point
from training.pair import Pair, Passage
from training.recipe import FULL, QUICK
from training.schedule import batches, kept, rate

PAIRS = [Pair("memory", f"m{i}", Passage(f"t{i}", (f"g{i}",)), "p") for i in range(7)] + [
    Pair("cloze", f"c{i}", Passage(f"t{i}", (f"h{i}",)), "p") for i in range(4)
]


def test_every_pair_comes_once_an_epoch_in_batches_of_one_kind():
    made = batches(PAIRS, size=4, epochs=2, seed=0)
    assert sorted(len(batch) for batch in made) == [3, 3, 4, 4, 4, 4]
    for epoch in (made[:3], made[3:]):
        assert sorted(place for batch in epoch for place in batch) == list(range(11))
    assert all(len({PAIRS[place].kind for place in batch}) == 1 for batch in made)
    assert made[:3] != made[3:]


def test_of_a_kind_only_so_many_are_kept_and_always_the_same():
    some = kept(PAIRS, (("memory", 3),), seed=0)
    assert [pair.kind for pair in some] == ["memory"] * 3 + ["cloze"] * 4
    assert some == kept(PAIRS, (("memory", 3),), seed=0) != kept(PAIRS, (("memory", 3),), seed=1)
    assert kept(PAIRS, (), seed=0) == PAIRS


def test_a_pair_alone_is_left_out():
    assert sorted(len(batch) for batch in batches(PAIRS, size=3, epochs=1, seed=0)) == [3, 3, 3]


def test_the_order_depends_on_the_seed_alone():
    assert batches(PAIRS, size=2, epochs=2, seed=5) == batches(PAIRS, size=2, epochs=2, seed=5)
    assert batches(PAIRS, size=2, epochs=2, seed=5) != batches(PAIRS, size=2, epochs=2, seed=6)


def test_the_rate_rises_over_the_warmup_and_falls_to_nothing():
    rates = [rate(step, 10, highest=1.0, warmup=0.2) for step in range(10)]
    assert rates == pytest.approx([0.5, 1.0, 1.0, 0.875, 0.75, 0.625, 0.5, 0.375, 0.25, 0.125])
    assert rate(10, 10, highest=1.0, warmup=0.2) == 0


def test_recipes_differ_by_their_fingerprint():
    assert FULL.fingerprint != QUICK.fingerprint


def test_recall_counts_a_pairs_own_turn_among_its_personas_alone():
    angles = {"a": 0, "b": 10, "to a": 2, "to b": 3, "c": 90, "to c": 4}
    unit = {text: [np.cos(np.radians(one)), np.sin(np.radians(one))] for text, one in angles.items()}
    pairs = [Pair("memory", f"to {text}", Passage(text, (text,)), "p") for text in "ab"]
    pairs.append(Pair("memory", "to c", Passage("c", ("c",)), "q"))
    found = held_out.recall(pairs, lambda texts: np.array([unit[text] for text in texts], np.float32))
    assert found == {1: pytest.approx(2 / 3), 10: 1.0}  # "to b" is nearer to a


def test_a_curve_comes_back_up_to_its_checkpoint(tmp_path):
    points = [Point(1, 2.0, 0.1, 1e-5), Point(2, 1.5, 0.2, 2e-5, 0.3, 0.6), Point(3, 1.0, 0.2, 2e-5)]
    curve.write(tmp_path / "curve.json", points)
    assert curve.read(tmp_path / "curve.json", until=2) == points[:2]
    assert curve.read(tmp_path / "none.json", until=2) == []


def test_a_curve_is_drawn(tmp_path):
    pytest.importorskip("matplotlib", reason="the plot needs the extra bench")
    curve.draw(tmp_path / "curve.png", [Point(1, 2.0, 0.1, 1e-5), Point(2, 1.5, 0.2, 2e-5, 0.3, 0.6)])
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_smoothing_is_a_mean_over_what_came_before():
    assert curve.smoothed([1.0, 3.0, 5.0], width=2) == [1.0, 2.0, 4.0]
