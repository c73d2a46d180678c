"""An index that went to disk and back equals the one that did not, and goes on like it, whatever happens."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_kit import by_id, note_words, question, ranked, words
from life_kit import VOCABULARY, Life, operation
from mnemic.config import Fusion
from mnemic.index import Snapshots, UserIndex, told
from mnemic.protocols import Mark

MARK = Mark(1, 0, 0, 0, 0)
happenings = st.lists(operation, max_size=10)


def there_and_back(index: UserIndex, folder: Path) -> UserIndex:
    held = Snapshots(folder, max_bytes=1 << 30)
    assert held.write("u", index, MARK, "fp")
    found = held.read("u", lambda mark, fingerprint: (mark, fingerprint) == (MARK, "fp"))
    assert found is not None
    return found


def scores(index: UserIndex) -> dict[str, float]:
    graph = index.graph()
    return by_id(graph, ranked(graph, question(graph, "cat lisbon tea", "cat", "lisbon", named=["Ana"]), Fusion()))


@settings(max_examples=60, deadline=None)
@given(happenings, happenings)
def test_an_index_from_disk_goes_on_like_the_one_that_was_kept(before: list[Any], after: list[Any]) -> None:
    life = Life()
    for name, *details in before:
        life.happen(name, *details)
    life.happen("sync")
    with TemporaryDirectory() as folder:
        back = there_and_back(life.index, Path(folder))
        assert back.revision == life.index.revision
        assert back.turns == life.index.turns
        assert told(back.graph()) == told(life.index.graph())
        assert scores(back) == scores(life.index)
        for name, *details in after:
            life.happen(name, *details)
        back.apply(life.world.delta(back.revision))
        life.happen("sync")
        fresh = life.world.index()
        assert told(back.graph()) == told(fresh.graph())
        for query in [[word.lower()] for word in VOCABULARY]:
            assert words(back.graph(), query) == words(fresh.graph(), query)
            assert note_words(back.graph(), query) == pytest.approx(note_words(fresh.graph(), query))
        assert scores(back) == pytest.approx(scores(fresh), abs=1e-9)


def test_an_index_that_grows_beyond_the_room_of_its_file_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    life = Life()
    life.happen("add", [(["CAT naps"], "s1", "Ana")], False, False)
    life.happen("sync")
    back = there_and_back(life.index, tmp_path)
    [file] = tmp_path.iterdir()
    kept = file.read_bytes()
    for number in range(40):
        life.happen("add", [([f"TRAIN {number}"], "s1", "Bo")], False, False)
    life.happen("remove", [0])
    back.apply(life.world.delta(back.revision))
    assert told(back.graph()) == told(life.world.graph())
    assert file.read_bytes() == kept
    assert np.isfinite(back.nbytes)
