"""A real server: what it said was stored is stored, whatever ends it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import closing

from mnemic.store import open_store
from server_kit import Server, make_key


def test_what_was_stored_before_a_kill_is_there_after_it(tmp_path):
    database = tmp_path / "m.db"
    key = make_key(database)
    server = Server(database, "--embedder", "none")
    try:
        for number in range(5):
            body = {"messages": [{"id": f"m{number}", "role": "user", "content": f"Words {number}"}], "user_id": "ana"}
            status, _ = server.ask("POST", "/v1/memories", key=key, body=body)
            assert status == 201
    finally:
        assert server.end(signal.SIGKILL) == -signal.SIGKILL
    again = Server(database, "--embedder", "none")
    try:
        status, text = again.ask("GET", "/v1/memories", key=key, user_id="ana")
        assert status == 200
        assert [one["text"] for one in json.loads(text)["memories"]] == [f"Words {n}" for n in range(5)]
        status, text = again.ask("POST", "/v1/search", key=key, body={"query": "words 3", "user_id": "ana"})
        assert "m3" in json.loads(text)["results"][0]["turn_ids"]
        # A key that is revoked by another process is refused by this one at once.
        revoke = [sys.executable, "-m", "mnemic", "keys", "revoke", key.split("_")[1], "--db", str(database)]
        subprocess.run(revoke, check=True, capture_output=True)
        assert again.ask("GET", "/v1/memories", key=key, user_id="ana")[0] == 401
    finally:
        code = again.end()
    assert code == 0
    log = [json.loads(line) for line in again.log if line.startswith("{")]
    assert [line["status"] for line in log] == [200, 200, 401]
    assert key not in "".join(again.log)
    with closing(open_store(database)) as store:
        assert store.check() == []
