"""A file of conversations whose format is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from mnemic.importers import (
    chatgpt,
    claude,
    jsonl,
    langgraph,
    locomo,
    longmemeval,
    mem0,
    messages,
    own,
    personamem,
    slack,
    table,
    text,
    whatsapp,
)
from mnemic.importers.detect import Format, detect
from mnemic.importers.files import DateOrder, SourceFile, utf8
from mnemic.importers.records import Record

FORMATS: Mapping[Format, Callable[[SourceFile], Iterator[Record]]] = {
    "messages": messages.read,
    "jsonl": jsonl.read,
    "text": text.read,
    "csv": table.read,
    "chatgpt": chatgpt.read,
    "claude": claude.read,
    "slack": slack.read,
    "whatsapp": whatsapp.read,
    "mem0": mem0.read,
    "langgraph": langgraph.read,
    "mnemic": own.read,
    "locomo": locomo.read,
    "personamem": personamem.read,
    "longmemeval": longmemeval.read,
}


@dataclass(frozen=True, slots=True)
class Source:
    """A file whose format is known; iterating reads it, each time from its beginning.

    Attributes:
        file: The file.
        format: What it is read as.
    """

    file: SourceFile
    format: Format

    @property
    def formats(self) -> dict[str, Format]:
        """The file's name -> what it is read as."""
        return {utf8(self.file.path.name): self.format}

    @property
    def names_users(self) -> bool:
        """Whether every conversation of the format says whose it is."""
        return self.format in ("locomo", "personamem", "longmemeval")

    def __iter__(self) -> Iterator[Record]:
        """Read the file's conversations, in order.

        Raises:
            InvalidFile: The file as a whole is not what its format says.
        """
        return FORMATS[self.format](self.file)


def read(
    path: str | Path,
    format: Format | None = None,
    *,
    session: str | None = None,
    columns: Mapping[str, str] | None = None,
    date_order: DateOrder | None = None,
) -> Source:
    """Open a file of conversations.

    Args:
        path: Plain, gzip or an export's zip file, UTF-8.
        format: Its format; told by its content when None.
        session: Names the sessions that the file does not name; the file's own name by default.
        columns: Of CSV: field of a message (``content``, ``name``, …) -> column.
        date_order: How ``3/4/2024`` is read where nothing in the file tells.

    Raises:
        InvalidFile: It cannot be read, or its format cannot be told.
    """
    file = SourceFile.at(path, session=session, columns=columns, date_order=date_order)
    return Source(file, format or ("csv" if columns else detect(file)))
