"""Shared by the tests of the server: a memory of its own, keys, and clients of the application in this process."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from fastapi import FastAPI
from starlette.testclient import TestClient

from mnemic import Memory
from mnemic.models.doubles import HashEmbedder
from mnemic.service.access import Keys
from mnemic.service.app import create
from mnemic.service.settings import Settings

ALL = ("read", "write", "erase", "admin")
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


class Served:
    """A memory, its application, and keys for it."""

    def __init__(self, memory: Memory, settings: Settings | None = None) -> None:
        self.memory = memory
        self.app: FastAPI = create(memory, settings=settings)
        self.keys = Keys(memory.service_rows)

    def key(self, tenant: str = "default", scopes: Collection[str] = ALL) -> str:
        return self.keys.create("test", tenant=tenant, scopes=scopes).key

    def client(self, tenant: str = "default", scopes: Collection[str] = ALL, key: str | None = None) -> TestClient:
        given = self.key(tenant, scopes) if key is None else key
        headers = {"Authorization": f"Bearer {given}"} if given else {}
        return TestClient(self.app, base_url="http://127.0.0.1:8377", headers=headers, client=("127.0.0.1", 50000))


@contextmanager
def served(path: Path, settings: Settings | None = None, **options: object) -> Iterator[Served]:
    options.setdefault("embedder", HashEmbedder())
    with Memory.open(path / "m.db", **options) as memory:
        yield Served(memory, settings)
