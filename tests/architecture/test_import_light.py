"""Importing mnemic is cheap and touches nothing (faults B024, B028)."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from yardstick import slowness

HEAVY = {"numpy", "scipy", "sqlalchemy", "onnxruntime", "tokenizers", "alembic", "typer", "rich"}
MODELS = {"onnxruntime", "tokenizers", "scipy", "spacy", "pydantic_ai"}

# Reports what is loaded afterwards, and every socket or write to disk on the way, whoever makes it.
WATCHED = """
import json, os, sys
seen = []

def watch(event, args):
    if event.startswith("socket."):
        seen.append(event)
    elif event == "open" and (args[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        seen.append(f"open {args[0]}")
    elif event in ("os.mkdir", "os.rename", "os.remove", "sqlite3.connect"):
        seen.append(f"{event} {args[0]}")

sys.addaudithook(watch)
STATEMENT
print(json.dumps({"loaded": sorted({name.partition(".")[0] for name in sys.modules}), "seen": seen}))
"""
TIMED = """
import time
started = time.process_time()
import mnemic
print(time.process_time() - started)
"""


def run(script, home=None):
    # Little of the environment: "CI" alone keeps onnxruntime's usage reports quiet, and would hide them here.
    kept = {key: value for key in ("PATH", "PYTHONPATH", "HOME") if (value := os.environ.get(key)) is not None}
    environment = kept | {"PYTHONDONTWRITEBYTECODE": "1"} | ({} if home is None else {"HOME": str(home)})
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    return done.stdout


@pytest.mark.fault("B024")
@pytest.mark.fault("B028")
@pytest.mark.parametrize(
    ("statement", "never"), [("import mnemic", HEAVY), ("from mnemic import Memory", MODELS)], ids=["package", "Memory"]
)
def test_an_import_loads_nothing_heavy_opens_no_socket_and_writes_no_file(tmp_path, statement, never):
    tmp_path.chmod(0o555)
    found = json.loads(run(WATCHED.replace("STATEMENT", statement), home=tmp_path))
    assert set(found["loaded"]) & never == set()
    assert found["seen"] == []
    assert list(tmp_path.iterdir()) == []


def test_the_watch_sees_sockets_and_files(tmp_path):
    act = f"import socket; socket.socket().close(); open({str(tmp_path / 'f')!r}, 'w').close()"
    seen = json.loads(run(WATCHED.replace("STATEMENT", act)))["seen"]
    assert seen == ["socket.__new__", f"open {tmp_path / 'f'}"]


@pytest.mark.fault("B028")
def test_a_memory_writes_nothing_outside_its_own_file(tmp_path):
    home, place = tmp_path / "home", tmp_path / "place"
    home.mkdir()
    place.mkdir()
    run(
        "from mnemic import Memory\n"
        f"with Memory.open({str(place / 'm.db')!r}) as memory:\n"
        "    memory.add('I keep bees.', user_id='ana')\n"
        "    memory.search('Who keeps bees?', user_id='ana')\n",
        home=home,
    )
    assert list(home.rglob("*")) == []
    assert [path.name for path in place.iterdir()] == ["m.db"]


def test_importing_the_package_takes_less_than_50_milliseconds():
    # Of the processor's time, the best of five: other processes of the machine do not count.
    assert min(float(run(TIMED)) for _ in range(5)) < 0.05 * max(1, slowness())


def test_a_warm_memory_s_first_search_loads_no_library(tmp_path):
    script = f"""
import sys
from mnemic import Memory
memory = Memory.open({str(tmp_path / "m.db")!r})
memory.add("I keep bees.", user_id="bo")
memory.warm()
loaded = set(sys.modules)
assert memory.search("Who keeps bees?", user_id="bo").results
print(sorted({{name.partition(".")[0] for name in set(sys.modules) - loaded}} - {{"mnemic"}}))
"""
    assert run(script).strip() == "[]"
