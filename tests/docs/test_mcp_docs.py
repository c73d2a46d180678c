"""The MCP configuration in the documentation works: each block starts a server that the SDK's client can use."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="the extra server is not installed")

from mcp import Client
from mcp.client.stdio import StdioServerParameters

from mnemic.service import mcp as service
from mnemic.service.mcp_tools import TOOLS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
KEYS = ("mcpServers", "servers", "context_servers")


def configured(page):
    """Each server that a JSON block of a page configures, in order."""
    found = [json.loads(text) for text in re.findall(r"^```json\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)]
    return [server for block in found for key in KEYS for server in block.get(key, {}).values()]


CHILDREN = {
    json.dumps([one["command"], *one["args"]]): one
    for one in [*configured(PAGE), *configured(README)]
    if "command" in one
}


def test_there_is_one_for_each_client_and_they_start_the_same_command():
    assert len([one for one in configured(PAGE) if "command" in one]) == 4
    assert len(CHILDREN) == 1


@pytest.mark.parametrize("started", CHILDREN.values(), ids=list(CHILDREN))
def test_a_client_started_as_configured_can_remember(started, tmp_path):
    assert started["command"] == "mnemic"
    arguments = [str(tmp_path / "m.db") if one.endswith(".db") else one for one in started["args"]]
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "mnemic", *arguments, "--embedder", "none"],
        env={**started.get("env", {}), "PYTHONPATH": ":".join(sys.path)},
    )

    async def remember():
        async with Client(parameters) as client:
            await client.call_tool("add_memory", {"messages": "The landlord keeps bees on the roof."})
            return await client.call_tool("search_memories", {"query": "Who keeps bees?"})

    assert "bees on the roof" in asyncio.run(remember()).content[0].text


def test_the_page_has_every_tool_with_its_arguments_and_right():
    rows = re.findall(r"^\| `(\w+)` \| (.*?) ?\| .*? \| (\w+) \|$", PAGE, flags=re.MULTILINE)
    documented = {name: (re.findall(r"`(\w+)`", takes), right) for name, takes, right in rows}
    assert documented == {name: (list(tool.takes.model_fields), tool.right) for name, tool in TOOLS.items()}


def test_the_page_has_every_resource():
    addresses = [str(one.uri) for one in service.RESOURCES] + [one.uri_template for one in service.TEMPLATES]
    assert sorted(re.findall(r"^\| `(memory://.*?)` \|", PAGE, flags=re.MULTILINE)) == sorted(addresses)
