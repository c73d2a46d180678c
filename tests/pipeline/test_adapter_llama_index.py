"""LlamaIndex with a memory: its chat engine, with its own mock of a model."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("llama_index.core", reason="the extra llama-index is not installed")

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import MockLLM

from mnemic.adapters.llama_index import MemoryChat

BEES = "The landlord keeps bees on the roof."


@pytest.fixture
def chat(memory):
    memory.add({"role": "user", "name": "Ana", "content": BEES, "id": "m1"}, user_id="ana", session_id="monday")
    return MemoryChat.from_defaults(memory=memory, user_id="ana", session_id="friday")


def said(*pairs):
    return [ChatMessage(role=role, content=content) for role, content in pairs]


def shown(messages):
    return [(message.role.value, message.content) for message in messages]


def test_a_chat_engine_recalls_and_remembers(chat, memory):
    engine = SimpleChatEngine.from_defaults(llm=MockLLM(), memory=chat)
    answer = engine.chat("Who keeps bees on the roof?").response
    assert f"Ana (undated): {BEES}" in answer  # the mock says what it was told
    turns = memory.get_all(user_id="ana", session_id="friday")
    assert [turn.role for turn in turns] == ["user", "assistant"]
    assert turns[0].text == "Who keeps bees on the roof?"
    again = MemoryChat(memory=memory, user_id="ana", session_id="friday")
    assert shown(again.get_all()) == shown(engine.chat_history[-2:])


def test_messages_come_back_as_they_were(chat):
    messages = [
        *said(("user", "  I row\n "), ("assistant", "Nice."), ("chatbot", "Hm.")),
        ChatMessage(role="tool", content="two", additional_kwargs={"tool_call_id": "c1"}),
        ChatMessage(role="assistant", content=None, additional_kwargs={"tool_calls": [{"id": "c1"}]}),
    ]
    chat.put(messages[0])
    chat.put_messages(messages[1:])
    found = chat.get_all()
    assert shown(found)[:4] == shown(messages)[:4]
    assert [one.additional_kwargs for one in found] == [one.additional_kwargs for one in messages]


def test_what_was_recalled_stands_first_and_is_never_added(chat, memory):
    chat.put(said(("user", "Who keeps bees on the roof?"))[0])
    recalled, *rest = chat.get()
    assert recalled.role == MessageRole.SYSTEM
    assert BEES in recalled.content
    assert shown(rest) == [("user", "Who keeps bees on the roof?")]
    chat.put_messages([recalled])
    chat.set([recalled, *rest])
    assert len(memory.get_all(user_id="ana", session_id="friday")) == 1
    assert chat.get("Quantum chromodynamics lattice?")[-1].content == rest[0].content


def test_setting_a_history_adds_what_is_new_and_loses_nothing(chat, memory):
    history = said(("user", "I row."), ("assistant", "Nice."), ("user", "I sing."))
    chat.set(history[:2])
    chat.set(history)
    chat.set(history[1:])
    assert shown(chat.get_all()) == shown(history)


def test_a_reset_begins_anew_and_keeps_the_words(chat, memory):
    chat.put(said(("user", "I row."))[0])
    chat.reset()
    assert chat.get_all() == []
    chat.put(said(("user", "I sing."))[0])
    assert shown(chat.get_all()) == [("user", "I sing.")]
    assert len(memory.get_all(user_id="ana")) == 3


def test_everything_can_be_awaited(chat):
    async def work():
        await chat.aput(said(("user", "Who keeps bees on the roof?"))[0])
        found = await chat.aget()
        await chat.aset(await chat.aget_all())
        await chat.areset()
        return found, await chat.aget_all()

    found, nothing = asyncio.run(work())
    assert [message.role.value for message in found] == ["system", "user"]
    assert nothing == []


def test_a_memory_that_fails_is_logged_when_it_recalls(chat, memory, caplog, monkeypatch):
    chat.put(said(("user", "I row."))[0])
    monkeypatch.setattr(type(memory), "search", lambda *_, **__: 1 / 0)
    assert shown(chat.get()) == [("user", "I row.")]
    assert "could not be searched" in caplog.text


def test_a_user_is_required_and_sees_only_their_own(chat, memory):
    chat.put(said(("user", "I row."))[0])
    assert MemoryChat(memory=memory, user_id="bo", session_id="friday").get("Who keeps bees on the roof?") == []
    for wrong in ({"user_id": " "}, {}):
        with pytest.raises(ValueError, match="user_id"):
            MemoryChat(memory=memory, session_id="friday", **wrong)
