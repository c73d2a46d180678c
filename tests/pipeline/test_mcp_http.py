"""MCP over HTTP: the SDK's own client, a real server, the keys of REST."""

from __future__ import annotations

import asyncio
import json

import pytest

pytest.importorskip("mcp", reason="the extra server is not installed")

import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from listening_kit import listening
from mnemic.memory import service_rows
from mnemic.service import mcp_http
from mnemic.service.access import Keys
from mnemic.service.app import create
from mnemic.service.mcp_tools import TOOLS
from mnemic.service.settings import Settings
from service_kit import ALL

BEES = {"role": "user", "name": "Ana", "content": "The landlord keeps bees on the roof.", "id": "m1"}
MODES = ("auto", "legacy")


@pytest.fixture
def keys(memory):
    return Keys(service_rows(memory))


@pytest.fixture
def address(memory):
    memory.add(BEES, user_id="ana", session_id="monday")
    memory.add({"role": "user", "content": "A zebra is secret.", "id": "z1"}, user_id="tenant/acme/ana", session_id="s")
    with listening(create(memory, mounts=[mcp_http.mount])) as url:
        yield url


def using(address, work, *, key="", user="ana", mode="auto"):
    """Do async work with a client; what it returns."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    if user is not None:
        headers[mcp_http.USER_HEADER] = user

    async def whole():
        http = httpx2.AsyncClient(headers=headers, timeout=30)
        async with http, Client(streamable_http_client(f"{address}/mcp", http_client=http), mode=mode) as client:
            return await work(client)

    return asyncio.run(whole())


async def call(client, name, **arguments):
    result = await client.call_tool(name, arguments)
    return result.is_error, result.content[0].text


@pytest.mark.parametrize("mode", MODES)
def test_a_client_lists_adds_searches_and_deletes(address, keys, memory, mode):
    async def work(client):
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert not (await call(client, "add_memory", messages="I am allergic to bee stings.", session_id="friday"))[0]
        found = await call(client, "search_memories", query="Who keeps bees on the roof?")
        profile = await client.read_resource("memory://profile")
        await call(client, "delete_memory", session_id="monday")
        return names, found, profile.contents[0].text

    names, (failed, found), profile = using(address, work, key=keys.create("t", scopes=ALL).key, mode=mode)
    assert names == list(TOOLS)
    assert not failed
    assert "The landlord keeps bees on the roof." in found
    assert "allergic" in profile
    assert [turn.text for turn in memory.get_all(user_id="ana")] == ["I am allergic to bee stings."]


@pytest.mark.parametrize("key", ["", "mnemic_0123456789abcdef_" + "x" * 43, "nonsense"])
@pytest.mark.parametrize("mode", MODES)
def test_a_wrong_or_missing_key_is_refused(address, key, mode):
    async def work(client):
        return await client.list_tools()

    with pytest.RaisesGroup(
        pytest.RaisesExc((MCPError, httpx2.HTTPStatusError)), flatten_subgroups=True, allow_unwrapped=True
    ):
        using(address, work, key=key, mode=mode)


def posted(address, body, **headers):
    given = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json", **headers}
    return httpx2.post(f"{address}/mcp", content=json.dumps(body), headers=given)


def test_refusals_are_the_problems_of_rest(address, keys):
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    nobody = posted(address, listing, **{mcp_http.USER_HEADER: "ana"})
    assert (nobody.status_code, nobody.headers["content-type"]) == (401, "application/problem+json")
    assert "Bearer" in nobody.headers["www-authenticate"]
    good = {"Authorization": f"Bearer {keys.create('t').key}"}
    for user in ({}, {mcp_http.USER_HEADER: "%20"}, {mcp_http.USER_HEADER: "tenant/acme/ana"}):
        refused = posted(address, listing, **good, **user)
        assert refused.status_code == 422, user
    assert "X-Mnemic-User" in posted(address, listing, **good).json()["detail"]


def test_a_revoked_key_is_refused_from_then_on(address, keys):
    made = keys.create("t")
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    headers = {"Authorization": f"Bearer {made.key}", mcp_http.USER_HEADER: "ana"}
    assert posted(address, listing, **headers).status_code == 200
    keys.revoke(made.row.key_id)
    assert posted(address, listing, **headers).status_code == 401


def test_a_key_that_only_reads_neither_adds_nor_erases(address, keys, memory):
    async def work(client):
        names = [tool.name for tool in (await client.list_tools()).tools]
        tried = [
            await call(client, "add_memory", messages="hello"),
            await call(client, "update_memory", turn_id="m1", metadata={"a": 1}),
            await call(client, "delete_memory", turn_id="m1"),
            await call(client, "delete_all_memories", confirm=True),
        ]
        return names, tried, await call(client, "get_memory", id="m1")

    names, tried, (failed, found) = using(address, work, key=keys.create("t", scopes=["read"]).key)
    assert names == [name for name, tool in TOOLS.items() if tool.right == "read"]
    assert all(refused and "it needs the scope" in why for refused, why in tried)
    assert not failed
    assert "bees" in found
    assert len(memory.get_all(user_id="ana")) == 1


@pytest.mark.parametrize("scopes", [["write"], ["erase"]])
def test_a_key_that_does_not_read_reads_no_resource(address, keys, scopes):
    async def work(client):
        with pytest.raises(MCPError, match="'read'"):
            await client.read_resource("memory://profile")
        return await call(client, "search_memories", query="bees")

    refused, why = using(address, work, key=keys.create("t", scopes=scopes).key)
    assert refused
    assert "bees" not in why


def test_another_tenant_s_ids_are_not_found(address, keys, memory):
    async def work(client):
        return [
            await call(client, "get_memory", id="z1"),
            await call(client, "get_memory", id="E:z1"),
            await call(client, "delete_memory", turn_id="z1"),
            await call(client, "delete_memory", session_id="s"),
            await call(client, "update_memory", turn_id="z1", metadata={}),
            await call(client, "search_memories", query="Which zebra is secret?"),
            await call(client, "list_notes"),
        ]

    of_default = using(address, work, key=keys.create("t", scopes=ALL).key)
    of_third = using(address, work, key=keys.create("t", tenant="other", scopes=ALL).key)
    assert not any("zebra is secret" in text for _, text in [*of_default, *of_third])
    assert all(failed for failed, _ in [*of_default[:5], *of_third[:5]])
    assert [turn.text for turn in memory.get_all(user_id="tenant/acme/ana")] == ["A zebra is secret."]
    found = using(address, work, key=keys.create("t", tenant="acme", scopes=["read"]).key)
    assert "A zebra is secret." in found[5][1]
    assert "tenant/" not in json.dumps(found)


def test_a_user_s_name_may_be_anything(address, keys, memory):
    async def work(client):
        return await call(client, "add_memory", messages="I row.")

    assert not using(address, work, key=keys.create("t").key, user="Jos%C3%A9%20%2F%20%E6%9D%8E")[0]
    assert "José / 李" in memory.users()


def test_without_keys_it_answers_this_machine(memory):
    memory.add(BEES, user_id="ana")

    async def work(client):
        return await call(client, "search_memories", query="Who keeps bees?")

    with listening(create(memory, settings=Settings(auth=False), mounts=[mcp_http.mount])) as url:
        assert "bees on the roof" in using(url, work)[1]
        listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        foreign = posted(url, listing, Origin="http://evil.example", **{mcp_http.USER_HEADER: "ana"})
        assert foreign.status_code == 403
