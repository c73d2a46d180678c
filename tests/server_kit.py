"""A real server in a process of its own, asked over a real connection."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import urlencode


class Server:
    """``mnemic serve`` on a free port; ``log`` is what it wrote to stderr so far."""

    def __init__(self, database: Path, *arguments: str) -> None:
        self.log: list[str] = []
        started = threading.Event()
        command = [sys.executable, "-m", "mnemic", "serve", "--db", str(database), "--port", "0", *arguments]
        self.process = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"}
        )
        self.address = ""

        def read() -> None:
            for line in self.process.stderr:
                self.log.append(line)
                if found := re.search(r"at http://(\S+?);", line):
                    self.address = found[1]
                    started.set()
            started.set()

        self._reader = threading.Thread(target=read, daemon=True)
        self._reader.start()
        started.wait(120)
        assert self.address, "".join(self.log)

    def ask(self, method: str, path: str, *, key: str = "", body: object = None, **query: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection(self.address, timeout=60)
        try:
            headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
            sent = None if body is None else json.dumps(body)
            connection.request(method, f"{path}?{urlencode(query)}" if query else path, sent, headers)
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        code = self.process.wait(60)
        self._reader.join(10)
        self.process.stderr.close()
        return code


def make_key(database: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "mnemic", "keys", "create", "test", "--db", str(database), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
