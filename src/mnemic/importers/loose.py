"""Fields of JSON that somebody else wrote, any of which may be null, missing, or of another type."""

from __future__ import annotations

from collections.abc import Mapping

from mnemic.algo.moments import parse_time
from mnemic.errors import InvalidInput
from mnemic.importers.records import Message, Skipped
from mnemic.types import Json

BAD_TIME = "a time that does not exist, left out"


def mapping(value: Json) -> dict[str, Json]:
    """The value where it is an object; else an empty one."""
    return value if isinstance(value, dict) else {}


def listed(value: Json) -> list[Json]:
    """The value where it is an array; else an empty one."""
    return value if isinstance(value, list) else []


def words(value: Json) -> str:
    """The value where it is a text; else an empty one."""
    return value if isinstance(value, str) else ""


def name(value: Json) -> str | None:
    """The value where it is a text with something in it."""
    return value if isinstance(value, str) and value.strip() else None


def set_time(message: Message, value: Json, where: str) -> Skipped | None:
    """Give a message its time, where there is one; what is none is told."""
    if value is None:
        return None
    if isinstance(value, (bool, list, dict)):
        return Skipped(BAD_TIME, where)
    try:
        parse_time(value, "UTC")
    except InvalidInput:
        return Skipped(BAD_TIME, where)
    message["timestamp"] = value
    return None


def kept(**fields: Json) -> Mapping[str, Json]:
    """The fields that say something."""
    return {key: value for key, value in fields.items() if value not in (None, "", [], {})}
