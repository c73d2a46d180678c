"""``mnemic worker``: words added by one process, read by another, by a language model over HTTP."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest

from mnemic import Enriching, Memory
from model_server_kit import error, serving
from reading_kit import ReadingModel, over_http


@pytest.fixture
def reader():
    return ReadingModel()


@pytest.fixture
def server(reader, monkeypatch):
    pytest.importorskip("pydantic_ai", reason="the extra llm is not installed")
    with serving(over_http(reader)) as serves:
        monkeypatch.setenv("MNEMIC_MODEL", f"openai-compatible:m@{serves.url}")
        yield serves


def test_words_are_added_by_one_command_and_read_by_another(cli, server):
    told = ("--user", "ana", "--speaker", "Ana", "--embedder", "none")
    assert cli("add", "I moved to Lisbon.", *told)[0] == 0
    assert server.bodies == []  # adding asks nobody
    assert "reading by models: 2 pending" in cli("status", "--user", "ana")[1]
    code, out, _ = cli("worker", "--once", "--embedder", "none")
    assert code == 0
    assert out.endswith("reading by models: 0 pending, 0 under way, 2 done, 0 failed\n")
    assert "Ana moved to Lisbon." in cli("notes", "--user", "ana")[1]
    shown = cli("status", "--user", "ana")[1]
    assert "notes: 3 calls, 36 tokens in, 9 out" in shown
    code, out, _ = cli("worker", "--once", "--json", "--embedder", "none")
    assert json.loads(out)["done"] == 2


def test_what_fails_is_said_with_its_reason_and_can_be_tried_again(cli, server, reader, monkeypatch):
    told = ("--user", "ana", "--speaker", "Ana", "--embedder", "none")
    cli("add", "I moved to Lisbon.", *told)
    with serving(lambda _: error(401, "bad key")) as closed:
        monkeypatch.setenv("MNEMIC_MODEL", f"openai-compatible:m@{closed.url}")
        code, out, _ = cli("worker", "--once", "--embedder", "none")
    assert code == 1
    assert "2 failed" in out
    assert "bad key" in out
    monkeypatch.setenv("MNEMIC_MODEL", f"openai-compatible:m@{server.url}")
    code, out, err = cli("worker", "--once", "--retry", "--embedder", "none")
    assert (code, "2 done" in out, "Again: 2 pieces" in err) == (0, True, True)


def test_without_model_and_embedder_there_is_nothing_to_do_and_adding_leaves_nothing(cli, filled):
    code, _, err = filled("worker", "--once", "--embedder", "none")
    assert (code, "without an embedder and without a language model" in err) == (1, True)
    assert "reading by models" not in filled("status", "--user", "ana")[1]


@pytest.mark.parametrize(("told", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["Ctrl-C", "TERM"])
def test_a_worker_runs_until_it_is_told_to_end(tmp_path, server, told, status):
    command = [sys.executable, "-m", "mnemic", "worker", "--db", "m.db", "--embedder", "none"]
    at_once = Enriching(settle_s=0.0)
    with Memory.open(tmp_path / "m.db", embedder=None, model=ReadingModel(), enrichment=at_once, workers=0) as memory:
        memory.add({"role": "user", "name": "Ana", "content": "I moved to Lisbon."}, user_id="ana")
    worker = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    for _ in range(1200):
        with Memory.open(tmp_path / "m.db", embedder=None) as memory:
            done = memory.status(user_id="ana").enrichment.done
        if done == 2 or worker.poll() is not None:
            break
        time.sleep(0.05)
    worker.send_signal(told)
    assert "Ctrl-C ends it" in worker.communicate(timeout=30)[1]
    assert (worker.returncode, len(server.bodies)) == (status, 4)
