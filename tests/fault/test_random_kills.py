"""A few rounds of ``scripts/random_kills.py``; ``results/random_kills_*.json`` are two hundred on each store."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from postgres_kit import emptied

ROOT = Path(__file__).parents[2]
DATABASES = {"sqlite": lambda folder: folder / "m.db", "postgres": emptied}


@pytest.mark.fault("B125")
@pytest.mark.parametrize("kind", DATABASES)
def test_random_kills_lose_double_and_leave_nothing(kind, tmp_path):
    output = tmp_path / "result.json"
    arguments = [str(DATABASES[kind](tmp_path)), "--kills", "5", "--silence", "1", "--output", str(output)]
    command = [sys.executable, str(ROOT / "scripts" / "random_kills.py"), *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert ended.returncode == 0, ended.stderr
    result = json.loads(output.read_text())
    assert (result["problems"], result["counts"]["kills"], result["counts"]["settled"]) == ([], 10, 1)
    assert result["counts"]["begin"] > 0


@pytest.mark.parametrize("kind", DATABASES)
def test_two_hundred_rounds_on_each_store_found_nothing(kind):
    result = json.loads((ROOT / "results" / f"random_kills_{kind}.json").read_text())
    assert (result["store"], result["rounds"], result["problems"]) == (kind, 200, [])
    assert result["counts"]["kills"] == 400
