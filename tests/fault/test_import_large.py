"""A large export: memory does not grow with it, and kill -9 costs nothing. At 100 MB: scripts/import_large.py."""

from __future__ import annotations

import importlib.util
import tracemalloc
from pathlib import Path

import pytest

import chatgpt_kit
import dumps_kit
from mnemic.importers import detect, load, read, survey
from mnemic.memory import Memory

ROOT = Path(__file__).resolve().parents[2]


def script():
    spec = importlib.util.spec_from_file_location("import_large", ROOT / "scripts" / "import_large.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def surveyed(path):
    """What reading a file finds, and the most memory that it took, in bytes."""
    survey(read(path))  # what is loaded once does not count
    tracemalloc.start()
    try:
        report = survey(read(path))
        return report, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_reading_takes_a_small_part_of_the_file(tmp_path):
    chatgpt_kit.write(tmp_path / "conversations.json", 5_000_000)
    report, peak = surveyed(tmp_path / "conversations.json")
    assert report.messages > 3000
    assert peak < 0.4 * 5_000_000


@pytest.mark.parametrize(("kind", "indent"), [*((kind, None) for kind in sorted(dumps_kit.KINDS)), ("messages", 1)])
def test_so_does_reading_one_json_object(tmp_path, monkeypatch, kind, indent):
    count = dumps_kit.write(tmp_path / "dump.json", kind, 4_000_000, indent=indent)
    monkeypatch.setattr(detect, "_LINE", 1 << 16)  # as much smaller than the real one as the file is
    source = read(tmp_path / "dump.json")
    report, peak = surveyed(tmp_path / "dump.json")
    assert (source.format, report.messages, report.skipped) == (dumps_kit.KINDS[kind].format, count, {})
    assert count > 800
    assert peak < 0.5 * 4_000_000


class Stopped(Exception):
    """Stands for what ends an import in the midst."""


@pytest.mark.parametrize("kind", ["mem0", "messages"])
def test_an_import_of_one_object_goes_on_where_it_was_ended(tmp_path, kind):
    count = dumps_kit.write(tmp_path / "dump.json", kind, 320_000)
    done = 0

    def stop(messages):
        nonlocal done
        done += messages
        if done > count / 2:
            raise Stopped

    with Memory.open(tmp_path / "memory.db", embedder=None, workers=0) as memory:
        with pytest.raises(Stopped):
            load(read(tmp_path / "dump.json"), memory, user_id="ana", advance=stop)
        before = memory.status(user_id="ana").counts.turns
        report = load(read(tmp_path / "dump.json"), memory, user_id="ana")
        assert 0 < before < count
        assert (report.messages, report.new, report.skipped) == (count, count - before, {})
        assert len({turn.turn_id for turn in memory.get_all(user_id="ana")}) == count


def test_kill_9_in_the_midst_of_a_large_import_loses_nothing(tmp_path):
    found = script().measured(tmp_path, 1_000_000, 0.3)
    assert (found["lost"], found["twice"]) == (0, 0)
    assert 0 < found["killed_after_turns"] < found["turns"]
    assert found["waiting_for_vectors"] == found["turns"]
    assert found["found_by_words_at_once"] is True
    assert found["peak_rss_bytes"] < 500_000_000
