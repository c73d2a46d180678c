"""Copies of what callers pass, as plain JSON values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date
from typing import Final, cast

from mnemic.errors import InvalidInput
from mnemic.types import Json

_DEEPEST: Final = 64
_LONGEST_INTEGER: Final = 1024


def as_json(value: object, path: str = "", depth: int = 0) -> Json:
    """A deep copy of a value in plain dicts, lists, strings, numbers, booleans and None.

    Any mapping becomes a dict, any list or tuple a list, a date or datetime its ISO text.

    Args:
        value: What the caller gave; it is not changed.
        path: Its name, for the error.
        depth: Containers around it.

    Raises:
        InvalidInput: Something in it has no JSON form: another type, NaN or an infinity, a key that is no string, an
            integer of more than 1024 bits, or containers more than 64 deep (so circular ones too). The message
            says where.
    """
    if value is None or isinstance(value, (bool, str)):
        return value if type(value) in (bool, type(None)) else str(cast(str, value))
    if isinstance(value, int):
        if value.bit_length() > _LONGEST_INTEGER:
            raise InvalidInput(f"{path or 'it'} is an integer of {value.bit_length()} bits; at most 1024 can be kept")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput(f"{path or 'it'} is {float(value)}, which JSON cannot hold")
        return float(value)
    if isinstance(value, date):
        return value.isoformat()
    return _container(value, path, depth)


def as_object(value: object, path: str) -> dict[str, Json]:
    """The same of a value that must be a mapping. Raises InvalidInput."""
    copy = as_json(value, path)
    if not isinstance(copy, dict):
        raise InvalidInput(f"{path} must be a mapping, not {type(value).__name__}")
    return copy


def _container(value: object, path: str, depth: int) -> Json:
    if depth >= _DEEPEST:
        raise InvalidInput(f"it is nested more than {_DEEPEST} deep, or contains itself")
    if isinstance(value, Mapping):
        copy: dict[str, Json] = {}
        for key, item in cast(Mapping[object, object], value).items():
            if not isinstance(key, str):
                raise InvalidInput(f"{path or 'it'} has a key of type {type(key).__name__}; JSON keys are strings")
            copy[str(key)] = as_json(item, f"{path}.{key[:30]}" if path else key[:30], depth + 1)
        return copy
    if isinstance(value, (list, tuple)):
        items = cast("list[object]", value)
        return [as_json(item, f"{path}[{n}]", depth + 1) for n, item in enumerate(items)]
    raise InvalidInput(f"{path or 'it'} is of type {type(value).__name__}, which JSON cannot hold")
