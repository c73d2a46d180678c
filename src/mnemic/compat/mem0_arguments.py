"""What mem0's methods take, made into what ours do."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from mnemic.algo.jsonable import as_object
from mnemic.compat import mem0_shapes as shapes
from mnemic.errors import InvalidInput, InvalidMessage, InvalidQuery
from mnemic.types import Json

Messages = str | Mapping[str, object] | Sequence[Mapping[str, object]]
_log = logging.getLogger("mnemic")


def listed(messages: Messages) -> Sequence[Mapping[str, object]]:
    """Messages as a list. Raises InvalidMessage."""
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}]
    if isinstance(messages, Mapping):
        return [messages]
    if isinstance(messages, list):
        return messages
    raise InvalidMessage(f"messages must be str, dict, or list[dict], not {type(messages).__name__}")


def is_said(message: Mapping[str, object]) -> bool:
    """Whether a message is stored: as in mem0, not without a role or content, nor of the system."""
    if message.get("role") is None or message.get("content") is None:
        _log.warning("a message without a role or content is left out")
        return False
    return message["role"] != "system"


def sent(message: Mapping[str, object], common: Mapping[str, Json]) -> dict[str, object]:
    """A message with the metadata that filters of mem0 ask for."""
    known: dict[str, object] = {**common, "role": message["role"]}
    if name := message.get("name"):
        known["actor_id"] = name
    return {**message, "metadata": known}


def metadata(given: Mapping[str, object] | None) -> dict[str, Json]:
    """A copy of metadata as JSON. Raises InvalidInput."""
    return as_object(given or {}, "metadata")


def earlier(
    kwargs: Mapping[str, object], filters: Mapping[str, object] | None, top_k: int
) -> tuple[Mapping[str, object], int]:
    """Filters and top_k, with what mem0 1.x took beside them. Raises InvalidInput for what neither knows."""
    unknown = [name for name in kwargs if name not in (*shapes.IDENTITIES, "limit")]
    if unknown:
        raise InvalidInput(f"there is no argument {unknown[0]!r}")
    named = {name: kwargs[name] for name in shapes.IDENTITIES if kwargs.get(name) is not None}
    most = kwargs.get("limit", top_k)
    if isinstance(most, bool) or not isinstance(most, int) or most < 0:
        raise InvalidQuery(f"top_k must be an integer, 0 or more, not {most!r}")
    return {**(filters or {}), **named}, most
