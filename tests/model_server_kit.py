"""A server on this machine that speaks OpenAI's chat completions and answers by a script."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, dict[str, str], dict[str, Any] | list[str]]
"""Status, headers, body; of a stream its events."""


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


def events(*pieces: str, finish: str | None = "stop", usage: bool = True) -> Answer:
    """A completion as a stream of pieces; without ``finish`` the connection breaks off in the midst of it."""
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    sent = [{"index": 0, "delta": {"role": "assistant", "content": piece}, "finish_reason": None} for piece in pieces]
    chunks: list[dict[str, Any]] = [{**chunk, "choices": [one]} for one in sent]
    if finish is not None:
        chunks.append({**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        if usage:
            counted = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}
            chunks.append({**chunk, "choices": [], "usage": counted})
    said = [json.dumps(one) for one in chunks]
    return 200, {"Content-Type": "text/event-stream"}, [*said, "[DONE]"] if finish is not None else said


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
            is_stream = isinstance(said, list)
            payload = "".join(f"data: {event}\n\n" for event in said) if is_stream else json.dumps(said)
            broken = is_stream and said[-1] != "[DONE]"
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(payload.encode()) + broken))
            self.end_headers()
            self.wfile.write(payload.encode())
            self.close_connection = bool(broken)

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
