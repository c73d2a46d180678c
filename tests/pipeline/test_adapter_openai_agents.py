"""The OpenAI Agents SDK with a memory: its runner, over HTTP to a scripted server on this machine."""

from __future__ import annotations

import asyncio
import itertools

import pytest

pytest.importorskip("agents", reason="the extra openai-agents is not installed")

from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner, SessionSettings, SQLiteSession
from agents.memory import Session
from openai import AsyncOpenAI

from mnemic.adapters.openai_agents import MemorySession, memory_tools
from mnemic.errors import InvalidScope
from model_server_kit import completion, serving

ITEMS = [
    {"role": "user", "content": "  Who keeps\nbees? "},
    {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "The landlord.", "annotations": []}],
    },
    {"type": "function_call", "call_id": "c1", "name": "hives", "arguments": '{"on": "roof"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "two"},
    {"type": "reasoning", "id": "r1", "summary": []},
    {"role": "user", "content": "Thanks."},
]


NUMBERS = itertools.count()


def calling(name, arguments):
    """A completion that calls a tool."""
    call = {"id": f"call {next(NUMBERS)}", "type": "function", "function": {"name": name, "arguments": arguments}}
    status, headers, body = completion(None, finish="tool_calls")
    body["choices"][0]["message"]["tool_calls"] = [call]
    return status, headers, body


def run(server, agent_tools, *said, session):
    """Let an agent answer what is said; its last answer."""

    async def work():
        async with AsyncOpenAI(base_url=server.url, api_key="k", max_retries=0) as client:
            model = OpenAIChatCompletionsModel(model="m", openai_client=client)
            agent = Agent(name="Assistant", model=model, tools=agent_tools)
            for text in said:
                result = await Runner.run(agent, text, session=session, run_config=RunConfig(tracing_disabled=True))
            return result.final_output

    return asyncio.run(work())


@pytest.fixture
def session(memory):
    return MemorySession(memory, user_id="ana", session_id="monday")


def test_it_answers_as_the_sdk_s_own_session(session):
    async def story(one):
        told = [await one.get_items(), await one.pop_item()]
        await one.add_items(ITEMS[:4])
        await one.add_items([])
        await one.add_items(ITEMS[4:])
        told += [await one.get_items(), await one.get_items(2), await one.get_items(0), await one.get_items(99)]
        told += [await one.pop_item(), await one.get_items()]
        await one.clear_session()
        told.append(await one.get_items())
        await one.clear_session()
        return told

    theirs = SQLiteSession("monday")
    assert asyncio.run(story(session)) == asyncio.run(story(theirs))
    theirs.close()
    assert isinstance(session, Session)


def test_settings_say_how_many_items_a_run_is_given(memory):
    session = MemorySession(memory, user_id="ana", session_id="s", session_settings=SessionSettings(limit=1))
    asyncio.run(session.add_items(ITEMS))
    assert asyncio.run(session.get_items()) == ITEMS[-1:]


def test_words_are_turns_and_are_found(session, memory):
    asyncio.run(session.add_items(ITEMS))
    turns = memory.get_all(user_id="ana", session_id="monday")
    assert [(turn.role, turn.text) for turn in turns[:4]] == [
        ("user", "  Who keeps\nbees? "),
        ("assistant", "The landlord."),
        ("assistant", 'hives({"on": "roof"})'),
        ("tool", "two"),
    ]
    assert "m" not in [turn.turn_id for turn in turns]
    assert memory.search("Who keeps bees?", user_id="ana").results


def test_an_agent_goes_on_with_a_conversation_and_nothing_is_added_twice(memory):
    with serving(lambda body: completion(f"heard {len(body['messages'])}")) as server:
        session = MemorySession(memory, user_id="ana", session_id="monday")
        assert run(server, [], "I row.", "And I sing.", session=session) == "heard 3"
        again = MemorySession(memory, user_id="ana", session_id="monday")
        assert run(server, [], "Goodbye.", session=again) == "heard 5"
    said = [turn.text for turn in memory.get_all(user_id="ana")]
    assert said == ["I row.", "heard 1", "And I sing.", "heard 3", "Goodbye.", "heard 5"]


def test_an_agent_searches_and_adds_by_tools(memory):
    memory.add("The landlord keeps bees on the roof.", user_id="ana", session_id="monday")
    replies = iter(
        [
            calling("search_memories", '{"query": "Who keeps bees on the roof?"}'),
            calling("add_memory", '{"text": "Ana asked about bees."}'),
            calling("add_memory", '{"text": "Ana asked about bees."}'),
            completion("The landlord."),
        ]
    )
    with serving(lambda _: next(replies)) as server:
        tools = memory_tools(memory, user_id="ana", session_id="notes")
        session = MemorySession(memory, user_id="ana", session_id="friday")
        assert run(server, tools, "Who keeps bees?", session=session) == "The landlord."
        offered = {tool["function"]["name"]: tool["function"]["parameters"] for tool in server.bodies[0]["tools"]}
        answered = server.bodies[1]["messages"][-1]["content"]
    assert offered.keys() == {"search_memories", "add_memory"}
    assert not any("user" in name for parameters in offered.values() for name in parameters["properties"])
    assert answered.startswith("<memory>")
    assert "The landlord keeps bees on the roof." in answered
    assert [turn.text for turn in memory.get_all(user_id="ana", session_id="notes")] == ["Ana asked about bees."]


def test_a_user_is_required_and_sees_only_their_own(memory, session):
    asyncio.run(session.add_items(ITEMS))
    assert asyncio.run(MemorySession(memory, user_id="bo", session_id="monday").get_items()) == []
    for make in (MemorySession, lambda *given, **named: memory_tools(*given, user_id=named["user_id"])):
        with pytest.raises(InvalidScope):
            make(memory, user_id="", session_id="s")
    with pytest.raises(InvalidScope):
        MemorySession(memory, user_id="ana", session_id=" ")


def test_what_came_another_way_is_a_plain_message(session, memory):
    memory.add({"role": "user", "content": "I row."}, user_id="ana", session_id="monday")
    assert asyncio.run(session.get_items()) == [{"role": "user", "content": "I row."}]
