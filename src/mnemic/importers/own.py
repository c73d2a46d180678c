"""The ``mnemic`` format: mnemic's own export, from which a memory is written back as it was.

Its first line says what it is. The other lines are messages, in the shape that ``Memory.add`` takes, and what was made
of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mnemic.importers import jsonl
from mnemic.importers.files import SourceFile
from mnemic.importers.records import Record
from mnemic.types import Json


def read(file: SourceFile) -> Iterator[Record]:
    """Yield the messages and given notes, for a memory that has others already."""
    return jsonl.read(file)


def is_header(value: Json) -> bool:
    """Whether a value is the first line of an export."""
    return isinstance(value, dict) and value.keys() == {"mnemic"} and isinstance(value["mnemic"], Mapping)
