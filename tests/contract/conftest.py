"""The stores that the contract suite runs on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from store_kit import FACTORIES

from mnemic.protocols import Store


@pytest.fixture(params=FACTORIES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made = FACTORIES[request.param](tmp_path)
    yield made
    made.close()
