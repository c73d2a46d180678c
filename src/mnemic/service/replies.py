"""Replies: values of ``mnemic.types`` as JSON, any text included."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, cast

from starlette.responses import Response

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def as_json(value: object) -> bytes:
    r"""Compact JSON of dataclasses, mappings, times and plain values; a lone surrogate is escaped (``\ud800``)."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode()


def reply(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A reply of JSON."""
    return Response(as_json(value), status, headers, media_type="application/json")


def _plain(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Any]", value))
    if isinstance(value, set | frozenset):
        return sorted(cast("set[str]", value))
    raise TypeError(f"{type(value).__name__} has no place in a reply")
