"""The public surface is an explicit list, and the list is true."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import mnemic

SOURCE = Path(mnemic.__file__)


def checked_imports() -> set[str]:
    """What a type checker sees: the names imported under ``TYPE_CHECKING``."""
    tree = ast.parse(SOURCE.read_text(encoding="utf-8"))
    [block] = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    return {alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}


def test_the_list_is_what_a_type_checker_sees():
    assert set(mnemic.__all__) == checked_imports()


def test_the_list_is_sorted_and_without_repeats():
    assert mnemic.__all__ == sorted(set(mnemic.__all__))


@pytest.mark.parametrize("name", mnemic.__all__)
def test_each_name_is_a_class_or_function_of_ours_by_that_name(name):
    found = getattr(mnemic, name)
    assert inspect.isclass(found) or inspect.isfunction(found)
    assert (found.__name__, found.__module__.partition(".")[0]) == (name, "mnemic")
    assert found.__doc__


def test_a_star_import_brings_exactly_the_list():
    script = "from mnemic import *\nprint(*sorted(name for name in dir() if not name.startswith('_')))"
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert shown.split() == mnemic.__all__


def test_dir_shows_the_list_and_the_version():
    assert {*mnemic.__all__, "__version__"} <= set(dir(mnemic))


def test_an_unknown_name_is_an_attribute_error_that_names_it():
    with pytest.raises(AttributeError, match="'mnemic' has no attribute 'Memmory'"):
        mnemic.Memmory  # noqa: B018 - looking it up is the test
