"""The leak test: two tenants with planted secrets, and every path of every surface tried with the wrong key.

It ships with the package (``mnemic doctor --leak-test``), runs in a temporary database, and uses no network.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fastapi import FastAPI

from mnemic.memory import Memory, service_rows
from mnemic.service import mcp_http
from mnemic.service.access import Keys
from mnemic.service.app import create
from mnemic.service.asgi import Client, calling
from mnemic.service.leak_mcp import Mcp
from mnemic.service.leak_probes import Planted, Surface
from mnemic.service.leak_python import Python
from mnemic.service.leak_rest import Rest
from mnemic.service.replies import as_json
from mnemic.service.settings import Settings
from mnemic.service.tenancy import DEFAULT, Tenant
from mnemic.types import KEY_SCOPES

HERE: Final = "leak-here"
THERE: Final = "leak-there"
PAIRS: Final = ((HERE, THERE), (THERE, HERE), (DEFAULT, HERE), (DEFAULT, THERE))
"""Whose key is tried, and whose words it must not get."""
_USER: Final = "ana"
_NO_LIMIT: Final = 1e9


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


def run(
    surfaces: Callable[[Memory, Client], Mapping[str, Surface]] | None = None,
    *,
    rounds: int = 3,
    pairs: Sequence[tuple[str, str]] = PAIRS,
    seed: int = 0,
) -> Tried:
    """Plant secrets, try every path, and say what crossed.

    Args:
        surfaces: From a memory and a client of its application the ways to read; those of this package without it.
        rounds: How often, with other ids, users and questions.
        pairs: Whose key is tried on whose words; of ``HERE``, ``THERE`` and the default tenant.
        seed: Of the chance.
    """
    with (
        tempfile.TemporaryDirectory(prefix="mnemic-leaks-") as folder,
        Memory.open(Path(folder) / "memory.db", embedder=None, workers=0) as memory,
        calling(_served(memory)) as client,
    ):
        planted = {name: _plant(memory, name) for name in (HERE, THERE)}
        planted[DEFAULT] = Planted("(nothing)", "bo", "bo", ())
        keys = Keys(service_rows(memory))
        key = {name: keys.create("leak test", tenant=name, scopes=KEY_SCOPES).key for name in planted}
        trial = _Trial(memory, (surfaces or standard)(memory, client), planted, key, random.Random(seed))
        for _ in range(rounds):
            trial.go_round(pairs)
        return trial.result()


def standard(memory: Memory, client: Client) -> dict[str, Surface]:
    """The surfaces of this package: Python, REST, and MCP."""
    return {"python": Python(memory, client.app.state.door.keys), "rest": Rest(client), "mcp": Mcp(client)}


def _served(memory: Memory) -> FastAPI:
    settings = Settings(rate=_NO_LIMIT, burst=round(_NO_LIMIT))
    return create(memory, settings=settings, mounts=[mcp_http.mount])


def _plant(memory: Memory, name: str) -> Planted:
    secret = f"xylophone{name.replace('-', '')}"
    tenant = Tenant(name)
    stored = tenant.stored(_USER)
    # The town's name becomes a cue, which the name of who speaks does not.
    words = f"I have the secret {secret}, and live in {secret.title()}ville."
    said = [
        {"id": f"{secret}-{n}", "role": "user", "name": secret.title(), "content": f"{words} {n}"} for n in range(3)
    ]
    memory.add(said, user_id=stored, session_id=secret, agent_id=secret, metadata={"secret": secret})
    notes = memory.add_notes({"text": f"The secret is {secret}.", "sources": [said[0]["id"]]}, user_id=stored).notes
    traces = [trace.trace_id for trace in memory.traces(user_id=stored)]
    episodes = [episode.episode_id for episode in memory.episodes(user_id=stored)]
    operations = [operation.operation_id for operation in memory.history(user_id=stored)]
    ids = (*(one["id"] for one in said), *notes, *traces, *episodes, *operations, secret)
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

    def go_round(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Every surface once for each pair: one tenant's key, another one's words."""
        for surface, read in self._ways.items():
            for mine, others in pairs:
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
                    # What is gone cannot be read: the next one is to have something to find.
                    self._memory.delete_all(user_id=other.stored)
                    self._planted[others] = _plant(self._memory, others)

    def result(self) -> Tried:
        """What came of it."""
        blind = tuple(surface for surface in self._ways if surface not in self._seen)
        return Tried(self._reads, blind, tuple(self._leaks))

    def _kept(self, planted: Planted) -> bytes:
        """All that is kept of a tenant's user."""
        history = self._memory.history(user_id=planted.stored)
        return as_json([list(self._memory.export(user_id=planted.stored)), history])
