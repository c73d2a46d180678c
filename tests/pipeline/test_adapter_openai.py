"""A client in OpenAI's shape with memory: the real package, speaking to a scripted server on this machine."""

from __future__ import annotations

import asyncio
import json
import logging

import pytest

pytest.importorskip("openai", reason="the extra llm is not installed")

import openai

from mnemic import Memory
from mnemic.adapters.openai import remembering
from mnemic.errors import InvalidScope
from mnemic.models.doubles import HashEmbedder
from model_server_kit import completion, error, events, serving

BEES = "The landlord keeps bees on the roof."


def answering(body):
    """Says what it was asked, in one piece or in three."""
    asked = body["messages"][-1]["content"]
    if "fail" in str(asked):
        return error(500)
    if body.get("stream"):
        return events("You said: ", str(asked), "!", finish=None if "break" in asked else "stop")
    return completion(f"You said: {asked}!")


@pytest.fixture
def server():
    with serving(answering) as serves:
        yield serves


@pytest.fixture
def client(server, memory):
    memory.add({"role": "user", "name": "Ana", "content": BEES, "id": "m1"}, user_id="ana", session_id="monday")
    with openai.OpenAI(base_url=server.url, api_key="k", max_retries=0) as plain:
        yield remembering(plain, memory, user_id="ana", session_id="friday")


def ask(client, *messages, **options):
    return client.chat.completions.create(model="m", messages=list(messages), **options)


def user(content):
    return {"role": "user", "content": content}


def kept(memory, session="friday"):
    return [(turn.role, turn.text) for turn in memory.get_all(user_id="ana", session_id=session)]


def test_it_recalls_before_and_adds_after(client, server, memory):
    given = [{"role": "system", "content": "Be brief."}, user("Who keeps bees on the roof?")]
    answer = ask(client, *given)
    assert answer.choices[0].message.content == "You said: Who keeps bees on the roof?!"
    sent = server.bodies[0]["messages"]
    assert [message["role"] for message in sent] == ["system", "system", "user"]
    assert f"Ana (undated): {BEES}" in sent[1]["content"]
    assert sent[1]["content"].startswith("Words from earlier conversations")
    assert [sent[0], sent[2]] == given
    assert kept(memory) == [
        ("user", "Who keeps bees on the roof?"),
        ("assistant", "You said: Who keeps bees on the roof?!"),
    ]
    assert all(turn.timestamp for turn in memory.get_all(user_id="ana", session_id="friday"))


def test_what_was_recalled_is_never_added(client, server, memory):
    history = []
    for text in ("Who keeps bees on the roof?", "And who is the landlord of the roof?", "Bees on the roof again?"):
        history.append(user(text))
        answer = ask(client, *history)
        history.append(answer.choices[0].message)  # an object, as programs do
    assert all("<memory>" in body["messages"][0]["content"] for body in server.bodies)
    everything = [text for _, text in kept(memory)]
    assert len(everything) == 6
    assert not any("<memory>" in text or "Words from earlier" in text for text in everything)
    assert kept(memory, "monday") == [("user", BEES)]


def test_trying_again_and_sending_the_history_adds_nothing_twice(client, memory):
    first = user("I row on Sundays.")
    answer = ask(client, first).choices[0].message
    ask(client, first)
    ask(client, first, answer, user("And I sing."))
    assert [text for role, text in kept(memory) if role == "user"] == ["I row on Sundays.", "And I sing."]


def test_what_is_shown_anyway_is_not_recalled(client, server):
    ask(client, user(BEES), {"role": "assistant", "content": "I see."}, user("Who keeps bees on the roof?"))
    assert [message["role"] for message in server.bodies[0]["messages"]] == ["user", "assistant", "user"]


def test_nothing_is_put_in_where_nothing_is_relevant(client, server, open_memory):
    ask(remembering(client._client, open_memory(embedder=None), user_id="ana"), user("Quantum chromodynamics lattice?"))
    assert server.bodies[0]["messages"] == [user("Quantum chromodynamics lattice?")]


def test_a_stream_is_the_stream_and_is_added_at_its_end(client, memory):
    stream = ask(client, user("Who keeps bees?"), stream=True)
    assert stream.response.status_code == 200
    pieces = [chunk.choices[0].delta.content for chunk in stream if chunk.choices and chunk.choices[0].delta.content]
    assert pieces == ["You said: ", "Who keeps bees?", "!"]
    assert kept(memory)[-1] == ("assistant", "You said: Who keeps bees?!")


def test_of_a_stream_that_is_left_what_came_is_added(client, memory):
    with ask(client, user("Who keeps bees?"), stream=True) as stream:
        next(stream)
    assert kept(memory) == [("user", "Who keeps bees?"), ("assistant", "You said: ")]


def test_a_stream_that_nobody_reads_keeps_what_was_asked(client, memory):
    ask(client, user("Who keeps bees?"), stream=True).close()
    assert kept(memory) == [("user", "Who keeps bees?")]


def test_a_request_that_fails_fails_as_before_and_what_was_asked_is_kept(client, memory):
    with pytest.raises(openai.InternalServerError):
        ask(client, user("Please fail."))
    assert kept(memory) == [("user", "Please fail.")]


@pytest.mark.parametrize("stream", [False, True])
def test_a_memory_that_fails_is_logged_and_the_chat_goes_on(client, memory, server, caplog, stream):
    memory.close()
    with caplog.at_level(logging.ERROR):
        answer = ask(client, user("Who keeps bees?"), stream=stream)
        if stream:
            assert len(list(answer)) > 2
    assert server.bodies[0]["messages"] == [user("Who keeps bees?")]
    assert "could not be searched" in caplog.text
    assert "could not store" in caplog.text
    assert "bees" not in "".join(record.getMessage() for record in caplog.records)


def test_tool_calls_are_kept_word_for_word(memory):
    call = {"id": "c1", "type": "function", "function": {"name": "hives", "arguments": '{"on": "roof"}'}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    pieces = [
        {"index": 0, "id": "c1", "type": "function", "function": {"name": "hives", "arguments": ""}},
        {"index": 0, "function": {"arguments": '{"on": '}},
        {"index": 0, "function": {"arguments": '"roof"}'}},
    ]

    def answer(body):
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
            return 200, {}, {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        deltas = [{"index": 0, "delta": {"tool_calls": [piece]}, "finish_reason": None} for piece in pieces]
        said = [json.dumps({**chunk, "choices": [delta]}) for delta in deltas]
        return 200, {"Content-Type": "text/event-stream"}, [*said, "[DONE]"]

    with serving(answer) as server, openai.OpenAI(base_url=server.url, api_key="k") as plain:
        for session in ("whole", "pieces"):
            talks = remembering(plain, memory, user_id="ana", session_id=session)
            got = ask(talks, user("How many hives?"), stream=session == "pieces")
            if session == "pieces":
                list(got)
    whole, pieces = (memory.get_all(user_id="ana", session_id=name)[1] for name in ("whole", "pieces"))
    assert whole.parts == pieces.parts
    assert (whole.text, whole.parts[0].kind, whole.parts[0].ref) == (pieces.text, "tool_call", "hives")


def test_an_asynchronous_client_does_the_same(server, memory):
    memory.add(BEES, user_id="ana", session_id="monday")

    async def work():
        async with openai.AsyncOpenAI(base_url=server.url, api_key="k", max_retries=0) as plain:
            client = remembering(plain, memory, user_id="ana", session_id="friday")
            answer = await ask(client, user("Who keeps bees on the roof?"))
            stream = await ask(client, user("Who keeps bees on the roof?"), stream=True)
            pieces = [chunk async for chunk in stream]
            async with await ask(client, user("Who keeps cats?"), stream=True) as left:
                await anext(left)
            with pytest.raises(openai.InternalServerError):
                await ask(client, user("fail"))
            return answer, pieces

    answer, pieces = asyncio.run(work())
    assert answer.choices[0].message.content == "You said: Who keeps bees on the roof?!"
    assert len(pieces) > 3
    assert "<memory>" in server.bodies[0]["messages"][0]["content"]
    assert kept(memory) == [
        ("user", "Who keeps bees on the roof?"),
        ("assistant", "You said: Who keeps bees on the roof?!"),
        ("user", "Who keeps cats?"),
        ("assistant", "You said: "),
        ("user", "fail"),
    ]


def test_everything_else_is_the_client_s(client):
    assert client.api_key == "k"
    assert client.chat.completions.messages is not None
    assert type(client.with_options(timeout=3)).__name__ == type(client).__name__
    assert client.with_options(timeout=3).timeout == 3


def test_a_user_is_required(memory):
    with pytest.raises(TypeError):
        remembering(object(), memory)
    with pytest.raises(InvalidScope):
        remembering(object(), memory, user_id="")


def test_each_user_has_a_memory_of_their_own(client, server, memory):
    bo = remembering(client._client, memory, user_id="bo")
    ask(bo, user("Who keeps bees on the roof?"))
    assert len(server.bodies[0]["messages"]) == 1
    assert kept(memory) == []


def test_it_works_with_words_alone_and_on_disk(tmp_path, server):
    plain = openai.OpenAI(base_url=server.url, api_key="k")
    with plain, Memory.open(tmp_path / "m.db", embedder=HashEmbedder()) as memory:
        ask(remembering(plain, memory, user_id="ana"), user("I keep bees."))
    with Memory.open(tmp_path / "m.db", embedder=HashEmbedder()) as memory:
        assert kept(memory, "default")[0] == ("user", "I keep bees.")
