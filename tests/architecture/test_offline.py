"""Nothing of the core connects to anything, and searching starts no threads (faults B021, B025)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

# Runs the whole core in one process whose sockets are dead; what was tried and left behind is reported as JSON.
SCRIPT = """
import contextlib, io, json, os, socket, sys, threading

tried = []

def refuse(*args, **kwargs):
    tried.append(repr(args[-1:]))
    raise OSError("there is no network in this test")

socket.socket.connect = socket.socket.connect_ex = socket.socket.sendto = refuse
socket.getaddrinfo = socket.gethostbyname = socket.create_connection = refuse

def of_process(name):
    # The process's own list, where there is one: it also knows what native code has.
    return os.listdir(f"/proc/self/{name}") if os.path.isdir(f"/proc/self/{name}") else None

def threads():
    tasks = of_process("task")
    return threading.active_count() if tasks is None else len(tasks)

def sockets():
    found = []
    for number in of_process("fd") or ():
        with contextlib.suppress(OSError):
            found.append(os.readlink(f"/proc/self/fd/{number}"))
    return [name for name in found if name.startswith("socket:")]

before = sockets()
from mnemic import Memory
from mnemic.cli import main

with Memory.open("m.db") as memory:
    memory.add(
        ["The landlord keeps bees on the roof.", "How many hives are there?"],
        user_id="ana",
    )
    found = {
        config: memory.search("Who keeps bees?", user_id="ana", config=config, explain=True).results[0].turn_ids
        for config in ("default", "hero")
    }
    context = memory.context("Who keeps bees?", user_id="ana")
    counts = [threads()]
    for _ in range(100):
        memory.search("Who keeps bees?", user_id="ana")
    counts.append(threads())
said = io.StringIO()
with contextlib.redirect_stdout(said):
    try:
        main(["demo"])
    except SystemExit as leaving:
        code = leaving.code
print(json.dumps({
    "tried": tried, "found": [*found], "context": context, "threads": counts, "code": code, "demo": said.getvalue(),
    "sockets": [name for name in sockets() if name not in before],
}))
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("offline")
    kept = {key: value for key in ("PATH", "PYTHONPATH") if (value := os.environ.get(key)) is not None}
    # numpy's own pool is the machine's business, not ours: without it, every thread is one that somebody started.
    pool = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    environment = kept | pool | {"HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, cwd=folder, env=environment, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.fault("B021")
@pytest.mark.fault("B025")
def test_nothing_tries_to_connect(report):
    assert report["tried"] == []


@pytest.mark.fault("B025")
@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs the process's list of open files")
def test_no_socket_is_open_not_even_of_native_code(report):
    assert report["sockets"] == []


def test_everything_works_all_the_same(report):
    assert report["found"] == ["default", "hero"]
    assert "The landlord keeps bees on the roof." in report["context"]
    assert report["code"] == 0
    assert "Marguerite lets me use her kiln on Wednesdays." in report["demo"]


@pytest.mark.fault("B025")
def test_a_hundred_searches_start_no_thread(report):
    first, last = report["threads"]
    assert first == last


@pytest.mark.fault("B025")
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs the process's list of threads")
def test_nobody_but_the_caller_has_a_thread(report):
    # onnxruntime's usage reports, where they are not switched off, run in one of their own.
    assert report["threads"][0] == 1
