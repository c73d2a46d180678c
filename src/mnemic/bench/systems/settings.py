"""Settings of a configuration as words of a command line: ``graph=0.2``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TypeVar

from mnemic.config import Configuration
from mnemic.errors import InvalidInput

Value = None | bool | int | float | str
C = TypeVar("C", bound=Configuration)
_WORDS: Mapping[str, Value] = {"none": None, "true": True, "false": False}


def value(text: str) -> Value:
    """``none``, ``true`` and ``false`` in any case, a whole number, a number, or else a word."""
    text = text.strip()
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def configured(config: C, settings: Mapping[str, Value]) -> C:
    """A configuration with some of its fields set.

    Raises:
        InvalidInput: There is no such field, or the value is of another kind or out of its range.
    """
    kind = type(config).__name__
    known = {field.name for field in fields(config)}
    for name, given in settings.items():
        if name not in known:
            raise InvalidInput(f"{kind} has no setting {name!r}; there are: {', '.join(sorted(known))}")
        if not _alike(getattr(config, name), given):
            raise InvalidInput(
                f"{kind}: {name} is {getattr(config, name)!r} by default; {given!r} is another kind of value"
            )
    try:
        return replace(config, **dict(settings))
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{kind}: {error}") from error


def _alike(default: Value, given: Value) -> bool:
    """Whether a value is of its default's kind: a whole number is a number too, and None says nothing of the kind."""
    if default is None or given is None:
        return not isinstance(given, bool | str)
    if isinstance(default, bool) or isinstance(given, bool):
        return isinstance(default, bool) and isinstance(given, bool)
    if isinstance(default, float):
        return isinstance(given, int | float)
    return isinstance(given, type(default))
