"""Several files of results as one: systems that were measured in different runs, for one report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from mnemic.bench import results
from mnemic.bench.columns import Record
from mnemic.bench.records import Row
from mnemic.bench.summary import Summary
from mnemic.errors import InvalidFile
from mnemic.importers.files import SourceFile
from mnemic.types import Json


@dataclass(slots=True)
class Gathered:
    """What the files hold together, in their order.

    Attributes:
        summaries: Of retrieval.
        rows: For each summary its rows, perhaps none.
        answers: Of replies.
        speed: Measurements of ``bench speed``; of a system at one size the last.
        sweeps: Setting -> its values, as text, each with the summary under it.
    """

    summaries: list[Summary] = field(default_factory=list[Summary])
    rows: list[tuple[Row, ...]] = field(default_factory=list[tuple[Row, ...]])
    answers: list[Record] = field(default_factory=list[Record])
    speed: list[Record] = field(default_factory=list[Record])
    sweeps: dict[str, list[tuple[str, Record]]] = field(default_factory=dict[str, list[tuple[str, Record]]])


def gather(paths: Iterable[Path]) -> Gathered:
    """Read files that ``--output`` or ``--report`` of any command of the benchmark wrote.

    Raises:
        InvalidFile: One is missing, damaged, or holds no results.
    """
    found = Gathered()
    for path in paths:
        _add(found, path)
    return found


def _add(found: Gathered, path: Path) -> None:
    record = {} if path.is_dir() else SourceFile.at(path).json()
    kept = cast("Mapping[str, Any]", record if isinstance(record, dict) else {})
    answers, speed = _records(kept, "answers", path), _records(kept, "speed", path)
    sweeps = kept.get("sweeps", {})
    if kept.get("summaries") or not (answers or speed or sweeps):
        read = results.load(path)  # which says what is wrong with a file that holds nothing else either
        found.summaries += read.summaries
        found.rows += read.rows
    found.answers += answers
    again = {_size(record) for record in speed}
    found.speed = [record for record in found.speed if _size(record) not in again] + speed
    try:
        for setting, values in sweeps.items():
            found.sweeps.setdefault(setting, []).extend((str(value), dict(one)) for value, one in values)
    except (AttributeError, TypeError, ValueError) as error:
        raise InvalidFile(f"{path}: 'sweeps' is damaged; make the file again with mnemic bench sweep") from error


def _size(record: Record) -> tuple[Json, ...]:
    return tuple(record.get(name) for name in ("system", "embedder", "users", "turns"))


def _records(record: Mapping[str, Any], key: str, path: Path) -> list[Record]:
    found = record.get(key, [])
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in cast("list[object]", found)):
        raise InvalidFile(f"{path}: {key!r} is damaged; make the file again with mnemic bench")
    return cast("list[Record]", found)
