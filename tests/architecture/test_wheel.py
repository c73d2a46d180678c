"""The wheel: the same bytes from the same source, whenever and wherever it is built."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys

import pytest

from conftest import ROOT


def test_two_builds_are_byte_for_byte_alike(tmp_path):
    pytest.importorskip("hatchling", reason="the build backend is not installed")
    digests = []
    for number, moment in ((1, 1_000_000_000), (2, 1_700_000_000)):
        source = tmp_path / f"source {number}"
        shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copyfile(ROOT / name, source / name)
        for path in source.rglob("*"):
            os.utime(path, (moment, moment))
        built = subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / f"wheel {number}")],
            cwd=source,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert built.returncode == 0, built.stderr
        [wheel] = (tmp_path / f"wheel {number}").glob("*.whl")
        digests.append(hashlib.sha256(wheel.read_bytes()).hexdigest())
    assert digests[0] == digests[1]
