"""The MCP configuration in the documentation works: each block starts a server that the SDK's client can use."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="the extra server is not installed")

import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from listening_kit import listening
from mnemic.cli.serving import serve
from mnemic.memory import service_rows
from mnemic.service import mcp as service
from mnemic.service import mcp_http
from mnemic.service.access import Keys
from mnemic.service.app import create
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


ADDRESSES = ("url", "httpUrl", "serverUrl")
REMOTE = [one for one in configured(PAGE) if "command" not in one]


def test_each_remote_configuration_reaches_the_server_that_the_page_starts():
    assert len(REMOTE) == 5
    [address] = {one[name] for one in REMOTE for name in ADDRESSES if name in one}
    assert address == f"http://127.0.0.1:{inspect.signature(serve).parameters['port'].default}{mcp_http.PATH}"


@pytest.mark.parametrize("remote", REMOTE, ids=range(len(REMOTE)))
def test_a_client_with_the_headers_of_a_remote_configuration_can_remember(remote, memory):
    key = Keys(service_rows(memory)).create("docs").key
    headers = {name: value.replace("mnemic_…", key) for name, value in remote["headers"].items()}

    async def remember(address):
        http = httpx2.AsyncClient(headers=headers, timeout=30)
        async with http, Client(streamable_http_client(f"{address}{mcp_http.PATH}", http_client=http)) as client:
            await client.call_tool("add_memory", {"messages": "The landlord keeps bees on the roof."})
            return await client.call_tool("search_memories", {"query": "Who keeps bees?"})

    with listening(create(memory, mounts=[mcp_http.mount])) as address:
        assert "bees on the roof" in asyncio.run(remember(address)).content[0].text
    assert memory.users() == ["ana"]


def test_the_page_has_every_tool_with_its_arguments_and_right():
    rows = re.findall(r"^\| `(\w+)` \| (.*?) ?\| .*? \| (\w+) \|$", PAGE, flags=re.MULTILINE)
    documented = {name: (re.findall(r"`(\w+)`", takes), right) for name, takes, right in rows}
    assert documented == {name: (list(tool.takes.model_fields), tool.right) for name, tool in TOOLS.items()}


def test_the_page_has_every_resource():
    addresses = [str(one.uri) for one in service.RESOURCES] + [one.uri_template for one in service.TEMPLATES]
    assert sorted(re.findall(r"^\| `(memory://.*?)` \|", PAGE, flags=re.MULTILINE)) == sorted(addresses)
