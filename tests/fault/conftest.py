"""The command line, for tests of what it survives."""

from __future__ import annotations

from pipeline.conftest import cli, filled

__all__ = ["cli", "filled"]
