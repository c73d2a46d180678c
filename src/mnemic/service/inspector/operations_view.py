"""What the log of operations shows: what changed, when, by whom and why, newest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Final, cast, get_args

from mnemic.errors import InvalidQuery
from mnemic.service.inspector.differ import Piece, pieces
from mnemic.service.inspector.words import address, named
from mnemic.types import Action, Json, Operation

if TYPE_CHECKING:
    from mnemic.service.tenant_memory import TenantMemory

ACTIONS: Final[tuple[Action, ...]] = get_args(Action)
PAGE: Final = 50
_MEANS: Final[dict[Action, str]] = {
    "ADD": "added",
    "UPDATE": "changed",
    "DELETE": "deleted",
    "MERGE": "merged",
    "RETRACT": "retracted",
    "EXPIRE": "expired",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One operation.

    Attributes:
        action: In a word.
        change: Of the text.
        facts: What else the log says: status, reason, relation, cost; each a name and words.
        href: Where its note or turn is.
        run: Which run of a model, or which undoing, it was done with; all of it can be taken back at once.
    """

    operation_id: str
    action: str
    kind: Action
    target: str
    href: str
    at: str
    trigger: str
    change: tuple[Piece, ...]
    facts: tuple[tuple[str, str], ...]
    run: str | None = None


@dataclass(frozen=True, slots=True)
class Log:
    """The page.

    Attributes:
        entries: A page of what passes the filters.
        narrowed: Whether filters leave anything out.
        newest: Where the first page is, from another one.
        older: Where the next page is.
    """

    entries: tuple[Entry, ...]
    narrowed: bool
    newest: str | None
    older: str | None


def read(memory: TenantMemory, user_id: str, given: Mapping[str, str]) -> Log:
    """The log of a user.

    Args:
        memory: Of the tenant.
        user_id: Whose.
        given: ``action``, ``trigger``, ``note`` (or a turn's id), ``since`` and ``until`` (days, UTC, both included),
            ``before`` (the operation that the page before ended with), each if wanted.

    Raises:
        InvalidQuery: A day is none.
        InvalidInput: There is no such action, or ``before`` is no operation.
    """
    since, until = _day(given.get("since"), "since"), _day(given.get("until"), "until")
    before = given.get("before") or None
    found = memory.history(
        given.get("note", "").strip() or None,
        user_id=user_id,
        action=cast("Action | None", given.get("action") or None),
        trigger=given.get("trigger", "").strip() or None,
        since=since,
        until=None if until is None else until + timedelta(days=1),
        newest_first=True,
        limit=PAGE + 1,
        after=before,
    )
    page = found[:PAGE]
    return Log(
        entries=tuple(entry(user_id, one) for one in page),
        narrowed=any(given.get(name) for name in ("action", "trigger", "note", "since", "until", "before")),
        newest=_page(given, None) if before else None,
        older=_page(given, page[-1].operation_id) if len(found) > PAGE else None,
    )


def entry(user_id: str, operation: Operation) -> Entry:
    """One operation as it is shown."""
    is_note = operation.version is not None
    href = (
        address("notes", {"user": user_id, "note": operation.target_id})
        if is_note
        else address("timeline", {"user": user_id, "turn": operation.target_id})
    )
    before, after = operation.before, operation.after
    return Entry(
        operation_id=operation.operation_id,
        action=_MEANS[operation.action],
        kind=operation.action,
        target=named(operation.target_id),
        href=href,
        at=clock(operation.at),
        trigger=named(operation.trigger),
        change=pieces(before or "", after or "") if before != after else (Piece("same", after or ""),),
        facts=tuple(_facts(operation.detail)),
        run=run if isinstance(run := operation.detail.get("run"), str) and run else None,
    )


def clock(at: datetime) -> str:
    """When something was recorded, in UTC."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _facts(detail: Mapping[str, Json]) -> Sequence[tuple[str, str]]:
    facts: list[tuple[str, str]] = []
    status = detail.get("status")
    if isinstance(status, list) and len(status) == 2 and status[0] != status[1] and status != [None, "current"]:
        facts.append(("status", " → ".join(str(one) for one in status if one is not None)))
    for name, value in detail.items():
        if name in ("status", "valid") or value is None or value == "":
            continue
        facts.append((named(name), named(value if isinstance(value, str) else _flat(value))))
    return facts


def _flat(value: Json) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_flat(one)}" for name, one in value.items())
    if isinstance(value, list):
        return ", ".join(_flat(one) for one in value)
    return f"{value:,.6g}" if isinstance(value, float) else str(value)


def _day(text: str | None, name: str) -> datetime | None:
    """The beginning of a day in UTC."""
    if not text:
        return None
    try:
        return datetime.combine(date.fromisoformat(text), time(), UTC)
    except ValueError as error:
        raise InvalidQuery(f"{name} is a day such as 2024-05-17, not {named(text, most=20)}") from error


def _page(given: Mapping[str, str], before: str | None) -> str:
    narrowed = {name: value for name, value in given.items() if name != "before"}
    return address("operations", narrowed if before is None else {**narrowed, "before": before})
