"""Shared by the tests of the server: a memory of its own, keys, and clients of the application in this process."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from fastapi import FastAPI
from starlette.testclient import TestClient

from mnemic import Memory
from mnemic.memory import service_rows
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
        self.keys = Keys(service_rows(memory))

    def key(self, tenant: str = "default", scopes: Collection[str] = ALL) -> str:
        return self.keys.create("test", tenant=tenant, scopes=scopes).key

    def client(self, tenant: str = "default", scopes: Collection[str] = ALL, key: str | None = None) -> TestClient:
        given = self.key(tenant, scopes) if key is None else key
        headers = {"Authorization": f"Bearer {given}"} if given else {}
        return TestClient(self.app, base_url="http://127.0.0.1:8377", headers=headers, client=("127.0.0.1", 50000))


@cache
def _new_database() -> bytes:
    """A database that nobody has used yet: copying it is faster than making one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.db"
        Memory.open(path, embedder=None).close()
        return path.read_bytes()


@contextmanager
def served(path: Path, settings: Settings | None = None, **options: object) -> Iterator[Served]:
    options.setdefault("embedder", HashEmbedder())
    (path / "m.db").write_bytes(_new_database())
    with Memory.open(path / "m.db", **options) as memory:
        yield Served(memory, settings)
