"""No request names a model, an address or a file of the server: only who runs it does."""

from __future__ import annotations

import re

import pytest

from mnemic.errors import InvalidInput
from mnemic.models.providers import ModelName

NAMING = re.compile(r"(?:^|_)(?:model|models|url|uri|base|host|path|file|folder|endpoint|address|database|db)(?:_|$)")
HARMLESS = {"file"}
"""The body of an upload, whose bytes come with the request."""


def _names(schema):
    """Every name that a JSON schema takes."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for value in schema.values():
            yield from _names(value)
    elif isinstance(schema, list):
        for one in schema:
            yield from _names(one)


@pytest.mark.fault("B104")
@pytest.mark.fault("B021")
def test_neither_rest_nor_mcp_takes_one(tmp_path):
    pytest.importorskip("fastapi", reason="the extra server is not installed")
    from mnemic.service.mcp_tools import TOOLS
    from service_kit import served

    with served(tmp_path, embedder=None) as here:
        document = here.app.openapi()
    operations = [one for path in document["paths"].values() for one in path.values()]
    bodies = {
        reference.rpartition("/")[2]
        for one in operations
        for reference in re.findall(r"#/components/schemas/\w+", str(one.get("requestBody", "")))
    }
    taken = {one["name"] for operation in operations for one in operation.get("parameters", ())}
    taken |= {name for body in bodies for name in _names(document["components"]["schemas"][body])}
    taken |= {name for tool in TOOLS.values() for name in _names(tool.takes.schema_sent())}
    assert {"query", "messages", "top_k"} <= taken
    assert {name for name in taken if NAMING.search(name)} - HARMLESS == set()


@pytest.mark.parametrize("url", ["http://user:pw@h/v1", "http://h/v1?key=1", "http:///v1"])
def test_an_address_of_a_model_holds_no_credentials(url):
    with pytest.raises(InvalidInput, match="a key does not belong in it"):
        ModelName.parse(f"openai-compatible:m@{url}")
