"""Libraries that mnemic can use and does not require."""

from __future__ import annotations

import importlib
from types import ModuleType

from mnemic.config import silence_libraries
from mnemic.errors import MissingExtra, ModelError


def from_extra(module: str, *, needed_by: str, extra: str) -> ModuleType:
    """Import a module that one of mnemic's extras brings.

    Raises:
        MissingExtra: It cannot be imported.
    """
    silence_libraries()
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(needed_by, extra) from error


def from_package(module: str, *, needed_by: str, package: str, error: type[ModelError]) -> ModuleType:
    """Import a module of a package that is no extra of mnemic's.

    Raises:
        ModelError: It cannot be imported; of the class ``error``, and the message names the pip command.
    """
    silence_libraries()
    try:
        return importlib.import_module(module)
    except ImportError as cause:
        raise error(f"{needed_by} needs the package {package}: pip install {package}") from cause
