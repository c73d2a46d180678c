"""What docstrings say of arguments and fields, for the description of the interface: said once, in the code."""

from __future__ import annotations

import inspect
import re
from typing import Final

_ENTRY: Final = re.compile(r"^(?P<names>\w+(?:, \w+)*): (?P<text>.*)$")
_SECTION: Final = re.compile(r"^(Args|Attributes|Returns|Raises|Yields):$")


def summary(documented: object) -> str:
    """The first line."""
    return (inspect.getdoc(documented) or "").partition("\n")[0]


def entries(documented: object, section: str) -> dict[str, str]:
    """Name -> description, of a docstring's section.

    Args:
        documented: A function or class.
        section: ``Args`` or ``Attributes``.
    """
    found: dict[str, str] = {}
    names: list[str] = []
    for line in _lines(inspect.getdoc(documented) or "", section):
        if entry := _ENTRY.match(line.removeprefix("    ")):
            names = entry["names"].split(", ")
            found |= dict.fromkeys(names, entry["text"])
        else:
            found |= {name: f"{found[name]} {line.strip()}" for name in names}
    return {name: text.replace("``", "`") for name, text in found.items()}


def _lines(text: str, section: str) -> list[str]:
    """The lines of a section, without empty ones."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        if _SECTION.match(line):
            inside = line == f"{section}:"
        elif inside and line.strip():
            if not line.startswith(" "):
                break
            lines.append(line)
    return lines
