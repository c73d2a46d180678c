"""A large export: memory does not grow with it, and kill -9 costs nothing. At 100 MB: scripts/import_large.py."""

from __future__ import annotations

import importlib.util
import tracemalloc
from pathlib import Path

import chatgpt_kit
from mnemic.importers import read, survey

ROOT = Path(__file__).resolve().parents[2]


def script():
    spec = importlib.util.spec_from_file_location("import_large", ROOT / "scripts" / "import_large.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_reading_takes_a_small_part_of_the_file(tmp_path):
    chatgpt_kit.write(tmp_path / "conversations.json", 5_000_000)
    survey(read(tmp_path / "conversations.json"))  # what is loaded once does not count
    tracemalloc.start()
    try:
        report = survey(read(tmp_path / "conversations.json"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert report.messages > 3000
    assert peak < 0.4 * 5_000_000


def test_kill_9_in_the_midst_of_a_large_import_loses_nothing(tmp_path):
    found = script().measured(tmp_path, 1_000_000, 0.3)
    assert (found["lost"], found["twice"]) == (0, 0)
    assert 0 < found["killed_after_turns"] < found["turns"]
    assert found["waiting_for_vectors"] == found["turns"]
    assert found["found_by_words_at_once"] is True
    assert found["peak_rss_bytes"] < 500_000_000
