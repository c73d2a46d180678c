"""The leak test's way through REST: every route of the application, as its OpenAPI document lists them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from mnemic.service.cursors import cursor as cursor_of
from mnemic.service.leak_probes import Planted, ids, questions, unquoted, users

if TYPE_CHECKING:
    from mnemic.service.asgi import Client
    from mnemic.types import Json

_METHODS: Final = ("get", "post", "patch", "delete")
"""In this order: what erases hides what could have been read."""


class Rest:
    """Every route.

    Args:
        client: Of the application.
    """

    def __init__(self, client: Client) -> None:
        self._client = client

    def __call__(self, key: str, own: Planted, other: Planted, chance: random.Random) -> Iterator[tuple[str, str]]:
        """Ask every route, with every user and id."""
        paths = self._client.app.openapi()["paths"]
        for method in _METHODS:
            for path, operations in paths.items():
                if method not in operations:
                    continue
                for user in users(own, other, chance):
                    if path == "/v1/import" or (f"{method} {path}" == "delete /v1/memories" and user == own.user_id):
                        continue  # it reads nothing; one's own are to stay
                    yield from self._asked(method.upper(), path, operations[method], key, user, other, chance)

    def _asked(
        self, method: str, path: str, operation: Mapping[str, Any], key: str, user: str, other: Planted,
        chance: random.Random,
    ) -> Iterator[tuple[str, str]]:  # fmt: skip
        known = {parameter["name"] for parameter in operation.get("parameters", ())}
        cursor = cursor_of(("memories", other.stored, None, None, None), 0)
        for one in ids(other, chance) if "{" in path else questions(chance, 2):
            asked = path.partition("{")[0] + one + path.partition("}")[2] if "{" in path else path
            narrowed = {
                "about": other.secret, "session_id": other.secret, "agent_id": other.secret, "turn_ids": other.ids[0],
                "like": one, "statuses": "superseded", "cursor": cursor,
            }  # fmt: skip
            query = {"user_id": user, "limit": "1000", "topic": one, "a": "2000-01-01"} | dict(
                chance.sample(list(narrowed.items()), chance.randrange(3))
            )
            query = {name: value for name, value in query.items() if name in known}
            body = _body(path, one, user) if method in ("POST", "PATCH") else None
            status, came = self._client(method, asked, key=key, query=query, body=body)
            yield f"{method} {path} ({status})", unquoted(came, one, user, other.ids[0])


def _body(path: str, one: str, user: str) -> Json:
    """A body for a route, as far as it reads."""
    more: dict[str, dict[str, Json]] = {
        "/v1/search": {"query": one, "top_k": 100},
        "/v1/context": {"query": one},
        "/v1/answer": {"question": one},
        "/v1/memories": {"messages": []},
        "/v1/notes": {"notes": {"text": "x", "sources": [one]}},
        "/v1/forget": {"max_notes": 1, "dry_run": True},
        "/v1/reflect": {"dry_run": True},
        "/v1/erase": {"speaker": one},
        "/v1/wait": {"timeout": 0},
        "/v1/memories/{turn_id}": {"metadata": {}},
    }
    return {"user_id": user, **more.get(path, {})}
