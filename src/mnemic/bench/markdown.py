"""Markdown of what may be anything: names, settings and numbers of results."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Sequence

from mnemic.bench.compare_text import table as padded
from mnemic.bench.tables import Table
from mnemic.types import Json

_MARKS = re.compile(r"[\\`*_{}\[\]<>#~$&]")
"""What begins something in CommonMark, GitHub's tables, formulas or HTML; a table's bars are its own affair."""
_BREAKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_TURNING = re.compile(r"[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_FENCE = re.compile(r"`{3,}")


def plain(text: str) -> str:
    """Text on one line that Markdown shows as it is, inside a table of ``table`` or in a paragraph of one's own."""
    return _MARKS.sub(lambda mark: f"\\{mark[0]}", _line(text))


def table(found: Table) -> Iterator[str]:
    """The lines of a table, legible as plain text too, with the best numbers in bold.

    Headings and the first column may hold anything; the other cells are numbers, and stay as they are.
    """
    rows = [
        [plain(cells[0]), *(_strong(cell) if (row, n) in found.best else cell for n, cell in enumerate(cells[1:], 1))]
        for row, cells in enumerate(found.rows)
    ]
    return padded([plain(head) for head in found.heads], rows)


def picture(name: str, what: str) -> str:
    """A picture that lies beside the page.

    Args:
        name: Of its file: letters, digits, ``-`` and ``.``.
        what: What it shows, for those who do not see it.
    """
    return f"![{plain(what)}]({name})"


def folded(title: str, value: Json) -> Iterator[str]:
    """A JSON value that opens at a click."""
    text = json.dumps(value, indent=1, sort_keys=True)
    fence = "`" * max(3, 1 + max((len(ticks[0]) for ticks in _FENCE.finditer(text)), default=0))
    yield from (
        f"<details><summary>{html.escape(_line(title))}</summary>",
        "",
        f"{fence}json",
        *text.splitlines(),
        fence,
        "",
    )
    yield "</details>"


def bullets(lines: Iterable[tuple[str, str]]) -> Iterator[str]:
    """A list of terms and what they mean."""
    return (f"- **{plain(term)}**: {plain(meaning)}" for term, meaning in lines)


def joined(words: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def _line(text: str) -> str:
    return _TURNING.sub("\ufffd", _BREAKS.sub(" ", text).strip())


def _strong(cell: str) -> str:
    """The number in bold, its interval not."""
    value, bracket, rest = cell.partition(" [")
    return f"**{value}**{bracket}{rest}"
