"""A language model on this machine that speaks OpenAI's chat completions, and replies as it is told to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Replier = Callable[[str, str], Any]
"""From a request's system prompt and user prompt to the text of the reply; or to an HTTP status, an int, to fail with;
or to a text and its finish reason."""


class ModelServer(ThreadingHTTPServer):
    """Counts every request; ``address`` is its base URL."""

    daemon_threads = True

    def __init__(self, reply: Replier) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.reply = reply
        self.asked: list[tuple[str, str]] = []
        self.bodies: list[dict[str, Any]] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = {message["role"]: message["content"] for message in body["messages"]}
        asked = said.get("system", ""), said["user"]
        self.server.asked.append(asked)
        self.server.bodies.append(body)
        reply = self.server.reply(*asked)
        if isinstance(reply, int):
            self.send_error(reply)
            return
        text, finish = (reply, "stop") if isinstance(reply, str) else reply
        completion = {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [
                {
                    "index": 0,
                    "finish_reason": finish,
                    "message": {"role": "assistant", "content": text},
                    "logprobs": None,
                }
            ],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        }
        content = json.dumps(completion).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serving(reply: Replier) -> Iterator[ModelServer]:
    """A server that runs until the block ends."""
    with ModelServer(reply) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
