"""Virtual environments for peers: made once per recipe below a cache folder, and used again while it is the same."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from mnemic.bench.peers.recipes import Recipe
from mnemic.bench.peers.wire import PeerFailed

CACHE: Final = Path("~/.cache/mnemic/peers")
_MARK: Final = "mnemic-peer.json"
"""Written last: where it is, the environment is whole."""
_TIMEOUT_S: Final = 3600.0
_TAIL: Final = 800  # characters of pip's output in an error message


def prepare(recipe: Recipe, cache: Path, *, say: Callable[[str], None] = lambda _: None) -> Path:
    """The interpreter of a peer's environment, which is made and installed where it is not there.

    Args:
        recipe: Of the peer.
        cache: Folder of the environments; ``~`` is the user's home.
        say: Told, in a sentence, of what takes long.

    Raises:
        PeerFailed: It cannot be installed: no network, no such release, no room.
    """
    place = _place(recipe, cache.expanduser().absolute())
    if not (place / _MARK).is_file():
        say(f"Installing {recipe.name} ({', '.join(recipe.pins)}) into {place}; it is used again afterwards.")
        _install(recipe, place)
    return _interpreter(place)


def _place(recipe: Recipe, cache: Path) -> Path:
    """Of one recipe for one interpreter: another release of either is another folder."""
    identity = json.dumps([sys.version, sys.base_prefix, *recipe.requirements])
    return cache / f"{recipe.name}-{hashlib.sha256(identity.encode()).hexdigest()[:12]}"


def _install(recipe: Recipe, place: Path) -> None:
    """Make it beside its place and move it there when it is whole, so that two processes may do so at a time."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{recipe.name}-", dir=place.parent))
    except OSError as error:
        raise PeerFailed(
            f"{recipe.name}: no environment can be made in {place.parent} ({error.strerror}); name another folder"
        ) from error
    try:
        _run(recipe, "making its virtual environment", [sys.executable, "-m", "venv", str(draft)])
        # A peer loads a small part of what it brings; compiling all of it (mem0: 5,468 files) takes some 15 s of CPU.
        pip = [str(_interpreter(draft)), "-m", "pip", "install", "--quiet", "--no-input", "--no-compile"]
        _run(recipe, "pip", [*pip, "--disable-pip-version-check", *recipe.requirements])
        (draft / _MARK).write_text(json.dumps(recipe.requirements), encoding="utf-8")
        try:
            draft.rename(place)
        except OSError:
            if not (place / _MARK).is_file():  # else another process was faster, and made the same
                raise
    except OSError as error:
        raise PeerFailed(f"{recipe.name}: {place} cannot be made ({error}); make room, or remove it") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _run(recipe: Recipe, what: str, command: list[str]) -> None:
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=_TIMEOUT_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PeerFailed(f"{recipe.name} cannot be installed: {what}: {error}; {_way_out(recipe)}") from error
    if done.returncode != 0:
        said = done.stdout.decode("utf-8", "replace").strip()[-_TAIL:]
        raise PeerFailed(
            f"{recipe.name} cannot be installed: {what} ended with exit code {done.returncode}; {_way_out(recipe)}. "
            f"It said: {said}"
        )


def _way_out(recipe: Recipe) -> str:
    return f"run it once with a network and room on the disk, or leave {recipe.name} out"


def _interpreter(place: Path) -> Path:
    return place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
