"""pydantic-ai with a memory: its agent, with a scripted model."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("pydantic_ai", reason="the extra pydantic-ai is not installed")

from pydantic_ai import Agent
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import ModelRequest, ModelResponse, SystemPromptPart, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

from mnemic.adapters.pydantic_ai import add_messages, memory_toolset, recalling
from mnemic.errors import InvalidScope

BEES = "The landlord keeps bees on the roof."


class Scripted:
    """A model that gives its replies in order, and remembers the requests."""

    def __init__(self, *replies):
        self.replies = iter(replies)
        self.requests = []
        self.tools = []

    def __call__(self, messages, info):
        self.requests.append(list(messages))
        self.tools.append({tool.name: tool.parameters_json_schema for tool in info.function_tools})
        reply = next(self.replies)
        return ModelResponse(parts=[TextPart(reply) if isinstance(reply, str) else reply])


def run(agent, *said, **more):
    """Run an agent in an event loop that is closed afterwards: its own way to run without one leaves it open."""
    return asyncio.run(agent.run(*said, **more))


def system_prompts(messages):
    return [
        part.content
        for one in messages
        if isinstance(one, ModelRequest)
        for part in one.parts
        if isinstance(part, SystemPromptPart)
    ]


@pytest.fixture
def remembered(memory):
    memory.add({"role": "user", "name": "Ana", "content": BEES, "id": "m1"}, user_id="ana", session_id="monday")
    return memory


def test_an_agent_searches_and_adds_by_tools(remembered):
    script = Scripted(
        ToolCallPart("search_memories", {"query": "Who keeps bees on the roof?"}),
        ToolCallPart("add_memory", {"text": "Ana asked about bees."}),
        "The landlord.",
    )
    agent = Agent(FunctionModel(script), toolsets=[memory_toolset(remembered, user_id="ana", session_id="notes")])
    assert run(agent, "Who keeps bees?").output == "The landlord."
    assert script.tools[0].keys() == {"search_memories", "add_memory"}
    assert not any("user" in name for schema in script.tools[0].values() for name in schema["properties"])
    assert BEES in str(script.requests[1][-1].parts[0].content)
    assert [turn.text for turn in remembered.get_all(user_id="ana", session_id="notes")] == ["Ana asked about bees."]


def test_a_processor_recalls_before_each_request_once(remembered):
    script = Scripted("The landlord.", "Two hives.")
    agent = Agent(
        FunctionModel(script),
        system_prompt="Be brief.",
        capabilities=[ProcessHistory(recalling(remembered, user_id="ana"))],
    )
    first = run(agent, "Who keeps bees on the roof?")
    run(agent, "How many bees on the roof?", message_history=first.all_messages())
    for request in script.requests:
        recalled = [prompt for prompt in system_prompts(request) if "<memory>" in prompt]
        assert len(recalled) == 1
        assert f"Ana (undated): {BEES}" in recalled[0]
        assert "Be brief." in system_prompts(request)


def test_what_is_shown_anyway_is_not_recalled(remembered):
    script = Scripted("I see.", "The landlord.")
    agent = Agent(FunctionModel(script), capabilities=[ProcessHistory(recalling(remembered, user_id="ana"))])
    first = run(agent, BEES)
    run(agent, "Who keeps bees on the roof?", message_history=first.all_messages())
    assert [prompt for request in script.requests for prompt in system_prompts(request)] == []


def test_what_was_said_is_stored_once_and_nothing_that_was_recalled(remembered):
    script = Scripted(ToolCallPart("hives", {"on": "roof"}), "Two.", "You are welcome.")
    agent = Agent(
        FunctionModel(script),
        system_prompt="Be brief.",
        capabilities=[ProcessHistory(recalling(remembered, user_id="ana"))],
    )

    @agent.tool_plain
    def hives(on: str) -> str:
        return f"2 on the {on}"

    first = run(agent, "How many bees on the roof?")
    second = run(agent, "Thanks.", message_history=first.all_messages())
    told = {"user_id": "ana", "session_id": "friday"}
    assert add_messages(remembered, first.new_messages(), **told).new == 4
    assert add_messages(remembered, second.all_messages(), **told).new == 2
    assert add_messages(remembered, second.all_messages(), **told).new == 0
    turns = remembered.get_all(**told)
    assert [turn.role for turn in turns] == ["user", "assistant", "tool", "assistant", "user", "assistant"]
    assert (turns[0].text, turns[2].text, turns[5].text) == (
        "How many bees on the roof?",
        "2 on the roof",
        "You are welcome.",
    )
    assert all(turn.timestamp for turn in turns)
    assert not any("<memory>" in turn.text or "Be brief" in turn.text for turn in turns)


def test_a_memory_that_fails_does_not_end_the_run(remembered, caplog):
    remembered.close()
    agent = Agent(
        FunctionModel(Scripted("Hello.")), capabilities=[ProcessHistory(recalling(remembered, user_id="ana"))]
    )
    assert run(agent, "Who keeps bees?").output == "Hello."
    assert "could not be searched" in caplog.text


def test_a_user_is_required_and_sees_only_their_own(remembered):
    script = Scripted("Nobody.")
    agent = Agent(FunctionModel(script), capabilities=[ProcessHistory(recalling(remembered, user_id="bo"))])
    run(agent, "Who keeps bees on the roof?")
    assert system_prompts(script.requests[0]) == []
    for make in (recalling, memory_toolset):
        with pytest.raises(InvalidScope):
            make(remembered, user_id="")


def test_nothing_is_recalled_where_nothing_was_asked(remembered):
    assert asyncio.run(recalling(remembered, user_id="ana")([])) == []
