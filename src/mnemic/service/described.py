"""How routes are described: their replies, and every problem that may come in the place of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mnemic.service.problems import MEDIA_TYPE, TITLES

ALWAYS: Final = (400, 401, 403, 413, 422, 429, 503)
MODELS: Final = (402, 501, 502)
"""Where a language model may be asked."""

_PROBLEM: Final = {"$ref": "#/components/schemas/Problem"}


def replies(*more: int, only: Sequence[int] | None = None, **ok: object) -> dict[int | str, dict[str, Any]]:
    """The problems of a route, and its success where FastAPI does not describe it.

    Args:
        more: Statuses of problems, besides those of every route.
        only: Instead of those.
        ok: What FastAPI takes of status 200: ``content``, ``description``.
    """
    found: dict[int | str, dict[str, Any]] = {
        status: {"description": TITLES[status], "content": {MEDIA_TYPE: {"schema": _PROBLEM}}}
        for status in sorted({*more, *(ALWAYS if only is None else only)})
    }
    if ok:
        found[200] = {"description": "Done", **ok}
    return found
