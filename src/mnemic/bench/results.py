"""Files of results: the summaries as JSON, and beside them, one JSON line each, the rows they were made from.

The JSON is ``{"mnemic": version, "summaries": […], "rows": "results.rows.jsonl"}``, ``rows`` only where that file was
written; it is large, and whoever keeps the JSON alone can still compare by intervals. Each of its lines is one ``Row``
with ``summary``, the place in ``summaries`` of the one it belongs to. Both hold ids and numbers, no text of a data set.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, cast, get_args

import mnemic
from mnemic.bench.provenance import Provenance
from mnemic.bench.records import Half, Level, Outcome, Row, Usage
from mnemic.bench.summary import Summary, summarise
from mnemic.errors import InvalidFile
from mnemic.importers.files import Line, SourceFile, parse

_OF_MODELS = frozenset({"model_ms", "usage"})
_MAY_LACK = _OF_MODELS | {"probabilities"}
_ROW_FIELDS = frozenset(field.name for field in fields(Row))


@dataclass(frozen=True, slots=True)
class Results:
    """What a file of results holds.

    Attributes:
        version: Of the mnemic that wrote it; empty for a bare summary.
        summaries: In the file's order.
        rows: For each summary its rows; empty where there are none beside the file.
    """

    version: str
    summaries: tuple[Summary, ...]
    rows: tuple[tuple[Row, ...], ...]


def save(
    folder: Path,
    outcomes: Sequence[Outcome],
    *,
    name: str = "results",
    rows: bool = True,
    by_conversation: bool = False,
    made: Provenance | None = None,
) -> Path:
    """Write outcomes to ``<folder>/<name>.json``, and their rows to ``<name>.rows.jsonl``; older ones are replaced.

    Args:
        folder: Made if need be.
        outcomes: In the order of the file.
        name: Of the files, without ending.
        rows: False writes the summaries only; a file of rows from before is removed, for it is of other outcomes.
        by_conversation: See ``summarise``.
        made: See ``summarise``.

    Returns:
        Where the JSON is.

    Raises:
        InvalidFile: Nothing can be written there.
    """
    made = made or Provenance.now()
    path, beside = folder / f"{name}.json", folder / f"{name}.rows.jsonl"
    rows = rows and any(outcome.rows for outcome in outcomes)
    summaries = [summarise(outcome, by_conversation=by_conversation, made=made) for outcome in outcomes]
    record = {"mnemic": mnemic.__version__, "summaries": summaries, **({"rows": beside.name} if rows else {})}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        beside.unlink(missing_ok=True)
        if rows:
            with beside.open("w", encoding="utf-8", newline="\n") as stream:
                stream.writelines(
                    json.dumps({"summary": place, **_row_as_json(row)}, allow_nan=False) + "\n"
                    for place, outcome in enumerate(outcomes)
                    for row in outcome.rows
                )
        path.write_text(json.dumps(record, indent=1, allow_nan=False) + "\n", encoding="utf-8", newline="\n")
    except OSError as error:
        raise InvalidFile(f"{path} cannot be written ({error.strerror}); give another folder") from error
    return path


def load(path: Path) -> Results:
    """Read a file that ``save`` wrote, or one summary as ``--json`` prints it.

    Raises:
        InvalidFile: It is missing, not JSON, neither of the two, or its rows are damaged.
    """
    if path.is_dir():
        raise InvalidFile(f"{path} is a folder; name the file of results in it, for example {path / 'results.json'}")
    record = SourceFile.at(path).json()
    if not isinstance(record, dict):
        raise InvalidFile(f"{path}: is JSON, but no file of results; make one with mnemic bench … --json")
    if "trials" in record:
        raise InvalidFile(f"{path}: means over trials, without intervals; give the file that --output wrote of them")
    if "summaries" not in record and "dataset" in record:
        return Results("", (_summary(record, path),), ((),))
    summaries = record.get("summaries")
    version = record.get("mnemic")
    if not isinstance(summaries, list) or not isinstance(version, str):
        raise InvalidFile(f"{path}: is JSON, but has no 'summaries' and 'mnemic'; make it with mnemic bench … --report")
    found = tuple(_summary(summary, path) for summary in summaries)
    beside = record.get("rows")
    if beside is None:
        return Results(version, found, ((),) * len(found))
    if not isinstance(beside, str) or Path(beside).name != beside:
        raise InvalidFile(f"{path}: 'rows' must be the name of a file beside it, not {beside!r}")
    rows = path.parent / beside
    return Results(version, found, _rows(rows, len(found)) if rows.exists() else ((),) * len(found))


def _summary(summary: object, path: Path) -> Summary:
    named = cast("Summary", summary) if isinstance(summary, dict) else {}
    for key in ("dataset", "split", "system", "gold", "checksum"):
        if not isinstance(named.get(key), str):
            raise InvalidFile(f"{path}: a summary has no {key!r}; make the file again with mnemic bench")
    return named


def _rows(path: Path, summaries: int) -> tuple[tuple[Row, ...], ...]:
    rows: list[list[Row]] = [[] for _ in range(summaries)]
    for line in SourceFile.at(path).lines():
        if not isinstance(line, Line):
            raise InvalidFile(f"{path}, {line.where}: {line.reason}")
        try:
            record = cast("dict[str, Any]", parse(line.text))
            place = range(summaries)[int(record.pop("summary"))]
            rows[place].append(row_from_json(record))
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise InvalidFile(
                f"{path}, line {line.number}: is not a row of results ({error}); make the file again with mnemic bench"
            ) from error
    return tuple(map(tuple, rows))


def _row_as_json(row: Row) -> dict[str, Any]:
    """A row's fields; those about language models only where one was asked, probabilities to four digits."""
    fields = {name: value for name, value in asdict(row).items() if row.usage or name not in _OF_MODELS}
    said = fields.pop("probabilities")
    return {**fields, "probabilities": [round(one, 4) for one in said]} if said else fields


def row_from_json(record: Mapping[str, Any]) -> Row:
    """A row, from the JSON object that ``dataclasses.asdict`` makes of it.

    Raises:
        ValueError, TypeError, AttributeError: It is no such object.
    """
    if odd := _ROW_FIELDS.symmetric_difference(record) - _MAY_LACK:
        raise ValueError(f"missing or unknown: {', '.join(sorted(odd))}")
    if record["level"] not in get_args(Level) or record["half"] not in get_args(Half):
        raise ValueError(f"level {record['level']!r}, half {record['half']!r}")
    read: dict[str, Any] = {
        **record,
        "ranks": _ranks(record["ranks"]),
        "session_ranks": _ranks(record["session_ranks"]),
        "tokens": {int(depth): int(count) for depth, count in record["tokens"].items()},
        "probabilities": tuple(map(float, record.get("probabilities", ()))),
        "usage": {purpose: Usage(**one) for purpose, one in record.get("usage", {}).items()},
    }
    return Row(**read)


def _ranks(ranks: Sequence[int | None]) -> tuple[int | None, ...]:
    return tuple(None if rank is None else int(rank) for rank in ranks)
