"""Every claim on the pages of durability and of threats names tests that there are."""

from __future__ import annotations

import ast
import re

import pytest
from test_docs import DOCS, ROOT

_TEST = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")


@pytest.mark.parametrize("page", ["durability.md", "security.md"])
def test_the_tests_that_show_it_exist(page):
    text = (DOCS / page).read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ") and line.count("|") == 4]
    shown = [row for row in rows if not row.startswith(("| ---", "| promise", "| threat"))]
    assert len(shown) >= 10
    for row in shown:
        named = _TEST.findall(row)
        assert named, row
        for path, name in named:
            tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
            tests = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
            assert not name or name in tests, f"{path}::{name}"
