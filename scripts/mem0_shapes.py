"""Records how mem0's methods are called and in what shapes they answer, for tests/data/mem0_shapes.json.

    python scripts/mem0_shapes.py                   in an environment of its own, with mem0ai installed

It asks no model and no network: vectors are hashes, ``infer`` is off, and mem0's telemetry is too.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import inspect
import json
import os
import tempfile
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parent.parent / "tests" / "data" / "mem0_shapes.json"
METHODS = (
    "add", "search", "get", "get_all", "update", "delete", "delete_all", "history", "reset", "chat", "from_config",
    "close",
)  # fmt: skip
SAID = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "name": "Ana", "content": "I row on Sundays."},
    {"role": "assistant", "content": "Nice."},
]


def shape(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """The same with the names of types in the place of values; of a list its fullest element's."""
    if isinstance(value, dict):
        return {key: shape(one) for key, one in value.items()}
    if isinstance(value, list):
        return [max(map(shape, value), key=len)] if value else []
    return type(value).__name__


def scenario(memory: Any) -> dict[str, Any]:  # noqa: ANN401 - theirs or ours
    """What each method answers, in one story that both libraries are told."""
    names = {"user_id": "ana", "agent_id": "coach", "run_id": "r1"}
    told: dict[str, Any] = {"add": memory.add(SAID, **names, metadata={"mood": "good"}, infer=False)}
    first, second = (one["id"] for one in told["add"]["results"])
    told["add a text"] = memory.add("I sing.", user_id="bo", infer=False)
    told["add nothing that was said"] = memory.add([SAID[0]], user_id="bo", infer=False)
    told["get"] = memory.get(first)
    told["get of nobody's run"] = memory.get(told["add a text"]["results"][0]["id"])
    told["get_all"] = memory.get_all(filters=names)
    told["get_all of nobody"] = memory.get_all(filters={"user_id": "nobody"})
    told["search"] = memory.search("When does Ana row on Sundays?", filters={"user_id": "ana"}, threshold=0.0, top_k=2)
    told["search by metadata"] = memory.search("row", filters={"user_id": "ana", "mood": {"ne": "good"}}, threshold=0.0)
    told["update"] = memory.update(first, text="I row on Mondays.", metadata={"mood": "better"})
    told["get after update"] = memory.get(first)
    told["history"] = memory.history(first)
    told["delete"] = memory.delete(second)
    told["get after delete"] = memory.get(second)
    told["delete_all"] = memory.delete_all(user_id="ana")
    told["get_all after delete_all"] = memory.get_all(filters={"user_id": "ana"})
    told["reset"] = memory.reset()
    return told


def refusals(memory: Any) -> dict[str, str]:  # noqa: ANN401 - mem0 is not installed where this is checked
    """The kind of error, as far as Python's own go, of calls that cannot be answered."""
    calls = {
        "search without a scope": lambda: memory.search("row"),
        "search with a user beside the filters": lambda: memory.search("row", user_id="ana"),
        "search for nothing": lambda: memory.search(" ", filters={"user_id": "ana"}),
        "search with a threshold of 2": lambda: memory.search("row", filters={"user_id": "ana"}, threshold=2),
        "search with top_k of -1": lambda: memory.search("row", filters={"user_id": "ana"}, top_k=-1),
        "get_all without a scope": lambda: memory.get_all(),
        "delete_all of nobody": lambda: memory.delete_all(),
        "delete of an unknown one": lambda: memory.delete("00000000-0000-0000-0000-000000000000"),
        "update of an unknown one": lambda: memory.update("00000000-0000-0000-0000-000000000000", text="x"),
        "update of nothing": lambda: memory.update("00000000-0000-0000-0000-000000000000"),
        "chat": lambda: memory.chat("hello"),
    }
    found: dict[str, str] = {}
    for name, call in calls.items():
        try:
            call()
        except (ValueError, NotImplementedError) as error:
            found[name] = "ValueError" if isinstance(error, ValueError) else type(error).__name__
    return found


def signatures(kind: type) -> dict[str, list[list[str | None]]]:
    """Method -> its parameters: name, kind, default."""
    found: dict[str, list[list[str | None]]] = {}
    for name in METHODS:
        parameters = list(inspect.signature(getattr(kind, name)).parameters.values())
        found[name] = [
            [one.name, one.kind.name, None if one.default is one.empty else _written(one.default)]
            for one in parameters
            if one.name != "self"
        ]
    return found


def _written(default: object) -> str:
    return "<object>" if type(default) is object else repr(default)


class _Hashes:
    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return [byte / 255 for byte in hashlib.md5(text.encode(), usedforsecurity=False).digest()[:8]]

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        return [self.embed(text, memory_action) for text in texts]


def main() -> None:
    """Write the file."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": folder, "OPENAI_API_KEY": "none"}
        from mem0 import AsyncMemory, Memory  # pyright: ignore[reportMissingImports] - no dependency of ours

        store = {"provider": "qdrant", "config": {"path": f"{folder}/q", "embedding_model_dims": 8}}
        memory = Memory.from_config({"vector_store": store, "history_db_path": f"{folder}/h.db"})
        memory.embedding_model = _Hashes()
        found = {
            "version": importlib.metadata.version("mem0ai"),
            "signatures": {"Memory": signatures(Memory), "AsyncMemory": signatures(AsyncMemory)},
            "refusals": refusals(memory),
            "shapes": {name: shape(answer) for name, answer in scenario(memory).items()},
        }
        memory.vector_store.client.close()
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
