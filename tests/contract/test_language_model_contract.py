"""What every language model promises (``protocols.LanguageModel``); none of these reaches a live one."""

from __future__ import annotations

import asyncio
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from mnemic.errors import InvalidInput, LanguageModelBusy, LanguageModelFailed, MissingExtra
from mnemic.models.doubles import ScriptedModel
from mnemic.models.language import PydanticAIModel
from mnemic.models.patience import LimitedModel, Patience, PatientModel
from mnemic.models.streaming import streamed
from mnemic.protocols import Completion, Reply, StreamingModel
from model_server_kit import completion, error, events, serving

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

    async def stream(messages, info):
        response = answer(messages, info)
        for char in response.text or " ":
            yield char

    return PydanticAIModel(function.FunctionModel(answer, stream_function=stream, model_name="double", profile=profile))


MAKERS = {
    "scripted": lambda text: ScriptedModel([Reply(text, "stop", 12, 3)] * 20),
    "patient": lambda text: PatientModel(LimitedModel(ScriptedModel([Reply(text, "stop", 12, 3)] * 20), jobs=2)),
    "pydantic-ai": lambda text: function_model((text, "stop")),
}


@pytest.fixture(params=[*MAKERS, "http"])
def make(request):
    if request.param != "http":
        yield MAKERS[request.param]
        return
    pytest.importorskip("openai", reason="the extra llm is not installed")
    with ExitStack() as servers:
        yield lambda text: over_http(servers.enter_context(serving(in_pieces(*text))))


def over_http(server, **changes):
    return PydanticAIModel(f"openai-compatible:m@{server.url}", **changes)


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


# Read while it comes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["A friend.", '{"facts": ["\\u0000"]}', "朋友 👋", " spaces \n kept "], ids=repr)
def test_the_pieces_joined_are_the_reply(make, text):
    pieces = []
    reply = streamed(make(text), request(), pieces.append)
    assert (reply.text, reply.finish) == (text, "stop")
    assert "".join(pieces) == text


def test_what_the_reader_raises_ends_the_request(make):
    def full(_):
        raise KeyError("full")

    with pytest.raises(KeyError, match="full"):
        streamed(make("A friend."), request(), full)


def in_pieces(*pieces, **changes):
    return lambda body: events(*pieces, **changes) if body.get("stream") else completion("".join(pieces))


@pytest.fixture
def stream_of():
    pytest.importorskip("openai", reason="the extra llm is not installed")
    with ExitStack() as servers:
        yield lambda answer: servers.enter_context(serving(answer))


def test_a_server_sends_the_pieces_with_their_tokens(stream_of):
    server = stream_of(in_pieces("A fri", "end", "."))
    model, pieces = over_http(server), []
    assert isinstance(model, StreamingModel)
    assert model.stream(request(), pieces.append) == Reply("A friend.", "stop", 12, 3)
    assert pieces == ["A fri", "end", "."]
    [body] = server.bodies
    assert body["stream_options"] == {"include_usage": True}


def test_a_stream_that_counts_no_tokens_is_counted_for_and_a_cut_one_says_so(stream_of):
    model = over_http(stream_of(in_pieces("A friend", " of Ana.", finish="length", usage=False)))
    assert model.stream(request(), [].append) == Reply("A friend of Ana.", "length", 7, 5)


def test_a_stream_that_breaks_off_may_cost_and_is_not_asked_for_again(stream_of):
    server = stream_of(in_pieces("A fri", finish=None))
    model, pieces = PatientModel(over_http(server), wait=lambda _: None), []
    with pytest.raises(LanguageModelFailed) as caught:
        model.stream(request(), pieces.append)
    assert (caught.value.billed, pieces, len(server.bodies)) == (True, ["A fri"], 1)


def test_a_stream_that_does_not_begin_is_asked_for_again(stream_of):
    replies = [error(503), error(429), events("ok")]
    server = stream_of(lambda _: replies.pop(0))
    model, pieces = PatientModel(over_http(server), patience=Patience(tries=3), wait=lambda _: None), []
    assert model.stream(request(), pieces.append).text == "ok"
    assert (pieces, len(server.bodies)) == (["ok"], 3)


@pytest.mark.parametrize("says_so", [True, False])
def test_a_server_that_cannot_stream_is_asked_for_the_whole(stream_of, says_so):
    def simple(body):
        return error(400, "streaming is not supported") if body.get("stream") else completion("A friend.")

    server = stream_of(simple if says_so else lambda _: completion("A friend."))
    model, pieces = over_http(server), []
    for _ in range(2):
        assert model.stream(request(), pieces.append) == Reply("A friend.", "stop", 12, 3)
    assert pieces == ["A friend.", "A friend."]
    assert [bool(body.get("stream")) for body in server.bodies] == [True, False, False]


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


@pytest.mark.parametrize(
    ("failing", "busy", "billed"),
    [
        (TimeoutError("late"), True, True),
        (ConnectionError("refused"), True, False),
        (ValueError("bad"), False, False),
        (KeyError("status_code"), False, False),
    ],
    ids=repr,
)
def test_what_may_succeed_later_and_what_may_cost(failing, busy, billed):
    with pytest.raises(LanguageModelFailed) as caught:
        function_model(failing).complete(request())
    assert (isinstance(caught.value, LanguageModelBusy), caught.value.billed) == (busy, billed)


def test_a_server_that_counts_no_tokens_is_counted_for():
    pytest.importorskip("openai", reason="the extra llm is not installed")
    with serving(lambda _: completion("A friend of Ana.", usage=False)) as server:
        assert over_http(server).complete(request()) == Reply("A friend of Ana.", "stop", 7, 5)


@pytest.mark.fault("B012")
def test_no_content_is_an_empty_reply():
    pytest.importorskip("openai", reason="the extra llm is not installed")
    with serving(lambda _: completion(None)) as server:
        assert over_http(server).complete(request()).text == ""


@pytest.mark.fault("B129")
@pytest.mark.parametrize(
    ("status", "headers", "busy", "retry_after_s"),
    [
        (429, {"Retry_After": "7"}, True, 7),
        (429, {}, True, None),
        (500, {}, True, None),
        (503, {"Retry_After": "2"}, True, 2),
        (529, {}, True, None),
        (408, {}, True, None),
        (400, {}, False, None),
        (401, {}, False, None),
        (402, {}, False, None),
        (404, {}, False, None),
    ],
)
def test_which_answers_of_a_server_may_change(status, headers, busy, retry_after_s):
    pytest.importorskip("openai", reason="the extra llm is not installed")
    with serving(lambda _: error(status, **headers)) as server, pytest.raises(LanguageModelFailed) as caught:
        over_http(server).complete(request())
    assert isinstance(caught.value, LanguageModelBusy) == busy
    assert not caught.value.billed
    assert not busy or caught.value.retry_after_s == retry_after_s
    assert len(server.bodies) == 1


def test_an_exhausted_account_is_not_waited_for():
    pytest.importorskip("openai", reason="the extra llm is not installed")

    def broke(_):
        status, headers, body = error(429)
        return status, headers, {"error": body["error"] | {"code": "insufficient_quota"}}

    with serving(broke) as server, pytest.raises(LanguageModelFailed) as caught:
        over_http(server).complete(request())
    assert not isinstance(caught.value, LanguageModelBusy)


def test_a_late_answer_is_not_waited_for_and_may_cost():
    pytest.importorskip("openai", reason="the extra llm is not installed")

    def late(_):
        time.sleep(0.5)
        return completion("late")

    with serving(late) as server, pytest.raises(LanguageModelBusy) as caught:
        over_http(server, timeout=0.1).complete(request())
    assert caught.value.billed


def test_a_server_that_is_not_there_is_busy_and_costs_nothing():
    pytest.importorskip("openai", reason="the extra llm is not installed")
    with pytest.raises(LanguageModelBusy) as caught:
        PydanticAIModel("openai-compatible:m@http://127.0.0.1:9/v1").complete(request())
    assert not caught.value.billed


@pytest.mark.fault("B017")
def test_the_limit_of_tokens_is_named_as_the_server_wants_it():
    pytest.importorskip("openai", reason="the extra llm is not installed")

    def strict(body):
        if "max_tokens" in body:
            return error(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
        return completion("ok")

    with serving(strict) as server:
        model = over_http(server)
        assert [model.complete(request()).text for _ in range(2)] == ["ok", "ok"]
    sent = [(body.get("max_tokens"), body.get("max_completion_tokens")) for body in server.bodies]
    assert sent == [(50, None), (None, 50), (None, 50)]


@pytest.mark.fault("B020")
def test_a_schema_that_a_server_rejects_is_said_in_the_prompt():
    pytest.importorskip("openai", reason="the extra llm is not installed")

    def simple(body):
        return error(400, "unknown field response_format") if "response_format" in body else completion("{}")

    with serving(simple) as server:
        model = over_http(server)
        assert [model.complete(request(schema=SCHEMA)).text for _ in range(2)] == ["{}", "{}"]
    first, *others = server.bodies
    assert first["response_format"]["json_schema"]["schema"]["required"] == ["facts"]
    assert len(others) == 2
    for body in others:
        assert "response_format" not in body
        assert "facts" in str(body["messages"])


@pytest.mark.parametrize(
    ("status", "said", "too_long"),
    [
        (400, "This model's maximum context length is 8192 tokens. However, you requested 9000.", True),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", True),
        (413, "Request Entity Too Large", True),
        (400, "no such parameter", False),
        (401, "bad key", False),
    ],
)
def test_a_prompt_that_does_not_fit_is_told_from_other_failures(status, said, too_long):
    with serving(lambda _: error(status, said)) as server, pytest.raises(LanguageModelFailed) as raised:
        over_http(server).complete(request())
    assert raised.value.too_long is too_long


@pytest.mark.parametrize("key", [None, "secret"])
def test_a_compatible_server_gets_its_own_key_and_never_openais(monkeypatch, key):
    pytest.importorskip("openai", reason="the extra llm is not installed")
    monkeypatch.setenv("OPENAI_API_KEY", "of-openai")
    monkeypatch.setenv("MNEMIC_MODEL_KEY", key or "")
    with serving(lambda _: completion("ok")) as server:
        over_http(server).complete(request())
    assert server.keys == [f"Bearer {key or 'api-key-not-set'}"]


@pytest.mark.parametrize("provider", ["openai-chat", "ollama"])
def test_a_provider_at_another_address(monkeypatch, provider):
    pytest.importorskip("openai", reason="the extra llm is not installed")
    monkeypatch.setenv("OPENAI_API_KEY", "of-openai")
    with serving(lambda _: completion("ok")) as server:
        assert PydanticAIModel(f"{provider}:m@{server.url}").complete(request()).text == "ok"
        monkeypatch.setenv("OLLAMA_BASE_URL", server.url)
        assert PydanticAIModel("ollama:m").complete(request()).text == "ok"


@pytest.mark.parametrize(
    "name",
    [
        *("gpt-4", "openai:", ":m", "", "openai-compatible:m", "openai-compatible:m@http://"),
        *("openai:m@http://ana:pw@host/v1", "openai:m@https://host/v1?key=1"),
    ],
)
def test_names_that_are_none(name):
    with pytest.raises(InvalidInput) as caught:
        PydanticAIModel(name)
    assert "pw" not in str(caught.value)


def test_an_address_for_a_provider_that_takes_none():
    pytest.importorskip("pydantic_ai", reason="the extra llm is not installed")
    with pytest.raises(InvalidInput, match="the provider openrouter takes no other address"):
        PydanticAIModel("openrouter:m@http://127.0.0.1:9").complete(request())


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
