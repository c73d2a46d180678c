"""MCP, as the official SDK's own client sees it: in this process, and over a child's standard input and output."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
from functools import partial

import pytest

pytest.importorskip("mcp", reason="the extra server is not installed")

from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters

from mnemic import Memory
from mnemic.service import mcp as service
from mnemic.service.mcp_tools import TOOLS

NAMES = [
    "add_memory", "search_memories", "get_context", "get_memory", "list_notes", "how_it_changed", "what_changed",
    "undo_change", "update_memory", "delete_memory", "delete_all_memories", "memory_status",
]  # fmt: skip
MODES = ("auto", "legacy")
SAID = [
    {"role": "user", "name": "Ana", "content": "I moved to Lisbon in May.", "id": "m1", "timestamp": "2024-06-03"},
    {"role": "assistant", "content": "Is the flat quiet?", "id": "m2", "timestamp": "2024-06-03"},
    {"role": "user", "name": "Ana", "content": "The landlord keeps bees on the roof.", "id": "m3"},
]


def using(server, work, mode="auto"):
    """Do async work with a client of a server; what it returns."""

    async def whole():
        async with Client(server, mode=mode) as client:
            return await work(client)

    return asyncio.run(whole())


def told(result):
    """The text of a result that is no error."""
    assert not result.is_error, result.content
    [content] = result.content
    return content.text


async def call(client, name, **arguments):
    return told(await client.call_tool(name, arguments))


async def refusal(client, name, **arguments):
    result = await client.call_tool(name, arguments)
    assert result.is_error
    return result.content[0].text


@pytest.fixture
def served(memory):
    """A server for ana, whose memory has three messages; and bo has one."""
    memory.add(SAID, user_id="ana", session_id="monday")
    memory.add({"role": "user", "content": "Bo's secret is a zebra.", "id": "b1"}, user_id="bo", session_id="his")
    return service.for_one(memory, "ana")


@pytest.mark.parametrize("mode", MODES)
def test_tools_are_these_and_say_what_they_change(served, mode):
    tools = using(served, lambda client: client.list_tools(), mode).tools
    assert [tool.name for tool in tools] == NAMES
    hints = {tool.name: tool.annotations for tool in tools}
    assert {name for name in NAMES if hints[name].read_only_hint} == {
        "search_memories", "get_context", "get_memory", "list_notes", "how_it_changed", "what_changed",
        "memory_status",
    }  # fmt: skip
    assert {name for name in NAMES if hints[name].destructive_hint} == {
        "update_memory", "delete_memory", "delete_all_memories",
    }  # fmt: skip
    assert not any(hint.open_world_hint for hint in hints.values())
    for tool in tools:
        assert tool.input_schema["additionalProperties"] is False
        assert not any("user" in name for name in tool.input_schema["properties"])
        assert "title" not in json.dumps(tool.input_schema)


def test_a_client_sees_what_changed_and_takes_it_back(memory, served):
    memory.retract("N1", user_id="ana", reason="She moved.")
    gone = memory.history(user_id="ana")[-1].operation_id

    async def work(client):
        seen = await call(client, "what_changed", a="2000-01-01")
        now = memory.diff("2000-01-01", user_id="ana")
        assert [line.startswith("new by ") for line in seen.splitlines()[1:-1]] == [True] * len(now)
        assert await call(client, "what_changed", a="2000-01-01", b="2000-01-02") == "No note has changed."
        back = await call(client, "undo_change", operation_id=gone)
        assert back == f"Taken back, by: {memory.history(user_id='ana')[-1].operation_id} (N1)"
        assert "N1" in await call(client, "list_notes")
        assert "O99" in await refusal(client, "undo_change", operation_id="O99")

    using(served, work)
    assert memory.get("N1", user_id="ana").status == "current"


@pytest.mark.parametrize("mode", MODES)
def test_a_client_adds_searches_reads_changes_and_erases(served, memory, mode):
    async def work(client):
        stored = await call(client, "add_memory", messages="I am allergic to bee stings.", session_id="friday")
        assert stored.startswith("Stored: 1\nturns: ")
        turn_id = stored.splitlines()[1].removeprefix("turns: ")
        found = await call(client, "search_memories", query="Who keeps bees on the roof?", session_id="monday")
        assert found.startswith("<memory>\n[1] session monday · turns m1, m2, m3\n")
        assert "Ana (2024-06-03 00:00 UTC): I moved to Lisbon in May." in found
        assert found.endswith("</memory>")
        assert "bees on the roof" in await call(client, "get_context", query="Who keeps bees on the roof?")
        assert "m1" in await call(client, "list_notes", about="Ana")
        labelled = await call(client, "update_memory", turn_id="m2", metadata={"mood": "curious"})
        assert "curious" in labelled
        assert "Is the flat quiet?" in await call(client, "get_memory", id="m2")
        receipt = await call(client, "delete_memory", turn_id=turn_id)
        assert receipt.startswith("Erased: turns: 1, units: 1, ")
        assert "\nOut of reach from here:\n- backups and copies that were made of the database before" in receipt
        assert "turns: 3 in 1 sessions" in await call(client, "memory_status")
        assert "ask the person" in await refusal(client, "delete_all_memories", confirm=False)
        assert memory.status(user_id="ana").counts.turns == 3
        receipt = await call(client, "delete_all_memories", confirm=True)
        assert receipt.startswith("Erased: turns: 3, ")
        assert receipt.endswith("\nThis memory is empty.")
        assert "Nothing in memory" in await call(client, "search_memories", query="bees")

    using(served, work, mode)
    assert memory.users() == ["bo"]


def test_messages_keep_every_word_and_what_is_told_of_them(memory):
    async def work(client):
        messages = [{**SAID[0]}, {"content": "line one\n  line two\t</memory> [9] session x", "id": "odd"}]
        await call(client, "add_memory", messages=messages, session_id="s", idempotency_key="k")
        again = await call(client, "add_memory", messages=messages, session_id="s", idempotency_key="k")
        assert again.startswith("Stored: 0; known before: 2")
        return await call(client, "get_memory", id="odd")

    shown = using(service.for_one(memory, "ana"), work)
    first, second = memory.get_all(user_id="ana")
    assert (first.turn_id, first.speaker, first.timestamp.isoformat()) == ("m1", "Ana", "2024-06-03T00:00:00+00:00")
    assert second.text == "line one\n  line two\t</memory> [9] session x"
    assert second.timestamp is not None  # said now, since nothing else was told
    # What was said can close no block, and begin no line.
    assert shown.count("</memory>") == 1
    assert "\n[9]" not in shown


@pytest.mark.fault("B197")
@pytest.mark.parametrize(
    ("name", "arguments"),
    [(name, {}) for name in ("search_memories", "get_memory", "update_memory", "delete_all_memories")]
    + [(name, {"user_id": "bo", "user": "bo"}) for name in NAMES],
)
def test_wrong_arguments_are_refused_and_no_tool_takes_a_user(served, memory, name, arguments):
    why = using(served, partial(refusal, name=name, **arguments))
    assert why.startswith(f"{name} takes ")
    assert memory.status().users == 2


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("get_memory", {"id": "b1"}),
        ("get_memory", {"id": "E:b1"}),
        ("update_memory", {"turn_id": "b1", "metadata": {}}),
        ("delete_memory", {"turn_id": "b1"}),
        ("delete_memory", {"session_id": "his"}),
        ("get_memory", {"id": "*"}),
        ("delete_memory", {"session_id": "%"}),
        ("delete_memory", {}),
        ("delete_memory", {"turn_id": "m1", "session_id": "monday"}),
    ],
)
def test_what_another_user_has_is_not_there(served, memory, name, arguments):
    why = using(served, partial(refusal, name=name, **arguments))
    assert "zebra" not in why
    assert [turn.text for turn in memory.get_all(user_id="bo")] == ["Bo's secret is a zebra."]
    assert len(memory.get_all(user_id="ana")) == 3


def test_what_another_user_has_is_not_found(served):
    async def work(client):
        everything = [
            await call(client, "search_memories", query="What is the secret zebra?", top_k=50),
            await call(client, "get_context", query="What is the secret zebra?"),
            await call(client, "list_notes"),
        ]
        for uri in ("memory://profile", "memory://episodes", "memory://profile/user"):
            everything += [content.text for content in (await client.read_resource(uri)).contents]
        return everything

    assert [shown for shown in using(served, work) if "zebra" in shown or "b1" in shown] == []


@pytest.mark.parametrize("mode", MODES)
def test_profile_and_episodes_are_resources(served, memory, mode):
    async def work(client):
        listed = (await client.list_resources()).resources
        assert [str(one.uri) for one in listed] == ["memory://profile", "memory://episodes"]
        templates = (await client.list_resource_templates()).resource_templates
        assert [one.uri_template for one in templates] == [
            "memory://profile/{person}",
            "memory://episodes/{episode_id}",
        ]
        read = {}
        for uri in (
            listed[0].uri,
            listed[1].uri,
            service.address("profile", "Ana"),
            service.address("episodes", "E:m1"),
        ):
            [content] = (await client.read_resource(uri)).contents
            read[str(uri)] = content.text
        for nothing in ("memory://profile/", "memory://x", "memory://episodes/E%3Ab1", "memory://episodes/m1"):
            with pytest.raises(MCPError):
                await client.read_resource(nothing)
        return read

    profile, episodes, ana, episode = using(served, work, mode).values()
    assert "N1 · fact about Ana · from 2024-05-01 · turns m1: I moved to Lisbon in May." in profile
    assert ana == profile
    assert "E:m1 · session monday" in episodes
    assert "The landlord keeps bees on the roof." in episode


def test_every_kind_of_id_can_be_looked_up(served):
    async def work(client):
        return [await call(client, "get_memory", id=one) for one in ("m3", "T1", "N1", "E:m1")]

    turn, trace, note, episode = using(served, work)
    assert "turn m3 · session monday" in turn
    assert trace.splitlines()[1] == "T1 · session monday · turns m1, m2, m3"
    assert note.splitlines()[2] == "Ana (2024-06-03 00:00 UTC): I moved to Lisbon in May."
    assert len(episode.splitlines()) == 6


def test_more_notes_than_asked_for_are_told_of(memory):
    for n in range(3):
        memory.add({"role": "user", "name": "Ana", "content": f"I live in town number {n}."}, user_id="ana")
    found = using(service.for_one(memory, "ana"), partial(call, name="list_notes", limit=2))
    assert found.count(" about Ana ") == 2
    assert "There are more" in found


def test_read_only_offers_and_does_nothing_else(served, memory):
    reading = service.for_one(memory, "ana", rights=frozenset(("read",)))

    async def work(client):
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert "not allowed here" in await refusal(client, "delete_all_memories", confirm=True)
        return names

    assert using(reading, work) == [name for name in NAMES if TOOLS[name].right == "read"]
    assert len(memory.get_all(user_id="ana")) == 3


@pytest.mark.fault("B139")
def test_what_goes_wrong_inside_is_logged_and_told_without_details(served, monkeypatch, caplog):
    def broken(*_, **__):
        raise RuntimeError("secret words")

    monkeypatch.setattr(Memory, "search", broken)

    async def work(client):
        with pytest.raises(MCPError) as raised:
            await client.call_tool("search_memories", {"query": "bees"})
        return str(raised.value)

    with caplog.at_level(logging.ERROR):
        assert "secret" not in using(served, work)
    assert "search_memories failed" in caplog.text


# over standard input and output ----------------------------------------------------------------------------


def started(tmp_path, *arguments):
    return [
        sys.executable, "-m", "mnemic", "mcp", "--db", str(tmp_path / "m.db"), "--embedder", "none", *arguments,
    ]  # fmt: skip


def environment():
    return {"PYTHONPATH": ":".join(sys.path)}


@pytest.mark.parametrize("mode", MODES)
def test_the_command_serves_the_user_it_was_started_for(tmp_path, mode):
    command, *arguments = started(tmp_path, "--user", "ana")

    async def work(client):
        assert [tool.name for tool in (await client.list_tools()).tools] == NAMES
        await call(client, "add_memory", messages=[SAID[2]], session_id="monday")
        found = await call(client, "search_memories", query="Who keeps bees?")
        await call(client, "delete_memory", turn_id="m3")
        return found, await call(client, "memory_status")

    parameters = StdioServerParameters(command=command, args=arguments, env=environment())
    found, status = using(parameters, work, mode)
    assert "The landlord keeps bees on the roof." in found
    assert status.startswith("turns: 0")


@pytest.mark.fault("B195")
def test_standard_output_holds_the_protocol_and_nothing_else(tmp_path):
    def request(number, method, **params):
        return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})

    calls = [
        ("add_memory", {"messages": "print\n\x1b[31mred"}),
        ("search_memories", {"query": "red"}),
        ("no_such_tool", {}),
        ("delete_memory", {"turn_id": "none"}),
    ]
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
    lines = [
        request(1, "initialize", **hello),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        "this is no JSON",
        *(request(n, "tools/call", name=name, arguments=given) for n, (name, given) in enumerate(calls, 2)),
    ]
    # The server ends when its input does; so it is kept open until all answers are there.
    child = subprocess.Popen(
        started(tmp_path, "--user", "ana"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    said = []
    with child:
        for line in lines:
            child.stdin.write(line + "\n")
            child.stdin.flush()
            if '"id"' in line:
                said.append(child.stdout.readline())
        rest, _ = child.communicate()
    answers = [json.loads(line) for line in [*said, *rest.splitlines()]]
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)
    assert {answer.get("id") for answer in answers} >= {1, 2, 3, 4, 5}
    assert child.returncode == 0


def test_there_is_no_default_user(tmp_path, cli, monkeypatch):
    code, out, err = cli("mcp")
    assert (code, out) == (2, "")
    assert "whose memory?" in err


def test_a_missing_extra_is_named(cli, monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp", None)
    code, _, err = cli("mcp", "--user", "ana")
    assert code == 1
    assert "pip install 'mnemic[server]'" in err
