"""What fuzzing found (``fuzz/``), and that its targets hold for some inputs without the fuzzer."""

from __future__ import annotations

import importlib
import json
import random

import pytest

from mnemic import Memory
from mnemic.importers import load, read
from mnemic.importers.storable import UNFIT
from mnemic.prompts import answer
from mnemic.protocols import Reply


def test_an_answer_rests_on_the_sources_that_stand_beside_it():
    """The last object has a field of that name, but no answer in it: its sources are not the answer's."""
    text = '{"answer": "Kyoto", "sources": [1]}\n{"answer": null, "sources": [2, 3]}'
    found = answer.parse(Reply(text, "stop", 1, 1), evidence=5)
    assert (found.text, found.sources) == ("Kyoto", (0,))


DEEP = json.loads("[" * 80 + "]" * 80)


@pytest.mark.parametrize("odd", [10**310, float("inf"), DEEP], ids=["large", "infinite", "deep"])
def test_a_field_that_cannot_be_kept_costs_itself_and_no_words(tmp_path, odd):
    """It cost all messages of its conversation: their metadata was refused with it."""
    said = [
        {"role": "user", "content": "I keep bees.", "metadata": {"odd": odd, "mood": "glad"}, "extra": odd},
        {"role": "assistant", "content": "How many hives?", "id": "m2"},
    ]
    written = json.dumps([{"session_id": "s", "messages": said, "metadata": {"odd": odd, "place": "roof"}}])
    (tmp_path / "chat.json").write_text(written.replace("Infinity", "1e999"))
    with Memory.open(tmp_path / "m.db", embedder=None) as memory:
        report = load(read(tmp_path / "chat.json"), memory, user_id="ana")
        turns = memory.get_all(user_id="ana")
    assert [turn.text for turn in turns] == ["I keep bees.", "How many hives?"]
    assert [dict(turn.metadata) for turn in turns] == [{"place": "roof", "mood": "glad"}, {"place": "roof"}]
    assert report.messages == report.new == 2
    assert {reason: count for reason, (count, _) in report.skipped.items()} == {UNFIT: 3}


@pytest.mark.parametrize("name", ["messages", "importers", "replies", "filters", "times"])
def test_a_target_holds_for_its_seeds_and_for_random_bytes(name):
    pytest.importorskip("atheris", reason="the fuzzer is there for Linux alone")
    target = importlib.import_module(f"fuzz.{name}")
    some = random.Random(name)
    for data in (*target.SEEDS, *(some.randbytes(some.randint(0, 600)) for _ in range(60))):
        target.check(data)
