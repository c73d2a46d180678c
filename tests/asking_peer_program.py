"""A peer for tests that asks while it works, run as a program: ``python asking_peer_program.py FOLDER``.

It makes one memory of every two items, the reply to what it asked about them; what they say decides how it fails.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from mnemic.bench.peers.serve import Making, serve_asking
from mnemic.models.doubles import HashEmbedder


class Store:
    def __init__(self, folder, embedder, ask):
        self.embedder = embedder
        self.ask = ask
        self.memories: dict[str, list[str]] = {}

    def add(self, user, items):
        made, unreadable = [], 0
        for first in range(0, len(items), 2):
            batch = items[first : first + 2]
            said = " ".join(f"{item['said_at']} {item['role']} {item['text']}" for item in batch)
            text = self.ask({"system": "Extract.", "user": said, "max_tokens": 99})["text"]
            if text == "unreadable":
                unreadable += 1
            elif text == "environment":
                made.append({"text": " ".join(sorted(os.environ)), "sources": [item["id"] for item in batch]})
            elif text:
                made.append({"text": text, "sources": [item["id"] for item in batch]})
        self.memories.setdefault(user, []).extend(one["text"] for one in made)
        return Making(tuple(made), unreadable)

    def search(self, user, query, top_k):
        held = self.memories.get(user, [])
        scores = self.embedder.embed(held) @ self.embedder.embed([query])[0] if held else []
        ranked = sorted(enumerate(scores), key=lambda pair: -pair[1])
        return [(str(number), float(score)) for number, score in ranked[:top_k]]

    def close(self):
        pass


if __name__ == "__main__":
    serve_asking(Store, Path(sys.argv[1]), embedder=HashEmbedder())
