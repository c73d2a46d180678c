"""What a report's numbers were made of, in words."""

from __future__ import annotations

from collections.abc import Iterable

from mnemic.bench.columns import Record, at, inner
from mnemic.bench.systems import describe
from mnemic.errors import InvalidInput


def distinct(records: Iterable[Record], key: str) -> list[str]:
    """Different values of one key, in order."""
    return list(dict.fromkeys(str(value) for record in records if (value := record.get(key)) is not None))


def versions(records: Iterable[Record]) -> set[str]:
    """Packages with their versions."""
    return {f"{name} {version}" for record in records for name, version in inner(record, "versions").items()}


def bootstrap(record: Record) -> str:
    """How intervals were drawn."""
    return (
        f"{at(record, 'bootstrap', 'resamples')} resamples, each drawing one {at(record, 'bootstrap', 'unit')} after "
        f"the other, seed {at(record, 'bootstrap', 'seed')}"
    )


def what(summary: Record) -> str:
    """What a system is."""
    try:
        return describe(str(summary.get("system")))
    except InvalidInput:
        return "not a system of this version"
