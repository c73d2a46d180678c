"""A peer for tests, run as a program: ``python peer_program.py MODE FOLDER``. What it is asked decides how it fails."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from mnemic.bench.peers.serve import serve
from mnemic.models.doubles import HashEmbedder


class Store:
    """Keeps items in one JSON file, and ranks them by cosine."""

    def __init__(self, folder, embedder):
        self.file = folder / "items.json"
        self.embedder = embedder
        self.items = json.loads(self.file.read_text()) if self.file.is_file() else {}

    def add(self, user, items):
        print("noise on standard output")
        print("noise on standard error", file=sys.stderr)
        os.write(1, b"noise from native code\n")
        self.items.setdefault(user, []).extend(items)
        self.file.write_text(json.dumps(self.items))

    def search(self, user, query, top_k):
        getattr(self, f"_{query}", lambda: None)()
        if query == "stranger":
            return [("99", 1.0)]
        items = self.items.get(user, [])
        scores = (
            self.embedder.embed([item["text"] for item in items]) @ self.embedder.embed([query])[0] if items else []
        )
        ranked = sorted(zip(scores, items, strict=True), key=lambda pair: -pair[0])
        return [(item["id"], float(score)) for score, item in ranked[:top_k]]

    def close(self):
        (self.file.parent / "closed").touch()

    def _raise(self):
        raise RuntimeError("the index is upside down")

    def _crash(self):
        os.write(2, b"Segmentation fault\n")
        os._exit(7)

    def _hang(self):
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        (self.file.parent / "child").write_text(str(child.pid))
        time.sleep(600)

    def _burn(self):
        started = time.process_time()
        while time.process_time() - started < 0.1:
            pass

    def _call(self):
        socket.create_connection(("192.0.2.1", 80), timeout=1)

    def _lookup(self):
        socket.getaddrinfo("telemetry.example", 443)


if __name__ == "__main__":
    mode, folder = sys.argv[1:]
    if mode == "garbage":
        sys.stdin.readline()
        sys.stdout.write("Welcome to the peer!\n")
    elif mode == "array":
        sys.stdin.readline()
        sys.stdout.write("[1]\n")
    elif mode == "deaf":
        time.sleep(600)
    else:
        serve(Store, Path(folder), embedder=HashEmbedder(dim=64 if mode == "good" else 32))
