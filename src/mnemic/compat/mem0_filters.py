"""mem0's filters as ours: identities apart, its wildcard and its lists after NOT."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import cast

from mnemic.algo.jsonable import as_object
from mnemic.compat.mem0_shapes import EXPIRES, IDENTITIES, VERSIONS
from mnemic.errors import InvalidFilter
from mnemic.types import Json

_ANYTHING = "*"


def split(filters: Mapping[str, object] | None) -> tuple[dict[str, object], dict[str, Json]]:
    """The identities that filters name, at the top or in the AND there, and the rest of them as a filter of ours.

    Raises:
        InvalidFilter: A filter is none, or names an identity elsewhere: nothing is read across users.
    """
    identities: dict[str, object] = {}
    rest: list[Json] = []
    for key, value in as_object(filters or {}, "filters").items():
        if key in IDENTITIES:
            identities[key] = value
        elif key == "AND" and isinstance(value, list):
            for part in value:
                found, inner = split(cast(Mapping[str, object], part) if isinstance(part, dict) else None)
                identities |= found
                rest.append(inner)
        else:
            rest.append(_condition(key, value))
    return identities, {"AND": rest} if rest else {}


def counting(rest: dict[str, Json], *, show_expired: bool, today: date) -> dict[str, Json]:
    """The same, and of each memory its last version alone, and none that has expired."""
    parts: list[Json] = [{f"{VERSIONS}.by": {"exists": False}}]
    if not show_expired:
        parts.append({"OR": [{EXPIRES: {"exists": False}}, {EXPIRES: {"gte": today.isoformat()}}]})
    return {"AND": [*parts, rest] if rest else parts}


def _condition(key: str, value: Json) -> Json:
    if key in ("OR", "NOT", "AND"):
        parts = value if isinstance(value, list) else [value]
        if not parts:
            raise InvalidFilter(f"{key} takes a list of filters that is not empty")
        inner = [_whole(part) for part in parts]
        return {"AND": [{"NOT": one} for one in inner]} if key == "NOT" else {key: inner}
    if key in IDENTITIES:
        raise InvalidFilter(f"{key} stands at the top of the filters or in their AND, for nothing is read across users")
    return {key: {"exists": True} if value == _ANYTHING else value}


def _whole(part: Json) -> Json:
    if not isinstance(part, dict):
        raise InvalidFilter(f"a filter is an object of conditions, not {part!r}")
    return {"AND": [_condition(key, value) for key, value in part.items()]}
