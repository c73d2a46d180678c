"""What the tests of the store's faults share: small batches, and actions in other processes."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mnemic.protocols import Batch
from mnemic.types import Interval, Note, Span, Trace, Turn, Unit

NOW = datetime(2024, 5, 17, tzinfo=UTC)


def batch(*ids: str, text: str = "I like tea.", cue: str = "tea") -> Batch:
    """Turns as one trace, each with a unit that mentions the cue, and a note on all of them."""
    turns = tuple(Turn(turn_id, "s", "user", "Ana", text) for turn_id in ids)
    spans = tuple(Span(turn_id, 0, len(text)) for turn_id in ids)
    return Batch(
        turns=turns,
        units=tuple(Unit(turn_id, 0, len(text), {cue: 1}) for turn_id in ids),
        traces=(Trace("", -1, "s", spans, 5),),
        notes=(Note("", 1, "fact", "Ana", text, Interval(None, None), spans, cues={cue: 1}),),
        surfaces={cue: cue.title()},
        idempotency_key=" ".join(ids),
        request_turns=ids,
    )


def python(script: str, *arguments: object, wait: bool = True) -> subprocess.Popen[str]:
    """Run a script in another process, with this folder importable."""
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", script, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])},
    )
    if wait:
        process.wait(timeout=60)
    return process


def in_fork(action: Callable[[], Any], *, as_nobody: bool = False) -> Any:
    """The value of an action in a forked process; its exception is raised here."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            if as_nobody and os.getuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            answer = (True, action())
        except Exception as error:  # noqa: BLE001 - the edge of the process: the parent raises it
            answer = (False, error)
        with os.fdopen(writer, "wb") as pipe:
            pickle.dump(answer, pipe)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        succeeded, value = pickle.load(pipe)
    os.waitpid(child, 0)
    if succeeded:
        return value
    raise value
