"""The page docs/faults.md: which rows of the fault catalogue are tested, and where. Run: python scripts/fault_table.py.

The catalogue (../shared/faults/faults.md) lists faults that users of comparable systems reported; a test says which row
it stands for by ``@pytest.mark.fault("B004")``. Nothing here is typed in by hand but why a row cannot apply.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
CATALOGUE = ROOT.parent / "shared" / "faults" / "faults.md"
PAGE = ROOT / "docs" / "faults.md"

CANNOT_APPLY: Mapping[str, str] = {}
"""Row -> why nothing of its kind can happen here."""

_ROW = re.compile(r"^\| (?P<id>B\d{3}) \| (?P<rest>.*) \|$")
_CELLS = re.compile(r"(?<!\\) \| ")
_HEAD = """\
# Faults that others had

Users of comparable systems reported these. Each stands for its whole kind: the tests assert the right behaviour, and
run with all others. This page is made by `python scripts/fault_table.py` from the tests' own marks; a test says whether
it is current.
"""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the catalogue: its id, category, what went wrong elsewhere, and how bad it is."""

    id: str
    category: str
    symptom: str
    severity: str


def rows(catalogue: str) -> list[Row]:
    """The rows of the catalogue, in order."""
    found: list[Row] = []
    category = ""
    for line in catalogue.splitlines():
        if line.startswith("## "):
            category = line.removeprefix("## ")
        elif match := _ROW.match(line):
            symptom, *_, severity = _CELLS.split(match["rest"])
            found.append(Row(match["id"], category, symptom, severity))
    return found


def marked(tests: Path) -> dict[str, list[str]]:
    """Row -> the tests that stand for it, each as ``file.py::name``, in order."""
    found: dict[str, list[str]] = {}
    for path in sorted(tests.rglob("test_*.py")):
        for name, row in _marks(ast.parse(path.read_text(encoding="utf-8"))):
            found.setdefault(row, []).append(f"{path.relative_to(tests.parent).as_posix()}::{name}")
    return {row: list(dict.fromkeys(names)) for row, names in found.items()}


def _marks(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.fault":
                    yield node.name, ast.literal_eval(mark.args[0])


def page(catalogue: Sequence[Row], tests: Mapping[str, Sequence[str]]) -> str:
    """The page's text."""
    categories = list(dict.fromkeys(row.category for row in catalogue))
    parts = [_HEAD, _totals(catalogue, categories, tests)]
    for category in categories:
        parts.append(
            f"## {category}\n\n| row | what went wrong elsewhere | severity | here |\n| --- | --- | --- | --- |"
        )
        parts[-1] += "".join(f"\n{_line(row, tests)}" for row in catalogue if row.category == category) + "\n"
    return "\n".join(parts)


def _totals(catalogue: Sequence[Row], categories: Sequence[str], tests: Mapping[str, Sequence[str]]) -> str:
    lines = ["| category | rows | tested | cannot apply | open |", "| --- | --- | --- | --- | --- |"]
    for name in (*categories, "all"):
        its = [row for row in catalogue if name in (row.category, "all")]
        tested = sum(row.id in tests for row in its)
        moot = sum(row.id not in tests and row.id in CANNOT_APPLY for row in its)
        lines.append(f"| {name} | {len(its)} | {tested} | {moot} | {len(its) - tested - moot} |")
    return "\n".join(lines) + "\n"


def _line(row: Row, tests: Mapping[str, Sequence[str]]) -> str:
    return f"| {row.id} | {_escaped(row.symptom)} | {row.severity} | {_here(row, tests)} |"


def _here(row: Row, tests: Mapping[str, Sequence[str]]) -> str:
    if row.id in tests:
        return "<br>".join(f"`{name}`" for name in tests[row.id])
    return f"cannot apply: {CANNOT_APPLY[row.id]}" if row.id in CANNOT_APPLY else "**open**"


def _escaped(text: str) -> str:
    return text.replace("<", "&lt;")


if __name__ == "__main__":
    PAGE.write_text(page(rows(CATALOGUE.read_text(encoding="utf-8")), marked(ROOT / "tests")), encoding="utf-8")
