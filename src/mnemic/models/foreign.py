"""What other people's code says when it fails."""

from __future__ import annotations

from typing import Final

_LONGEST: Final = 200  # characters


def told(error: Exception) -> str:
    """The kind of an error and the beginning of its message, on one line; the whole is its cause."""
    line = " ".join(f"{type(error).__name__}: {error}".split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
