"""The leak test: two tenants with planted secrets, and every path of every surface tried with the wrong key.

It ships with the package (``mnemic doctor --leak-test``), runs in a temporary database, and uses no network.
"""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from mnemic.errors import MnemicError
from mnemic.memory import Memory, service_rows
from mnemic.service.access import Keys
from mnemic.service.app import create
from mnemic.service.asgi import Client
from mnemic.service.cursors import cursor as cursor_of
from mnemic.service.replies import as_json
from mnemic.service.settings import Settings
from mnemic.service.tenancy import DEFAULT, Tenant
from mnemic.types import KEY_SCOPES

if TYPE_CHECKING:
    from fastapi import FastAPI

    from mnemic.service.tenant_memory import TenantMemory
    from mnemic.types import Json

HERE: Final = "leak-here"
THERE: Final = "leak-there"
_USER: Final = "ana"
_NO_LIMIT: Final = 1e9
_QUERIES: Final = ("secret", "*", "%", "", " ", "Who has a secret?", "xylophone", "' OR 1=1 --", "tenant/", ".*")
"""Questions and ids that would match everything, were they patterns."""


@dataclass(frozen=True, slots=True)
class Planted:
    """What a tenant has: its secret words, the user's own id and the stored one, and the ids of all things."""

    secret: str
    user_id: str
    stored: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Leak:
    """Something of one tenant that another one got, or changed."""

    surface: str
    path: str
    what: str


@dataclass(frozen=True, slots=True)
class Tried:
    """What a leak test did.

    Attributes:
        reads: Surface -> how many calls.
        blind: Surfaces that did not even find the tenant's own words: what they did not find says nothing.
        leaks: What crossed.
    """

    reads: Mapping[str, int]
    blind: tuple[str, ...]
    leaks: tuple[Leak, ...]


class Surface(Protocol):
    """One way to read: for each read path and argument what it was, and what came back, as text."""

    def __call__(self, key: str, own: Planted, other: Planted, chance: random.Random) -> Iterator[tuple[str, str]]:
        """Read with a key whatever may be another tenant's."""
        ...


def run(
    surfaces: Callable[[Memory, FastAPI], Mapping[str, Surface]] | None = None, *, rounds: int = 3, seed: int = 0
) -> Tried:
    """Plant secrets, try every path, and say what crossed.

    Args:
        surfaces: From a memory and its application the ways to read; those of this package without it.
        rounds: How often, with other ids, users and questions.
        seed: Of the chance.
    """
    with (
        tempfile.TemporaryDirectory(prefix="mnemic-leaks-") as folder,
        Memory.open(Path(folder) / "memory.db", embedder=None, workers=0) as memory,
    ):
        app = create(memory, settings=Settings(rate=_NO_LIMIT, burst=round(_NO_LIMIT)))
        planted = {name: _plant(memory, name) for name in (HERE, THERE)}
        planted[DEFAULT] = Planted("(nothing)", "bo", "bo", ())
        keys = Keys(service_rows(memory))
        key = {name: keys.create("leak test", tenant=name, scopes=KEY_SCOPES).key for name in planted}
        trial = _Trial(memory, (surfaces or standard)(memory, app), planted, key, random.Random(seed))
        for _ in range(rounds):
            trial.go_round()
        return trial.result()


def standard(memory: Memory, app: FastAPI) -> dict[str, Surface]:
    """The surfaces of this package: Python, and REST."""
    return {"python": Python(memory, app), "rest": Rest(app)}


def _plant(memory: Memory, name: str) -> Planted:
    secret = f"xylophone{name.replace('-', '')}"
    tenant = Tenant(name)
    stored = tenant.stored(_USER)
    said = [
        {"id": f"{secret}-{n}", "role": "user", "name": secret.title(), "content": f"I have the secret {secret} {n}."}
        for n in range(3)
    ]
    memory.add(said, user_id=stored, session_id=secret, agent_id=secret, metadata={"secret": secret})
    notes = memory.add_notes({"text": f"The secret is {secret}.", "sources": [said[0]["id"]]}, user_id=stored).notes
    traces = {hit.trace_id for hit in memory.search(secret, user_id=stored).results}
    episodes = [episode.episode_id for episode in memory.episodes(user_id=stored)]
    operations = [operation.operation_id for operation in memory.history(user_id=stored)]
    ids = (*(one["id"] for one in said), *notes, *sorted(traces), *episodes, *operations, secret)
    return Planted(secret, _USER, stored, ids)


class _Trial:
    """One run of the test."""

    def __init__(
        self,
        memory: Memory,
        ways: Mapping[str, Surface],
        planted: Mapping[str, Planted],
        key: Mapping[str, str],
        chance: random.Random,
    ) -> None:
        self._memory = memory
        self._ways = ways
        self._planted = dict(planted)
        self._key = key
        self._chance = chance
        self._reads = dict.fromkeys(ways, 0)
        self._seen: set[str] = set()
        self._leaks: dict[Leak, None] = {}

    def go_round(self) -> None:
        """Every surface once, with each tenant's key after each other tenant's words."""
        for surface, read in self._ways.items():
            for mine, others in ((HERE, THERE), (THERE, HERE), (DEFAULT, HERE), (DEFAULT, THERE)):
                own, other = self._planted[mine], self._planted[others]
                before = self._kept(other)
                for path, came in read(self._key[mine], own, other, self._chance):
                    self._reads[surface] += 1
                    if own.secret in came.lower():
                        self._seen.add(surface)
                    if other.secret in came.lower():
                        self._leaks[Leak(surface, path, f"{mine} got words of {others}")] = None
                if self._kept(other) != before:
                    self._leaks[Leak(surface, "(some)", f"{mine} changed what is kept of {others}")] = None
                    # For the next one to find.
                    self._planted[others] = _plant(self._memory, others)

    def result(self) -> Tried:
        """What came of it."""
        blind = tuple(surface for surface in self._ways if surface not in self._seen)
        return Tried(self._reads, blind, tuple(self._leaks))

    def _kept(self, planted: Planted) -> bytes:
        """All that is kept of a tenant's user."""
        history = self._memory.history(user_id=planted.stored)
        return as_json([list(self._memory.export(user_id=planted.stored)), history])


def _users(own: Planted, other: Planted, chance: random.Random) -> Sequence[str]:
    """User ids: one's own, the other tenant's as it is stored, and one that might be read as that."""
    stored = other.stored
    odd = (
        f"../{stored}",
        f"{own.user_id}\0{stored}",
        stored.replace("/", "%2F"),
        stored.upper(),
        f" {stored}",
        "*",
        "%",
    )
    return own.user_id, stored, chance.choice(odd)


def _ids(other: Planted, chance: random.Random) -> Sequence[str]:
    """Ids of the other tenant's things, and random ones of all kinds."""
    made = (f"{kind}{chance.randrange(1, 40)}" for kind in "TNEO")
    return (*chance.sample(other.ids, 5), *made, f"E:{other.ids[0]}")


class Python:
    """``TenantMemory``, as whatever is mounted in the server uses it.

    Args:
        memory: Of all tenants.
        app: Where its keys are verified.
    """

    def __init__(self, memory: Memory, app: FastAPI) -> None:
        self._memory = memory
        self._keys: Keys = app.state.door.keys

    def __call__(self, key: str, own: Planted, other: Planted, chance: random.Random) -> Iterator[tuple[str, str]]:
        """Call every method that reads."""
        opened = self._keys.verify(key).memory(self._memory)
        yield "users", _said(opened.users)
        yield "status", _said(opened.status)
        for user in _users(own, other, chance):
            yield from self._of(opened, user, other, chance)

    def _of(self, opened: TenantMemory, user: str, other: Planted, chance: random.Random) -> Iterator[tuple[str, str]]:
        for query in (_QUERIES[0], *chance.sample(_QUERIES[1:], 3), other.ids[0]):
            for narrowed in _narrowed(other):
                found = _said(lambda q=query, n=narrowed: opened.search(q, user_id=user, **n))
                yield f"search {narrowed}", _unquoted(found, query)
            yield "context", _unquoted(_said(lambda q=query: opened.context(q, user_id=user)), query)
        for name in ("notes", "episodes", "get_all", "history", "proposals", "notice", "status"):
            yield name, _unquoted(_said(lambda n=name: getattr(opened, n)(user_id=user)), user)
        yield "export", _said(lambda: list(opened.export(user_id=user)))
        for one in _ids(other, chance):
            tries: dict[str, Callable[[str], object]] = {
                "get": lambda i: opened.get(i, user_id=user),
                "history": lambda i: opened.history(i, user_id=user),
                "get_all after": lambda i: opened.get_all(user_id=user, after=i),
                "get_all of a session": lambda i: opened.get_all(user_id=user, session_id=i),
                "get_all of an agent": lambda i: opened.get_all(user_id=user, agent_id=i),
                "episodes": lambda i: opened.episodes(user_id=user, session_id=i),
                "notes": lambda i: opened.notes(user_id=user, about=i),
                "undo": lambda i: opened.undo(i, user_id=user),
                "update": lambda i: opened.update(i, user_id=user, metadata={}),
                "delete": lambda i: opened.delete(user_id=user, turn_id=i),
                "delete a session": lambda i: opened.delete(user_id=user, session_id=i),
            }
            for name, read in tries.items():
                yield name, _unquoted(_said(lambda r=read, i=one: r(i)), one)


class Rest:
    """Every route of the application that reads, as its OpenAPI document lists them.

    Args:
        app: The application.
    """

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._client = Client(app)

    def __call__(self, key: str, own: Planted, other: Planted, chance: random.Random) -> Iterator[tuple[str, str]]:
        """Ask every route, with every user and id."""
        paths = self._app.openapi()["paths"]
        # What erases comes last: before it there is something to be read.
        for method in ("get", "post", "patch", "delete"):
            for path in (path for path, operations in paths.items() if method in operations and path != "/v1/import"):
                for user in _users(own, other, chance):
                    if (method, path, user) != ("delete", "/v1/memories", own.user_id):  # one's own are to stay
                        yield from self._asked(method.upper(), path, paths[path][method], key, user, other, chance)

    def _asked(
        self, method: str, path: str, operation: Mapping[str, Any], key: str, user: str, other: Planted,
        chance: random.Random,
    ) -> Iterator[tuple[str, str]]:  # fmt: skip
        known = {parameter["name"] for parameter in operation.get("parameters", ())}
        cursor = cursor_of(("memories", other.stored, None, None), 0)
        for one in _ids(other, chance) if "{" in path else (_QUERIES[0], *chance.sample(_QUERIES[1:], 2)):
            asked = path.partition("{")[0] + one + path.partition("}")[2] if "{" in path else path
            narrowed = {"about": other.secret, "session_id": other.secret, "agent_id": other.secret, "cursor": cursor}
            query = {"user_id": user, "limit": "1000"} | dict(
                chance.sample(list(narrowed.items()), chance.randrange(3))
            )
            query = {name: value for name, value in query.items() if name in known}
            body = _body(path, one, user) if method in ("POST", "PATCH") else None
            status, came = asyncio.run(self._client(method, asked, key=key, query=query, body=body))
            yield f"{method} {path} ({status})", _unquoted(came, one, user)


def _body(path: str, one: str, user: str) -> Json:
    """A body for a route, as far as it reads."""
    if path == "/v1/search":
        return {"query": one, "user_id": user, "top_k": 100}
    if path == "/v1/context":
        return {"query": one, "user_id": user}
    if path == "/v1/answer":
        return {"question": one, "user_id": user}
    if path == "/v1/memories":
        return {"messages": [], "user_id": user}
    if path == "/v1/notes":
        return {"notes": {"text": "x", "sources": [one]}, "user_id": user}
    if path == "/v1/forget":
        return {"user_id": user, "max_notes": 1, "dry_run": True}
    if path == "/v1/reflect":
        return {"user_id": user, "dry_run": True}
    if path == "/v1/memories/{turn_id}":
        return {"user_id": user, "metadata": {}}
    return {"user_id": user}


def _narrowed(other: Planted) -> Sequence[dict[str, Any]]:
    """Arguments of a search that may lead to the other tenant's words."""
    return (
        {"mode": "hybrid"},
        {"session_id": other.secret},
        {"agent_id": other.secret},
        {"filters": {"secret": other.secret}},
        {"granularity": "turn", "explain": True, "top_k": 1000},
    )


def _said(read: Callable[[], object]) -> str:
    """What came of a call, an error's words included."""
    try:
        return as_json(read()).decode()
    except MnemicError as error:
        return str(error)


def _unquoted(came: str, *given: str) -> str:
    """A reply without what was asked: to hear one's own words is no leak."""
    for one in given:
        for written in {one, repr(one)[1:-1], json.dumps(one)[1:-1]}:
            if written.strip():
                came = came.replace(written, "")
    return came
