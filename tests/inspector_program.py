"""The server that the tests of the inspector look at, as a program: ``PORT demo|tests keys|open``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import uvicorn

from inspector_said import add_demo, add_hostile
from mnemic import Budgets, Enriching, Limit, Memory
from mnemic.models.doubles import HashEmbedder
from mnemic.service import inspector
from mnemic.service.app import create
from mnemic.service.settings import Settings
from reading_kit import ReadingModel


def main(port: str, said: str, auth: str) -> None:
    demo = said == "demo"
    memory = Memory.open(
        "inspector.db",
        embedder="local" if demo else HashEmbedder(),
        model=ReadingModel(name="scripted:reader"),
        budgets=Budgets(user_day=Limit(tokens=400_000, calls=200), total=Limit(tokens=2_000_000)),
        enrichment=Enriching(cut="either"),
        workers=0,
    )
    with memory:
        (add_demo if demo else add_hostile)(memory)
        app = create(memory, settings=Settings(auth=auth == "keys"), mounts=[inspector.mount])
        keys = app.state.door.keys
        made = {
            "all": keys.create("the operator", scopes=("read", "write", "erase", "admin")),
            "reader": keys.create("a reader", scopes=("read",)),
            "writer": keys.create("a writer", scopes=("read", "write", "admin")),
            "other": keys.create("of another", tenant="acme", scopes=("read", "write", "erase", "admin")),
        }
        Path("keys.json").write_text(json.dumps({name: one.key for name, one in made.items()}), encoding="utf-8")
        Path("ids.json").write_text(json.dumps({name: one.row.key_id for name, one in made.items()}), encoding="utf-8")
        uvicorn.run(app, host="127.0.0.1", port=int(port), log_config=None, access_log=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
