"""Writes the measured numbers of README.md from the results of ``mnemic bench``, between two comments.

    python scripts/readme_numbers.py            rewrites README.md
    python scripts/readme_numbers.py --check    changes nothing; fails where README.md and the results differ

The results come from ``make quality``. A test runs the check.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mnemic.bench import columns, markdown, report, tables
from mnemic.bench.columns import Column, Record, inner, number, share

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
RESULTS = {name: ROOT / "results" / name / "results.json" for name in ("locomo", "longmemeval", "speed")}
BEGIN = "<!-- numbers: written by scripts/readme_numbers.py from results/ -->"
END = "<!-- end of numbers -->"
HALVES = ("default", "rrf")
"""Whose numbers on the development and the test half stand side by side."""
SPEED = ("users", "turns", "add one, CPU ms", "search CPU ms p50", "resident MB", "MB on disk")
"""Columns of what was measured of speed."""


def block(found: Mapping[str, Any]) -> str:
    """The tables and sentences that stand between the comments; ``found`` has the JSON of each of ``RESULTS``."""
    locomo = [summary for summary in found["locomo"]["summaries"] if "+notes" not in summary["system"]]
    named = {summary["system"]: summary for summary in locomo}
    ours = named["default"]
    both = {name: named[name] for name in HALVES}
    sessions = {summary["system"]: summary for summary in found["longmemeval"]["summaries"]}
    speed = [record for record in found["speed"]["speed"] if "failed" not in record]
    return "\n\n".join(
        (
            f"All ten conversations, {whole(ours, 'n')} questions, with 95 % intervals:",
            report.readme_table(locomo),
            f"Relevance tells answerable questions from unanswerable ones with AUROC "
            f"{share(need(ours, 'abstention', 'auroc'))}. The halves apart, and plain rank fusion beside:",
            written(both, columns.halves("trace")),
            "`default` by category, fraction at 10:",
            written({"default": ours}, categories(ours)),
            cost(ours),
            f"LongMemEval_S, the {whole(sessions['default'], 'n')} answerable questions of the part to develop on, by "
            "session; so few that one question moves a number by several hundredths:",
            written(sessions, columns.sessions("trace")),
            "Cost as one user grows, and as more users come, without embedding, on made-up dialogue and a busy machine "
            "([results/speed](results/speed/report.md)):",
            written_table(tables.speed(speed, [column for column in columns.SPEED if column.head in SPEED])),
        )
    )


def categories(record: Record) -> list[Column]:
    """Both levels, a column for each category."""
    return [
        Column(f"{category}, {level}", "", ("by_category", category, level, "fraction", "10"), share)
        for level in ("trace", "turn")
        for category in inner(record, "by_category")
    ]


def cost(record: Record) -> str:
    """What taking the conversations in took, in a sentence."""
    users, spent = need(record, "build", "users"), need(record, "build", "cpu_s")
    embedding = need(record, "build", "embedding_cpu_s") / spent
    disk = need(record, "build", "bytes_on_disk") / users / 1e6
    return (
        f"Importing a conversation takes {spent / users:.1f} CPU-seconds on average ({embedding:.0%} of it in the "
        f"embedder) and {disk:.1f} MB on disk. Measured at commit {str(record['commit'])[:7]}."
    )


def need(record: Record, *path: str) -> float:
    """The number at a path. Raises KeyError where there is none."""
    found = number(record, *path)
    if found is None:
        raise KeyError(path)
    return found


def whole(record: Record, *path: str) -> str:
    return columns.whole(need(record, *path))


def written(systems: Mapping[str, Record], wanted: Sequence[Column]) -> str:
    return written_table(tables.filled(systems, wanted))


def written_table(table: tables.Table) -> str:
    return "\n".join(markdown.table(table))


def rewritten(readme: str, found: Mapping[str, Any]) -> str:
    """The README with the numbers of the results. Raises ValueError when it lacks the two comments."""
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"README.md has no lines {BEGIN!r} and {END!r}")
    return f"{before}{begin}\n{block(found)}\n{end}{after}"


def read() -> dict[str, Any]:
    """The JSON of each of ``RESULTS``."""
    return {name: json.loads(path.read_text(encoding="utf-8")) for name, path in RESULTS.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail where they differ")
    arguments = parser.parse_args()
    readme = README.read_text(encoding="utf-8")
    wanted = rewritten(readme, read())
    if arguments.check:
        sys.exit(0 if wanted == readme else "README.md and the results differ: python scripts/readme_numbers.py")
    README.write_text(wanted, encoding="utf-8")


if __name__ == "__main__":
    main()
