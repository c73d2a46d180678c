"""The ``mnemic`` format: mnemic's own export, from which a memory is written back as it was.

Its first line says what it is. The other lines are messages, in the shape that ``Memory.add`` takes, and what was made
of them. A user who has a memory already gets the messages, and the notes that somebody else wrote, as from ``jsonl``.
"""

from __future__ import annotations

from collections.abc import Iterator

from mnemic.importers import jsonl
from mnemic.importers.files import SourceFile, parse
from mnemic.importers.records import Exported, Record, Skipped
from mnemic.types import Json


def read(file: SourceFile) -> Iterator[Record]:
    """Yield the export, to be written back or merged."""
    yield Exported(lambda: _lines(file), lambda: jsonl.read(file))


def is_header(value: Json) -> bool:
    """Whether a value is the first line of an export."""
    return isinstance(value, dict) and value.keys() == {"mnemic"} and isinstance(value["mnemic"], dict)


def _lines(file: SourceFile) -> Iterator[tuple[int, dict[str, Json]] | Skipped]:
    for line in file.lines():
        if isinstance(line, Skipped):
            yield line
            continue
        try:
            value = parse(line.text)
        except ValueError:
            value = None
        yield (line.number, value) if isinstance(value, dict) else Skipped("not JSON", f"line {line.number}")
