"""Writes the measured numbers of README.md from results/locomo_recall.json, between two comments.

    python scripts/readme_numbers.py            rewrites README.md
    python scripts/readme_numbers.py --check    changes nothing; fails where README.md and the results differ

The results come from ``make quality``. A test runs the check.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
RESULTS = ROOT / "results" / "locomo_recall.json"
BEGIN = "<!-- numbers: written by scripts/readme_numbers.py from results/locomo_recall.json -->"
END = "<!-- end of numbers -->"
CONFIGURATIONS = {
    "default": "`default`",
    "hero": "`hero`",
    "hero_spacy_paper": "`hero`, the paper's thresholds, spaCy cues",
}
DEPTHS = ("5", "10")


def block(report: dict[str, Any]) -> str:
    """The tables and sentences that stand between the comments."""
    ingest = report["ingest"]
    traces = [row["traces"] for row in ingest["conversations"]]
    return "\n".join(
        (
            *table(("configuration", *HEADS, "CPU per question, p50"), configurations(report)),
            "",
            "`default` on the test half, by the benchmark's categories:",
            "",
            *table(("category", "questions", *HEADS), categories(report["default"])),
            "",
            f"The test half has {report['default']['test']['n']} answerable questions, the development half "
            f"{report['default']['dev']['n']} (`default` there: {cells(report['default']['dev'])}). A conversation "
            f"has {min(traces)} to {max(traces)} traces. Importing one takes {ingest['cpu_s_mean']:.1f} CPU-seconds "
            f"on average ({ingest['embedder_share_mean']:.0%} of it in the embedder) and at most "
            f"{ingest['megabytes_max']:.1f} MB on disk. Measured at commit {report['commit']} with Python "
            f"{report['python']}.",
        )
    )


HEADS = ("fraction R@5", "R@10", "hit-any R@5", "R@10")


def configurations(report: dict[str, Any]) -> Iterator[list[str]]:
    for key, shown in CONFIGURATIONS.items():
        found = report[key]
        yield [shown, *recall(found["test"]), f"{found['query']['cpu_ms_p50']:.1f} ms"]


def categories(found: dict[str, Any]) -> Iterator[list[str]]:
    for category, numbers in found["test_by_category"].items():
        yield [category, str(numbers["n"]), *recall(numbers)]


def recall(numbers: dict[str, Any]) -> list[str]:
    return [share(numbers[kind][depth]) for kind in ("fraction", "hit_any") for depth in DEPTHS]


def cells(numbers: dict[str, Any]) -> str:
    found = recall(numbers)
    return f"{found[0]} / {found[1]} and {found[2]} / {found[3]}"


def share(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def table(heads: Iterable[str], rows: Iterable[list[str]]) -> Iterator[str]:
    heads = list(heads)
    yield line(heads)
    yield line(["---"] * len(heads))
    yield from map(line, rows)


def line(row: Iterable[str]) -> str:
    return f"| {' | '.join(row)} |"


def rewritten(readme: str, report: dict[str, Any]) -> str:
    """The README with the numbers of a report. Raises ValueError when it lacks the two comments."""
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"README.md has no lines {BEGIN!r} and {END!r}")
    return f"{before}{begin}\n{block(report)}\n{end}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail where they differ")
    parser.add_argument("--results", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    readme = README.read_text(encoding="utf-8")
    wanted = rewritten(readme, json.loads(arguments.results.read_text(encoding="utf-8")))
    if arguments.check:
        sys.exit(0 if wanted == readme else "README.md and the results differ: python scripts/readme_numbers.py")
    README.write_text(wanted, encoding="utf-8")


if __name__ == "__main__":
    main()
