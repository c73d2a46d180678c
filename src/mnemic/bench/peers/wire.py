"""The wire between this process and a peer's: one JSON object a line, a request in and its reply out, in turn.

A request names its ``op``; a reply is ``{"ok": {…}}``, or ``{"error": "…"}`` after which the peer still listens. Before
its reply a peer may ask something of this side, ``{"ask": {…}}``, and is sent the answer, ``{"answer": {…}}``: so one
that needs a language model reaches it without a key and without a connection of its own. ASCII only, so that lone
surrogates pass. What a peer's libraries print goes to a file beside its data.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NotRequired, TypedDict, cast

from mnemic.errors import MnemicError
from mnemic.types import Json

LOG: Final = "stderr.log"
_TAIL: Final = 1000  # characters of the log in an error message
_SHOWN: Final = 120  # bytes of a line that is no reply
_GRACE_S: Final = 30.0  # to save and leave


class Item(TypedDict):
    """One thing to remember; ``id`` is unique within the user. Of a single turn, who said it and when, if known."""

    id: str
    session: str
    text: str
    role: NotRequired[str]
    speaker: NotRequired[str]
    said_at: NotRequired[str | None]


Answer = Callable[[Mapping[str, Json]], Mapping[str, Json]]
"""From what a peer asks to the answer."""


class PeerFailed(MnemicError):
    """A peer could not be installed or started, raised, broke the protocol, ended, or took too long."""


def encode(message: Mapping[str, object]) -> bytes:
    """One line, its end included."""
    return json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"


def decode(line: bytes) -> dict[str, Json] | None:
    """The object of one line; None where the line holds none."""
    try:
        message: object = json.loads(line)
    except ValueError:
        return None
    return cast(dict[str, Json], message) if isinstance(message, dict) else None


class Connection:
    """A peer's process. One thread uses it; whatever goes wrong except a reply ``error`` ends the process.

    Args:
        name: Of the peer, for messages.
        command: What to run.
        folder: Where it runs; its error output is added to ``stderr.log`` there.
        environment: All its variables.
        answer: Answers what the peer asks while it works on a request; None where it may ask nothing.

    Raises:
        PeerFailed: The command cannot be run.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        folder: Path,
        environment: Mapping[str, str],
        answer: Answer | None = None,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._name = name
        self._answer = answer
        self._log = folder / LOG
        self._expired = False
        self._closed = False
        try:
            with self._log.open("ab") as log:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    cwd=folder,
                    env=dict(environment),
                    start_new_session=True,  # so that its own children end with it
                )
        except OSError as error:
            raise PeerFailed(f"{name}: {command[0]} cannot be run ({error.strerror}); {_REMOVE}") from error

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    def request(self, op: str, *, timeout_s: float, **fields: Json) -> dict[str, Json]:
        """Send a request and wait for its reply.

        Args:
            op: What to do.
            timeout_s: After that the peer is ended; while what it asks is answered the time stands still.
            fields: The rest of the request.

        Raises:
            PeerFailed: The peer answered with an error, wrote something else, ended, or took longer.
            MnemicError: What it asked could not be answered; it was ended.
        """
        if self._closed:
            raise PeerFailed(f"{self._name} was closed before {op}; start it again")
        reply = self._exchange(encode({"op": op, **fields}), timeout_s)
        while self._answer is not None and isinstance(asked := (decode(reply) or {}).get("ask"), dict):
            reply = self._exchange(encode({"answer": self._answered(self._answer, asked)}), timeout_s)
        if self._expired:
            self.kill()
            raise PeerFailed(f"{self._name} did not answer {op} within {timeout_s:g} s and was ended; {self._output()}")
        if not reply:
            self.kill()
            raise PeerFailed(f"{self._name}'s process ended during {op} ({self._end()}); {self._output()}")
        message = decode(reply)
        content = None if message is None else message.get("ok")
        if isinstance(content, dict):
            return content
        if message is not None and isinstance(error := message.get("error"), str):
            raise PeerFailed(f"{self._name} failed at {op}: {error}; {self._output()}")
        self.kill()
        raise PeerFailed(f"{self._name} answered {op} with what is no reply: {reply[:_SHOWN]!r}; {self._output()}")

    def close(self) -> None:
        """Ask it to save and leave, and end it where it does not; safe to call twice."""
        if self._closed:
            return
        with contextlib.suppress(PeerFailed):  # it is ended below in any case, and there is nothing left to ask of it
            self.request("close", timeout_s=_GRACE_S)
        with contextlib.suppress(subprocess.TimeoutExpired, OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait(_GRACE_S)
        self.kill()

    def kill(self) -> None:
        """End it and its children at once, and reap it; safe to call twice."""
        self._closed = True
        self._end_group()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):  # what could not be written any more
                pipe.close()

    def _answered(self, answer: Answer, asked: Mapping[str, Json]) -> Mapping[str, Json]:
        try:
            return answer(asked)
        except BaseException:  # whatever it was, also Ctrl-C: the peer would wait for an answer for ever
            self.kill()
            raise

    def _exchange(self, line: bytes, timeout_s: float) -> bytes:
        """The reply's line; empty where the process ended. It is ended when the time is up, or on any interruption."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        timer = threading.Timer(timeout_s, self._expire)
        timer.daemon = True
        timer.start()
        try:
            self._process.stdin.write(line)
            self._process.stdin.flush()
            return self._process.stdout.readline()
        except OSError:
            return b""
        except BaseException:  # Ctrl-C: the reply still to come would be taken for the next request's
            self.kill()
            raise
        finally:
            timer.cancel()

    def _expire(self) -> None:
        self._expired = True
        self._end_group()

    def _end_group(self) -> None:
        if self._process.returncode is not None:
            return  # reaped: its number may be another process's by now
        with contextlib.suppress(ProcessLookupError, PermissionError):  # it is gone already
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def _end(self) -> str:
        code = self._process.returncode
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    def _output(self) -> str:
        """The way out, and the end of what it said: its log goes when its owner closes it."""
        said = self._log.read_text(encoding="utf-8", errors="replace")[-_TAIL:].strip()
        return f"leave {self._name} out, or run it again" + (f". The end of its output: {said}" if said else "")


_REMOVE: Final = "remove that environment, and it is installed anew"
