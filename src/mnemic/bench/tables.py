"""The tables of a report, as plain cells; a table for people is these, rendered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from mnemic.bench.columns import OVERVIEW, Column, Record, ends, inner, number, small
from mnemic.types import Json

MISSING: Final = "–"


@dataclass(frozen=True, slots=True)
class Table:
    """Cells of text, not escaped for anything; ``best`` holds places (row, column) of the best numbers."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    best: frozenset[tuple[int, int]] = frozenset()


def present(records: Iterable[Record], columns: Iterable[Column]) -> list[Column]:
    """The columns in which somebody has a number."""
    given = list(records)
    return [column for column in columns if any(number(record, *column.path) is not None for record in given)]


def filled(systems: Mapping[str, Record], columns: Iterable[Column], *, intervals: bool = True) -> Table:
    """Fill a table: a row for each system, without the columns in which nobody has a number.

    Args:
        systems: Name -> where its numbers lie.
        columns: In order, after the names.
        intervals: False leaves them out.
    """
    records = list(systems.values())
    kept = present(records, columns)
    cells = tuple((name, *(_cell(record, column, intervals) for column in kept)) for name, record in systems.items())
    best = {(row, place + 1) for place, column in enumerate(kept) for row in _best(records, column)}
    return Table(("system", *(column.head for column in kept)), cells, frozenset(best))


def speed(records: Sequence[Record], columns: Sequence[Column]) -> Table:
    """Every measurement, a row each; the best of a column is of one size only, so none is marked."""
    rows = tuple((_system(record), *(_cell(record, column, False) for column in columns)) for record in records)
    return Table(("system", *(column.head for column in columns)), rows)


def multiples(records: Sequence[Record], columns: Sequence[Column]) -> Table | None:
    """Each measurement divided by the first system's at the same size; None where there is nothing to divide."""
    first = {_size(record): record for record in records if _system(record) == _system(records[0])}
    others = [record for record in records if _system(record) != _system(records[0]) and _size(record) in first]
    costs = [column for column in columns if column.path not in (("users",), ("turns",))]
    if not others:
        return None
    rows = tuple(
        (
            _system(record),
            *(_cell(record, column, False) for column in columns if column not in costs),
            *(_multiple(number(record, *c.path), number(first[_size(record)], *c.path)) for c in costs),
        )
        for record in others
    )
    sizes = [column.head for column in columns if column not in costs]
    return Table(("system", *sizes, *(column.head for column in costs)), rows)


def usage(systems: Mapping[str, Record]) -> dict[str, Record]:
    """``system, purpose`` -> what was asked of a language model for it, to take everything in; then for searches."""
    return {
        f"{name}, {of}{purpose}": inner(record, part, "usage", purpose)
        for name, record in systems.items()
        for part, of in (("build", ""), ("asking", "searching: "))
        for purpose in inner(record, part, "usage")
    }


def failures(records: Sequence[Record]) -> list[tuple[str, str]]:
    """What could not be measured, as (system and size, reason)."""
    return [
        (f"{_system(record)}, {record.get('users')} × {record.get('turns')} turns", str(record.get("failed")))
        for record in records
        if record.get("failed") is not None
    ]


def deviations(trials: Mapping[str, Record]) -> Table:
    """The overview's columns as mean and standard deviation.

    Args:
        trials: System -> what ``trials.over_trials`` says of it.
    """
    kept = present([inner(record, "mean") for record in trials.values()], OVERVIEW)
    rows = tuple(
        (
            name,
            str(record.get("trials")),
            *(_spread(record, column) for column in kept),
        )
        for name, record in trials.items()
    )
    return Table(("system", "trials", *(column.head for column in kept)), rows)


def _spread(record: Record, column: Column) -> str:
    mean, deviation = number(record, "mean", *column.path), number(record, "std", *column.path)
    return MISSING if mean is None or deviation is None else f"{column.write(mean)} ± {column.write(deviation)}"


def _multiple(value: float | None, base: float | None) -> str:
    return MISSING if value is None or not base else f"{small(value / base)}×"


def _system(record: Record) -> str:
    return str(record.get("system"))


def _size(record: Record) -> tuple[Json, Json]:
    return record.get("users"), record.get("turns")


def _cell(record: Record, column: Column, intervals: bool) -> str:
    value = number(record, *column.path)
    if value is None:
        return MISSING
    between = ends(record, *column.interval) if column.interval and intervals else None
    written = column.write(value)
    return f"{written} [{column.write(between[0])}, {column.write(between[1])}]" if between else written


def _best(records: Sequence[Record], column: Column) -> list[int]:
    """The rows with the best number; none where they are all alike."""
    values = [number(record, *column.path) for record in records]
    given = {value for value in values if value is not None}
    if not column.best or len(given) < 2:
        return []
    return [row for row, value in enumerate(values) if value == max(given)]
