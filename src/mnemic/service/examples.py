"""An example of each operation, from ``examples.json``, in an order in which they can be carried out.

A test carries them out and compares what comes with what stands there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from mnemic.types import Json


@dataclass(frozen=True, slots=True)
class Example:
    """One request and its reply.

    Attributes:
        operation: ``POST /v1/search``.
        body: Of the request; None for none.
        parameters: Of path, query and header.
        reply: What comes; numbers, times and sizes may be others.
    """

    operation: str
    body: Json
    parameters: Mapping[str, Json]
    reply: Json


@cache
def examples() -> Mapping[str, Example]:
    """Operation -> its example."""
    text = resources.files("mnemic.service").joinpath("examples.json").read_text(encoding="utf-8")
    return {row["operation"]: Example(**row) for row in json.loads(text)}
