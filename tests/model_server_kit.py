"""A server on this machine that speaks OpenAI's chat completions and answers by a script."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, dict[str, str], dict[str, Any]]
"""Status, headers, body."""


def completion(text: str | None, *, finish: str = "stop", usage: bool = True) -> Answer:
    message = {"role": "assistant", "content": text}
    body: dict[str, Any] = {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }
    if usage:
        body["usage"] = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}
    return 200, {}, body


def error(status: int, message: str = "no", **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, named, {"error": {"message": message, "type": "t", "code": None}}


@dataclass
class ModelServer:
    """What was asked, and where to ask."""

    url: str
    bodies: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)


@contextmanager
def serving(answer: Callable[[dict[str, Any]], Answer]) -> Iterator[ModelServer]:
    """Serve until the block ends; ``answer`` is given each request's body."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.bodies.append(body)
            server.keys.append(self.headers["Authorization"])
            status, headers, said = answer(body)
            payload = json.dumps(said).encode()
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    server = ModelServer(f"http://127.0.0.1:{http.server_address[1]}/v1")
    thread = threading.Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
