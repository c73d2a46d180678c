"""PostgreSQL for tests: one schema a process, made once, emptied between tests, gone at the end.

Where no server answers, tests that need one skip; with MNEMIC_REQUIRE_POSTGRES set, as the gate has it, they fail.
"""

from __future__ import annotations

import atexit
import os
from functools import cache
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.engine import Engine
from sqlalchemy.exc import OperationalError

from mnemic.store import SqlStore, open_store

SERVER = os.environ.get("MNEMIC_TEST_POSTGRES", "postgresql://127.0.0.1:5432/test")
_PREFIX = "mnemic_test_"
# What a cascade from users does not reach, in an order that no foreign key forbids.
_EMPTIED = (
    "unit_cues", "note_cues", "users", "departed", "replies", "spending", "embedders", "settings", "api_keys",
)  # fmt: skip
_emptied_for: list[Path] = []


def address() -> str:
    """The address of this process's schema, made when it is first asked for. Skips the test without a server."""
    return _made(os.getpid())


def emptied(folder: Path) -> str:
    """The address, with nothing in the tables yet for whoever asks with a folder for the first time."""
    found = address()
    if _emptied_for[-1:] != [folder]:
        with engine().begin() as connection:
            for table in _EMPTIED:
                connection.execute(text(f"DELETE FROM {_PREFIX}{os.getpid()}.{table}"))
        _emptied_for.append(folder)
    return found


def open_emptied(folder: Path) -> SqlStore:
    """A store, empty for whoever asks with a folder for the first time."""
    return open_store(emptied(folder))


@cache
def engine() -> Engine:
    """The test's own way to the server. Skips the test where there is none."""
    made = create_engine(SERVER.replace("postgresql:", "postgresql+psycopg:"), pool_size=1)
    try:
        made.connect().close()
    except OperationalError as error:
        missing = f"no PostgreSQL at {SERVER}: start one, or name another with MNEMIC_TEST_POSTGRES"
        if os.environ.get("MNEMIC_REQUIRE_POSTGRES"):
            raise AssertionError(missing) from error
        pytest.skip(missing)
    return made


@cache
def _made(process: int) -> str:
    """Keyed by the process: a fork must not share it."""
    schema = f"{_PREFIX}{process}"
    with engine().connect() as connection:
        left = connection.execute(text("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'mnemic_test_%'")).scalars()
        stale = [name for name in left if not _lives(name)]
    for name in {*stale, schema}:
        _drop(name)
    made = f"{SERVER}?schema={schema}"
    open_store(made).close()
    atexit.register(_drop_own, schema, process)
    return made


def _lives(schema: str) -> bool:
    number = schema.removeprefix(_PREFIX)
    return number.isdecimal() and Path(f"/proc/{number}").exists()


def _drop_own(schema: str, process: int) -> None:
    if os.getpid() == process:
        _drop(schema)
        engine().dispose()


def _drop(schema: str) -> None:
    with engine().begin() as connection:
        connection.execute(text("SET LOCAL client_min_messages = error"))
        connection.execute(text(f"DROP SCHEMA IF EXISTS {schema} CASCADE"))
