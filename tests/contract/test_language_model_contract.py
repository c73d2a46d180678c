"""What every language model promises (``protocols.LanguageModel``); none of these reaches a live one."""

from __future__ import annotations

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from mnemic.errors import LanguageModelFailed, MissingExtra
from mnemic.models.doubles import ScriptedModel
from mnemic.models.language import PydanticAIModel
from mnemic.protocols import Completion, Reply

SCHEMA = {
    "type": "object",
    "properties": {"facts": {"type": "array", "items": {"type": "string"}}},
    "required": ["facts"],
    "additionalProperties": False,
}


def request(**changes):
    return Completion(**{"purpose": "notes", "system": "Be brief.", "user": "Who is Rob?", "max_tokens": 50} | changes)


def function_model(reply, *, seen=None, profile=None):
    """A pydantic-ai model that answers with a function of ours."""
    function = pytest.importorskip("pydantic_ai.models.function", reason="the extra llm is not installed")
    from pydantic_ai.messages import ModelResponse, TextPart
    from pydantic_ai.usage import RequestUsage

    def answer(messages, info):
        if seen is not None:
            seen.append((messages, info))
        if isinstance(reply, Exception):
            raise reply
        text, finish = reply
        usage = RequestUsage(input_tokens=12, output_tokens=3)
        return ModelResponse(parts=[TextPart(text)] if text else [], usage=usage, finish_reason=finish)

    return PydanticAIModel(function.FunctionModel(answer, model_name="double", profile=profile))


MAKERS = {
    "scripted": lambda text: ScriptedModel([Reply(text, "stop", 12, 3)] * 20),
    "pydantic-ai": lambda text: function_model((text, "stop")),
}


@pytest.fixture(params=MAKERS)
def make(request):
    return MAKERS[request.param]


def test_the_name_tells_provider_and_model(make):
    assert ":" in make("x").name


@pytest.mark.parametrize("text", ["A friend.", "", '{"facts": ["\\u0000"]}', "朋友 👋", " spaces \n kept "], ids=repr)
def test_the_reply_comes_back_verbatim_with_its_tokens(make, text):
    assert make(text).complete(request()) == Reply(text, "stop", 12, 3)


def test_a_schema_changes_nothing_about_the_reply(make):
    assert make('{"facts": []}').complete(request(schema=SCHEMA)).text == '{"facts": []}'


def test_hostile_prompts_are_sent(make):
    assert make("ok").complete(request(user="a\x00b \ud800 </user>", system="\udfff")).text == "ok"


def test_threads_and_running_event_loops_can_call_it(make):
    model = make("ok")
    with ThreadPoolExecutor(4) as pool:
        assert [reply.text for reply in pool.map(lambda _: model.complete(request()), range(8))] == ["ok"] * 8

    async def inside():
        return model.complete(request())

    assert asyncio.run(inside()).text == "ok"


# pydantic-ai ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "wanted"),
    [("stop", "stop"), ("length", "length"), ("content_filter", "refusal"), ("tool_call", "stop"), (None, "stop")],
)
def test_finish_reasons(given, wanted):
    assert function_model(("half a", given)).complete(request()).finish == wanted


def test_an_error_as_finish_reason_is_a_failure():
    with pytest.raises(LanguageModelFailed, match="function:double"):
        function_model(("", "error")).complete(request())


@pytest.mark.parametrize("error", [TimeoutError("late"), ValueError("bad"), ConnectionError("refused")], ids=repr)
def test_whatever_it_raises_becomes_one_error(error):
    with pytest.raises(LanguageModelFailed, match=f"function:double failed: {type(error).__name__}") as caught:
        function_model(error).complete(request())
    assert repr(caught.value.__cause__) == repr(error)


def test_prompt_and_settings_arrive_as_given():
    seen = []
    function_model(("x", "stop"), seen=seen).complete(request(user="Who\x00is Rob?", max_tokens=77))
    [([message], info)] = seen
    assert [(part.part_kind, part.content) for part in message.parts] == [
        ("system-prompt", "Be brief."),
        ("user-prompt", "Who is Rob?"),
    ]
    assert info.model_settings["max_tokens"] == 77
    assert info.model_settings["temperature"] == 0


@pytest.mark.parametrize("native", [True, False])
def test_a_schema_is_enforced_by_the_provider_or_said_in_the_prompt(native):
    seen = []
    profile = {"supports_json_schema_output": native}
    function_model(('{"facts": []}', "stop"), seen=seen, profile=profile).complete(request(schema=SCHEMA))
    [(_, info)] = seen
    parameters = info.model_request_parameters
    assert parameters.output_mode == ("native" if native else "prompted")
    assert parameters.output_object.json_schema == SCHEMA
    assert ("facts" in (info.instructions or "")) is not native


def test_an_unknown_provider_is_a_failure_that_names_it():
    pytest.importorskip("pydantic_ai", reason="the extra llm is not installed")
    with pytest.raises(LanguageModelFailed, match="nobody:model"):
        PydanticAIModel("nobody:model").complete(request())


def test_without_pydantic_ai_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pydantic_ai.direct", None)
    with pytest.raises(MissingExtra, match=r"pip install 'mnemic\[llm\]'"):
        PydanticAIModel("openai:x").complete(request())


# The double -------------------------------------------------------------------------------------------


def test_the_script_is_followed_and_the_requests_are_kept():
    whole = Reply("cut", "length", 1, 2)
    model = ScriptedModel(["one two", whole, KeyError("down")], name="double:a")
    assert model.complete(request()) == Reply("one two", "stop", 5, 2)
    assert model.complete(request(user="2")) is whole
    with pytest.raises(KeyError, match="down"):
        model.complete(request(user="3"))
    with pytest.raises(LanguageModelFailed, match="double:a has no reply left for a request about notes"):
        model.complete(request(user="4"))
    assert [asked.user for asked in model.requests] == ["Who is Rob?", "2", "3", "4"]
