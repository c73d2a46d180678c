"""What the status page shows: sizes, work of language models, what it took and may take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mnemic.service.inspector.words import counted, named, size
from mnemic.types import Allowance, Status

if TYPE_CHECKING:
    from mnemic.service.tenant_memory import TenantMemory


@dataclass(frozen=True, slots=True)
class Tile:
    """A number with its name."""

    name: str
    value: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Meter:
    """How much of a budget is spent, in percent; None where it does not add up."""

    name: str
    value: str
    percent: float | None


@dataclass(frozen=True, slots=True)
class Failure:
    """Work that was given up."""

    what: str
    reason: str


@dataclass(frozen=True, slots=True)
class Row:
    """What language models took for one purpose."""

    purpose: str
    model: str
    calls: str
    tokens_in: str
    tokens_out: str
    cost: str


@dataclass(frozen=True, slots=True)
class State:
    """The page.

    Attributes:
        queue: Of the work of language models: pending, running, done, failed.
        waits: Why pending work was put off.
        storage: Of the database; sizes only for whoever runs the server.
        quiet: Whether no language model does anything here, nor did.
    """

    tiles: tuple[Tile, ...]
    queue: tuple[Tile, ...]
    waits: tuple[str, ...]
    failures: tuple[Failure, ...]
    can_retry: bool
    meters: tuple[Meter, ...]
    spent: tuple[Row, ...]
    storage: tuple[Tile, ...]
    warnings: tuple[str, ...]
    quiet: bool


def read(memory: TenantMemory, user_id: str) -> State:
    """The state of a user's memory, and of the database as far as the key allows."""
    found = memory.status(user_id=user_id)
    work = found.enrichment
    queue = (("waiting", work.pending), ("under way", work.running), ("done", work.done), ("failed", work.failed))
    return State(
        tiles=tuple(_tiles(found)),
        queue=tuple(Tile(name, f"{count:,}") for name, count in queue),
        waits=work.waiting_for,
        failures=tuple(Failure(f"{one.kind} of {counted(one.traces, 'trace')}", one.reason) for one in work.failures),
        can_retry=bool(work.failed or work.waiting_for),
        meters=tuple(_meter(one) for one in found.allowances),
        spent=tuple(
            Row(
                one.purpose,
                named(found.models.get(one.purpose, "")),
                f"{one.calls:,}",
                f"{one.tokens_in:,}",
                f"{one.tokens_out:,}",
                _cost(one.cost, one.unpriced),
            )
            for one in found.spent
        ),
        storage=tuple(_storage(found, is_operator=memory.access.is_operator)),
        warnings=found.warnings,
        quiet=not (found.models or found.spent or any(count for _, count in queue)),
    )


def _tiles(found: Status) -> list[Tile]:
    counts = found.counts
    if counts is None:
        return []
    doubtful = f"{counts.unsupported:,} unsupported" if counts.unsupported else ""
    waiting = f"{counts.pending:,} without vectors yet" if counts.pending else ""
    return [
        Tile("messages", f"{counts.turns:,}"),
        Tile("sessions", f"{counts.sessions:,}"),
        Tile("traces", f"{counts.traces:,}", waiting),
        Tile("sentences", f"{counts.units:,}"),
        Tile("cues", f"{counts.cues:,}"),
        Tile("notes", f"{counts.notes:,}", doubtful),
    ]


def _storage(found: Status, *, is_operator: bool) -> list[Tile]:
    tiles = [
        Tile("embedder", named(found.embedder or "none yet")),
        Tile("its fingerprint", named(found.fingerprint or "none yet")),
        Tile("cues by", named(found.cue_extractor)),
    ]
    if is_operator:
        tiles.append(Tile("on disk", size(found.size_bytes), counted(found.users, "user")))
        tiles.append(Tile("index in memory", size(found.index_bytes)))
    if found.counts is not None:
        tiles.append(Tile("revision", f"{found.counts.revision:,}"))
    return tiles


def _meter(one: Allowance) -> Meter:
    scope = {"call": "A call", "user_day": "Today", "total": "In total"}[one.budget]
    limit = f"{_number(one.limit)} {one.unit}"
    if one.spent is None:
        return Meter(scope, f"at most {limit}", None)
    percent = 100.0 if one.limit <= 0 else min(100.0, 100 * one.spent / one.limit)
    return Meter(scope, f"{_number(one.spent)} of {limit}", round(percent, 1))


def _number(number: float) -> str:
    return f"{number:,.0f}" if number == int(number) else f"{number:,.4f}"


def _cost(cost: float, unpriced: int) -> str:
    if unpriced:
        return f"at least {cost:,.4f}; {counted(unpriced, 'call')} without a price"
    return f"{cost:,.4f}"
