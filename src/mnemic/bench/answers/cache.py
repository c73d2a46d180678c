"""Replies of language models on disk, so that a run that was killed goes on without paying twice.

A file of JSON lines, one a reply: ``{"key", "model", "purpose", "text", "finish", "tokens_in", "tokens_out"}``, and
``took_s``, the seconds that it took, where they were measured. A line
is written by one ``write`` to a file opened for appending and synchronised to the disk, so what a kill leaves is whole
lines and at most one torn line, which is passed over. Several processes may append to one file; each sees what was
there when it opened it. The file holds what models said about people's dialogues, hence its mode 0600.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Self, cast

from mnemic.errors import InvalidFile
from mnemic.protocols import Completion, Reply
from mnemic.types import Json

_BEGINNING = b'{"key": "'
"""Of every line, torn ones too."""


def key(model: str, request: Completion, *, trial: int = 1, again: int = 0) -> str:
    """SHA-256, in hex, of all that a reply depends on.

    Args:
        model: ``provider:model``.
        request: Purpose, prompts, limit and schema.
        trial: Another number asks again.
        again: How often the same was asked before in the same run: for who could not use the reply.
    """
    whole = json.dumps([model, asdict(request), trial, *([again] if again else [])], sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()


class ReplyCache:
    """The replies of one file, and those added since; safe to use from several threads.

    Args:
        path: The file; made, with its folder, if need be.

    Raises:
        InvalidFile: It cannot be opened for reading and appending, or is no file of replies.

    Attributes:
        damaged: How many lines were passed over, torn or not understood.
    """

    def __init__(self, path: Path) -> None:
        self.damaged = 0
        self._path = path
        self._took: dict[str, float] = {}
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            written = path.read_bytes()
        except OSError as error:
            raise InvalidFile(f"{path} cannot hold a model's replies ({error.strerror}); name another file") from error
        self._replies = self._read(written)
        if written and not written.endswith(b"\n"):
            # The next line must not continue a torn one.
            self._write(b"\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._replies)

    def get(self, key: str) -> Reply | None:
        """The reply under a key, if there is one."""
        return self._replies.get(key)

    def took_s(self, key: str) -> float:
        """Seconds that the reply under a key took to come when it was asked for; 0 where nobody measured."""
        return self._took.get(key, 0.0)

    def keep(self, key: str, model: str, request: Completion, reply: Reply, *, took_s: float = 0.0) -> Reply:
        """Add a reply, and return the one that counts: the first that was ever added under its key.

        Raises:
            InvalidFile: It could not be written; the message says why.
        """
        line: dict[str, Json] = {"key": key, "model": model, "purpose": request.purpose, **asdict(reply)}
        line |= {"took_s": round(took_s, 4)} if took_s else {}
        with self._lock:
            if key in self._replies:
                return self._replies[key]
            self._write(json.dumps(line).encode() + b"\n")
            self._replies[key] = reply
            self._took[key] = round(took_s, 4)
        return reply

    def close(self) -> None:
        """Close the file; safe to call twice."""
        with self._lock:
            if self._file >= 0:
                os.close(self._file)
                self._file = -1

    def _write(self, line: bytes) -> None:
        try:
            if os.write(self._file, line) < len(line):
                raise InvalidFile(f"{self._path}: the disk is full; free some space, and run the same command again")
            os.fsync(self._file)
        except OSError as error:
            raise InvalidFile(f"{self._path} could not be written: {error.strerror}") from error

    def _read(self, written: bytes) -> dict[str, Reply]:
        replies: dict[str, Reply] = {}
        foreign = False
        for line in filter(bytes.strip, written.split(b"\n")):
            found = _parsed(line)
            if found is None:
                self.damaged += 1
                foreign = foreign or not _BEGINNING.startswith(line[: len(_BEGINNING)])
            else:
                name, reply, took_s = found
                replies.setdefault(name, reply)
                self._took.setdefault(name, took_s)
        if foreign and not replies:
            self.close()
            raise InvalidFile(f"{self._path} is no file of a model's replies; name another one")
        return replies


def _parsed(line: bytes) -> tuple[str, Reply, float] | None:
    try:
        value = cast(Json, json.loads(line))
    except ValueError:
        return None
    match value:
        case {
            "key": str(name),
            "text": str(text),
            "finish": "stop" | "length" | "refusal" as finish,
            "tokens_in": int(tokens_in),
            "tokens_out": int(tokens_out),
        }:
            took_s = value.get("took_s")
            return name, Reply(text, finish, tokens_in, tokens_out), took_s if isinstance(took_s, float) else 0.0
        case _:
            return None
