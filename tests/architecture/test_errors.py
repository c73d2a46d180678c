"""The tree of errors as it is drawn is the tree as it is."""

from __future__ import annotations

import inspect
import re

import pytest

import mnemic
from mnemic import errors

CLASSES = {name: found for name, found in vars(errors).items() if inspect.isclass(found)}
LINE = re.compile(r"(?P<branch>(?:[|` ] ?[ -] ?)*)(?P<name>[A-Z]\w+)(?: \((?P<other>\w+)\))?(?:  .*)?")


def drawn() -> dict[str, tuple[str | None, str | None]]:
    """name -> (parent, the built-in error that it is too), read from the drawing in the docstring."""
    assert errors.__doc__ is not None
    found: dict[str, tuple[str | None, str | None]] = {}
    above: list[str] = []
    for line in errors.__doc__.splitlines()[2:]:
        if match := LINE.fullmatch(line):
            depth = len(match["branch"]) // 3
            above[depth:] = [match["name"]]
            found[match["name"]] = (above[depth - 1] if depth else None, match["other"])
    return found


def test_every_error_is_drawn_under_its_parent():
    assert drawn() == {
        name: (
            next((base.__name__ for base in kind.__bases__ if base.__name__ in CLASSES), None),
            next(
                (base.__name__ for base in kind.__bases__ if base.__module__ == "builtins" and base is not Exception),
                None,
            ),
        )
        for name, kind in CLASSES.items()
    }


def test_there_is_one_root_and_it_is_public():
    assert [name for name, (parent, _) in drawn().items() if parent is None] == ["MnemicError"]
    assert mnemic.MnemicError is errors.MnemicError


@pytest.mark.parametrize("name", CLASSES)
def test_every_error_says_what_it_means_and_is_one_of_ours(name):
    assert issubclass(CLASSES[name], errors.MnemicError)
    assert CLASSES[name].__doc__
