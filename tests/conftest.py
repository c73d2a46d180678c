"""Shared by all tests: the benchmark data, read where it lies."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from mnemic.config import Environment
from mnemic.memory import Memory
from mnemic.models.doubles import HashEmbedder
from mnemic.types import Part, Turn

ROOT = Path(__file__).parent.parent

# A shell starts its background jobs deaf to Ctrl-C, and their children inherit that; tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Frameworks that adapters are for report to nobody, whatever the machine is set to.
os.environ |= {"OPENAI_AGENTS_DISABLE_TRACING": "1", "LANGSMITH_TRACING": "false", "LANGCHAIN_TRACING_V2": "false"}

# How long one example takes says nothing on a machine that other tests keep busy.
settings.register_profile("mnemic", deadline=None)
settings.load_profile("mnemic")


@pytest.fixture(scope="session")
def locomo() -> list[dict[str, Any]]:
    """LoCoMo's ten conversations as published; the test is skipped where the data is absent."""
    path = ROOT / Environment.read().data / "locomo" / "locomo10.json"
    if not path.is_file():
        pytest.skip(f"no LoCoMo data at {path}; set MNEMIC_DATA to the folder that holds locomo/locomo10.json")
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def locomo_turns(locomo: list[dict[str, Any]]) -> dict[str, list[Turn]]:
    """The turns of each conversation by its id (``conv-26``), in order; sessions without turns are left out."""
    return {sample["sample_id"]: _turns(sample["conversation"]) for sample in locomo}


def _turns(conversation: dict[str, Any]) -> list[Turn]:
    sessions = [key for key in conversation if re.fullmatch(r"session_\d+", key) and conversation[key]]
    return [
        _turn(message, session_id, _timestamp(conversation[f"{session_id}_date_time"]))
        for session_id in sorted(sessions, key=lambda key: int(key.removeprefix("session_")))
        for message in conversation[session_id]
    ]


def _turn(message: dict[str, Any], session_id: str, timestamp: datetime) -> Turn:
    words = text = message["text"]
    parts: tuple[Part, ...] = ()
    if caption := message.get("blip_caption"):
        text = f"{words}\n{caption}"
        address = (message.get("img_url") or [None])[0]
        parts = (Part("text", 0, len(words)), Part("image", len(words) + 1, len(text), address))
    return Turn(message["dia_id"], session_id, "user", message["speaker"], text, timestamp, parts)


def _timestamp(published: str) -> datetime:
    return datetime.strptime(published, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


@pytest.fixture(scope="session")
def new_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database that nobody has used yet: copying it is some three times as fast as making one."""
    path = tmp_path_factory.mktemp("new") / "memory.db"
    Memory.open(path, embedder=None).close()
    return path


@pytest.fixture
def open_memory(tmp_path: Path, new_database: Path) -> Iterator[Callable[..., Memory]]:
    """Opens memories, all on one database, with an embedder that knows words only; closes them at the end."""
    opened: list[Memory] = []
    path = tmp_path / "memory.db"
    shutil.copyfile(new_database, path)
    path.chmod(0o600)

    def open_one(**given: Any) -> Memory:
        opened.append(Memory.open(path, **{"embedder": HashEmbedder(), **given}))
        return opened[-1]

    yield open_one
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_memory: Callable[..., Memory]) -> Memory:
    """An empty memory."""
    return open_memory()
