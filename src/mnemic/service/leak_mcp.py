"""The leak test's way through MCP over HTTP: every tool and resource, as the server lists them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from mnemic.service import mcp
from mnemic.service.leak_probes import Planted, ids, questions, unquoted, users
from mnemic.service.mcp_http import PATH, USER_HEADER
from mnemic.service.mcp_tools import TOOLS

if TYPE_CHECKING:
    from mnemic.service.asgi import Client
    from mnemic.types import Json

_ERASES_ALL: Final = "delete_all_memories"


class Mcp:
    """Every tool and resource.

    Args:
        client: Of the application, with MCP mounted.
    """

    def __init__(self, client: Client) -> None:
        self._client = client

    def __call__(self, key: str, own: Planted, other: Planted, chance: random.Random) -> Iterator[tuple[str, str]]:
        """Read every resource and call every tool, with every user and id; those that erase come last."""
        order = sorted(TOOLS, key=lambda name: ("read", "write", "erase").index(TOOLS[name].right))
        for user in users(own, other, chance):
            named, asked = ids(other, chance), questions(chance, 3)
            for uri, one in _addresses(own, other, named):
                yield uri, unquoted(self._told(key, user, "resources/read", {"uri": uri}), uri, one, user)
            for name in order:
                if name == _ERASES_ALL and user == own.user_id:
                    continue  # one's own are to stay
                for arguments in _arguments(name, other, named, asked):
                    came = self._told(key, user, "tools/call", {"name": name, "arguments": arguments})
                    yield name, unquoted(came, user, *_texts(arguments))

    def _told(self, key: str, user: str, method: str, params: dict[str, Json]) -> str:
        asked: Json = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        headers = {USER_HEADER: quote(user, safe=""), "Accept": "application/json, text/event-stream"}
        return self._client("POST", PATH, key=key, headers=headers, body=asked)[1]


def _addresses(own: Planted, other: Planted, named: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each with the name in it."""
    yield from ((str(one.uri), "") for one in mcp.RESOURCES)
    yield from ((mcp.address("profile", one), one) for one in (own.secret.title(), other.secret.title()))
    yield from ((mcp.address("episodes", one), one) for one in named)


def _arguments(name: str, other: Planted, named: Sequence[str], asked: Sequence[str]) -> Iterator[dict[str, Json]]:
    """What to call a tool with: each of its fields once with each value that may lead to another's."""
    values: Mapping[str, Sequence[Json]] = {
        "query": asked, "id": named, "turn_id": named, "session_id": [other.secret, named[0]], "about": [other.secret],
        "topic": asked, "messages": [[]], "metadata": [{}], "confirm": [True],
        "operation_id": ["O1", *named], "a": ["2000-01-01"],
    }  # fmt: skip
    fields = TOOLS[name].takes.model_fields
    needed: dict[str, Json] = {field: values[field][0] for field, one in fields.items() if one.is_required()}
    yield needed
    for field in fields:
        yield from ({**needed, field: value} for value in values.get(field, ()))


def _texts(arguments: Mapping[str, Json]) -> Iterator[str]:
    return (value for value in arguments.values() if isinstance(value, str))
