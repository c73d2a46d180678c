"""Made-up dumps that are one JSON object, of any size and always the same, written without holding them.

python tests/dumps_kit.py mem0 60 dump.json      writes 60 MB
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chatgpt_kit import sentences


@dataclass(frozen=True)
class Kind:
    """Its format, what stands before and behind its array, and its items."""

    format: str
    key: str
    before: dict[str, Any]
    behind: dict[str, Any]
    item: Callable[[random.Random, int], dict[str, Any]]


def memory(chance: random.Random, number: int) -> dict[str, Any]:
    return {
        "id": f"m{number}",
        "memory": sentences(chance, 8, 24),
        "user_id": "ana",
        "created_at": "2024-03-01T10:22:00+00:00",
        "metadata": {"at": number},
    }


def item(chance: random.Random, number: int) -> dict[str, Any]:
    return {
        "namespace": ["ana", "memories"],
        "key": f"k{number}",
        "value": {"kind": "Memory", "content": {"content": sentences(chance, 8, 24)}},
        "created_at": "2024-03-01T10:22:00+00:00",
    }


def message(chance: random.Random, number: int) -> dict[str, Any]:
    return {"role": ("user", "assistant")[number % 2], "content": f"{number}. {sentences(chance, 8, 24)}"}


KINDS = {
    "mem0": Kind("mem0", "results", {}, {"relations": [{"source": "ana", "target": "dog"}]}, memory),
    "mem0_memories": Kind("mem0", "memories", {"page": 1}, {}, memory),
    "langgraph": Kind("langgraph", "items", {"total": 3}, {"next": None}, item),
    "messages": Kind("messages", "messages", {"title": "A walk"}, {"session_id": "walk", "user_id": "ana"}, message),
}  # fmt: skip


def write(path: Path, kind: str, size: int, *, indent: int | None = None, seed: int = 11) -> int:
    """Write a dump of at least ``size`` bytes, on one line or indented; how many items it has."""
    shape, chance = KINDS[kind], random.Random(seed)
    line = "" if indent is None else "\n"
    count = 0
    with path.open("w", encoding="utf-8") as file:
        file.write("{" + line)
        for key, value in shape.before.items():
            file.write(f"{json.dumps(key)}: {json.dumps(value)},{line}")
        file.write(f"{json.dumps(shape.key)}: [{line}")
        written = 0
        while written < size:
            text = json.dumps(shape.item(chance, count), indent=indent)
            written += file.write(f",{line}{text}" if count else text)
            count += 1
        file.write(f"{line}]")
        for key, value in shape.behind.items():
            file.write(f",{line}{json.dumps(key)}: {json.dumps(value)}")
        file.write(line + "}")
    return count


if __name__ == "__main__":
    write(Path(sys.argv[3]), sys.argv[1], int(float(sys.argv[2]) * 1_000_000))
