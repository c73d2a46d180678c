"""What reading one format yields, before a split is taken from it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from mnemic.bench.records import Question
from mnemic.importers import Conversation, Record, Skipped
from mnemic.types import Json


@dataclass(slots=True)
class Parsed:
    """A whole file of a data set.

    Attributes:
        files: What was read, for the checksum; the file itself first.
        conversations: In the order of the file; each names its user.
        questions: In the order of the file.
        left_out: Reason -> how many things of the files were left out for it.
    """

    files: tuple[Path, ...]
    conversations: list[Conversation] = field(default_factory=list[Conversation])
    questions: list[Question] = field(default_factory=list[Question])
    left_out: Counter[str] = field(default_factory=Counter[str])

    def take(self, records: Iterable[Record]) -> None:
        """Keep the conversations of a reader, and count what it skipped."""
        for record in records:
            if isinstance(record, Conversation):
                self.conversations.append(record)
            elif isinstance(record, Skipped):
                self.left_out[record.reason] += 1


def as_text(value: Json) -> str | None:
    """An answer as text: some are numbers, ``2022``; None where there is none."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def listed(value: Json) -> list[Json]:
    """A field that should be a list: what it holds; nothing where it is none."""
    return value if isinstance(value, list) else []
