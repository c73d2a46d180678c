"""``make audit``: nothing found is no good news where nobody was asked."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

_SPEC = importlib.util.spec_from_file_location("audit", Path(__file__).parents[2] / "scripts" / "audit.py")
assert _SPEC is not None
assert _SPEC.loader is not None
audit = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(audit)

CLEAN = {"name": "a", "version": "1", "vulns": []}
WEAK = {"name": "b", "version": "2", "vulns": [{"id": "GHSA-x", "fix_versions": ["2.1"]}]}
HOPELESS = {"name": "d", "version": "4", "vulns": [{"id": "GHSA-y", "fix_versions": []}]}
UNKNOWN = {"name": "c", "skip_reason": "not found"}


@pytest.mark.parametrize(
    ("found", "status", "said"),
    [
        ([CLEAN], 0, ["1 packages looked up, 0 weaknesses known"]),
        ([CLEAN, UNKNOWN], 0, ["1 packages looked up, 0 weaknesses known", "not looked up: c"]),
        ([CLEAN, WEAK], 1, ["b 2: GHSA-x, mended in 2.1", "2 packages looked up, 1 weaknesses known"]),
        ([HOPELESS], 1, ["d 4: GHSA-y, mended in no version yet", "1 packages looked up, 1 weaknesses known"]),
    ],
)
def test_what_is_known(found, status, said):
    assert audit.verdict(found) == (status, "\n".join(said))


@pytest.mark.parametrize("found", [[], [UNKNOWN, UNKNOWN]])
def test_nothing_looked_up_is_no_clean_bill(found):
    status, said = audit.verdict(found)
    assert status == audit.SILENT
    assert said.startswith("nothing was looked up")


@pytest.mark.parametrize(
    ("written", "options", "status"),
    [
        (json.dumps({"dependencies": [CLEAN]}), [], 0),
        (json.dumps({"dependencies": [WEAK]}), ["--if-answered"], 1),
        (json.dumps({"dependencies": [UNKNOWN]}), [], 3),
        (json.dumps({"dependencies": [UNKNOWN]}), ["--if-answered"], 0),
        ("", [], 3),
        ("", ["--if-answered"], 0),
    ],
)
def test_the_exit_status(tmp_path, capsys, written, options, status):
    program = tmp_path / "pip-audit"
    program.write_text(f"#!{sys.executable}\nimport sys\nprint({written!r})\nprint('nobody there', file=sys.stderr)\n")
    program.chmod(0o755)
    assert audit.main(str(program), str(tmp_path), *options) == status
    said = capsys.readouterr().out
    assert ("nobody there" in said) == (not written)
