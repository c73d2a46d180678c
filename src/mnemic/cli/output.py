"""What the command line writes: results on stdout, everything else on stderr, both in UTF-8 whatever the locale.

Words of a dialogue are hostile data: on their way to a terminal they lose the power to move its cursor, to clear
it, or to turn the direction of writing. JSON keeps every character, escaped where a terminal would act on it.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from mnemic.cli.interrupt import between_pieces
from mnemic.types import Json

_ACTING = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but tab and newline
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction of writing
    r"\u2028\u2029"
)
_UNSAFE = re.compile(rf"[{_ACTING}]")
_UNSAFE_IN_JSON = re.compile(rf"[{_ACTING}\ud800-\udfff]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def use_utf8() -> None:
    """Make both streams UTF-8, with a replacement for what it cannot express; one that is closed swallows all."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - to the process's end
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")


def flush() -> None:
    """Write what is still held back, while there is somebody to tell when that fails; a reader who left is no fault.

    Raises:
        OSError: It cannot be written (the disk is full).
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            # Or the interpreter would try once more at its end, and complain.
            with Path(os.devnull).open("w") as nothing:
                os.dup2(nothing.fileno(), stream.fileno())
            if not isinstance(error, BrokenPipeError):
                raise


def result(text: str = "") -> None:
    """Write a line of the result, as it is."""
    sys.stdout.write(text + "\n")


def piece(text: str) -> None:
    """Write a part of a line, safe for a terminal, at once."""
    sys.stdout.write(shown(text))
    sys.stdout.flush()


def styled(text: str, style: str = "", indent: int = 0) -> None:
    """Write a paragraph for people: wrapped and styled on a terminal, as it is everywhere else.

    Args:
        text: Already ``shown``.
        style: Of rich: ``bold``, ``dim``, ``green``.
        indent: Spaces before every line.
    """
    if sys.stdout.isatty():
        # Imported here: a pipe does without it.
        from rich.console import Console
        from rich.padding import Padding
        from rich.text import Text

        Console(highlight=False).print(Padding(Text(text, style), (0, 0, 0, indent), expand=False))
    else:
        result("\n".join(f"{' ' * indent}{line}" for line in text.split("\n")))


def note(text: str) -> None:
    """Write a line about the work: a warning, an error, a hint."""
    sys.stderr.write(text + "\n")


def warn(warnings: Iterable[str]) -> None:
    """Write warnings."""
    for warning in warnings:
        note(f"warning: {shown(warning)}")


@contextmanager
def progress(what: str, total: int | None) -> Generator[Callable[[int], None]]:
    """Show a progress bar on a terminal; Ctrl-C ends the work where the bar advances.

    Yields:
        What to call with the number of things done since.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with (
        Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar,
        between_pieces() as check,
    ):
        task = bar.add_task(what, total=total)

        def advance(count: int) -> None:
            bar.advance(task, count)
            check()

        yield advance


def shown(text: str) -> str:
    r"""Text made safe for a terminal: what would act on it is written out (``\x1b``), a lone surrogate replaced."""
    text = _UNSAFE.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)
    return _SURROGATE.sub("\ufffd", text)


def as_json(value: Json | Mapping[str, object] | Sequence[object]) -> str:
    """One line of JSON, lone surrogates included."""
    text = json.dumps(value, ensure_ascii=False, default=_plain)
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def counted(number: int, noun: str) -> str:
    """``1 message``, ``2,000 messages``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def given(text: str) -> str:
    """A command-line argument or environment variable, taken as UTF-8 whatever the locale."""
    return os.fsencode(text).decode("utf-8", "surrogateescape")


def path(text: str) -> Path:
    """The path that such an argument names."""
    return Path(os.fsdecode(text.encode("utf-8", "surrogateescape")))


def _plain(value: object) -> Json:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no place in JSON")
