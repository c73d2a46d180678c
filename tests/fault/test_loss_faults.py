"""Words that wait, indexes that break and writers that meet: what was stored stays stored, and is found."""

from __future__ import annotations

import gc
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import zipfile

import pytest

from mnemic import Memory
from mnemic.errors import InvalidScope, LanguageModelFailed
from mnemic.importers import read
from mnemic.importers.records import Skipped
from mnemic.models.doubles import HashEmbedder
from model_server_kit import completion, error, serving


def said(words, **more):
    return {"role": "user", "name": "Ana", "content": words, **more}


ADDER = """
import sys, time
from mnemic import Memory
from mnemic.models.doubles import HashEmbedder
memory = Memory.open(sys.argv[1], embedder=HashEmbedder())
for n in range(10):
    memory.add(f"The lamp number {n} is lit.", user_id="u", embed="later")
print("added", flush=True)
time.sleep(60)
"""


@pytest.mark.fault("B132")
def test_what_waits_for_its_vectors_survives_being_told_to_stop(tmp_path):
    path = tmp_path / "m.db"
    process = subprocess.Popen([sys.executable, "-c", ADDER, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "added\n"
    process.send_signal(signal.SIGTERM)
    process.wait(30)
    process.stdout.close()
    with Memory.open(path, embedder=HashEmbedder()) as memory:
        found = memory.search("lamp", user_id="u", granularity="turn", top_k=20)
        assert {hit.quotes[0] for hit in found.results} == {f"The lamp number {n} is lit." for n in range(10)}
        assert memory.check() == []


@pytest.mark.fault("B119")
def test_filling_in_vectors_and_adding_at_once_neither_fail_nor_lose(open_memory):
    first, second = open_memory(workers=0), open_memory(workers=0)
    errors: list[BaseException] = []

    def guarded(work):
        try:
            work()
        except BaseException as raised:  # noqa: BLE001 - of another thread: this one says what it was
            errors.append(raised)

    def add():
        for n in range(25):
            first.add(said(f"Barge {n} is moored.", id=f"a{n}"), user_id="u", embed="later" if n % 2 else "now")

    def fill():
        until = time.monotonic() + 3
        while first_adds.is_alive() and time.monotonic() < until:
            second.wait(user_id="u")

    first_adds = threading.Thread(target=guarded, args=(add,))
    fills = threading.Thread(target=guarded, args=(fill,))
    first_adds.start()
    fills.start()
    first_adds.join()
    fills.join()
    assert errors == []
    second.wait(user_id="u")
    assert second.status(user_id="u").counts.pending == 0
    assert len(second.search("barge", user_id="u", granularity="turn", top_k=50).results) == 25
    assert second.check() == []


@pytest.mark.fault("B138")
def test_broken_vectors_are_named_and_made_anew_from_the_words_those_that_wait_too(open_memory):
    memory = open_memory(workers=0)
    memory.add([said(f"Kiln {n} is hot.", id=f"k{n}") for n in range(20)], user_id="u")
    memory.add([said(f"Kiln {n} is hot.", id=f"k{n}") for n in range(20, 40)], user_id="u", embed="later")
    path = memory._store._database.path
    memory.close()
    with sqlite3.connect(path) as raw:
        raw.execute("UPDATE unit_vectors SET data = x'00'")
        raw.execute("UPDATE trace_vectors SET data = x'00ff'")
    with open_memory(workers=0) as broken:
        problems = broken.check()
        assert any("unit_vectors" in problem and "mnemic reembed" in problem for problem in problems)
    with open_memory(embedder=None, workers=0) as mended:
        mended.reembed(HashEmbedder(16))
        assert mended.check() == []
        assert mended.status(user_id="u").counts.pending == 0
        assert len(mended.search("kiln", user_id="u", granularity="turn", top_k=60).results) == 40


@pytest.mark.fault("B194")
def test_a_damaged_archive_is_told_and_names_of_one_user_are_no_others(memory, tmp_path):
    memory.add(said("Aurora is my cat."), user_id="a")
    exported = list(memory.export(user_id="a"))
    memory.add(said("Aurora is a barge."), user_id="b")
    with pytest.raises(InvalidScope):
        memory.recover(exported, user_id="b")
    assert [turn.text for turn in memory.get_all(user_id="b")] == ["Aurora is a barge."]
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", '[{"role": "user", "content": "I keep bees."}]' * 1)
    body = bytearray(path.read_bytes())
    body[body.index(b"bees")] ^= 1
    path.write_bytes(body)
    with pytest.raises(Exception, match=r"(?i)damaged|crc|cut"):
        assert any(isinstance(one, Skipped) for one in read(path))
    gc.collect()  # what was left open would warn here, and a warning is an error


@pytest.mark.fault("B018")
@pytest.mark.parametrize("name", ["my-o1-tuned", "gpt-5-chat-local", "o3-mini", "gpt-4.1"])
def test_a_temperature_that_was_asked_for_is_sent_whatever_the_model_is_called(name):
    pytest.importorskip("openai", reason="the extra llm is not installed")
    from mnemic.models.language import PydanticAIModel
    from mnemic.protocols import Completion

    with serving(lambda _: completion("ok")) as server:
        model = PydanticAIModel(f"openai-compatible:{name}@{server.url}", temperature=0.1)
        assert model.complete(Completion("answer", "Be brief.", "Hello.", 50)).text == "ok"
    [body] = server.bodies
    assert body["temperature"] == 0.1
    assert 50 in (body.get("max_tokens"), body.get("max_completion_tokens"))


@pytest.mark.fault("B018")
@pytest.mark.parametrize("temperature", [0.0, 0.1])
def test_a_server_that_refuses_a_temperature_goes_without_ours_and_says_no_to_yours(temperature):
    pytest.importorskip("openai", reason="the extra llm is not installed")
    from mnemic.models.language import PydanticAIModel
    from mnemic.protocols import Completion

    def strict(body):
        return error(400, "Unsupported parameter: 'temperature'") if "temperature" in body else completion("ok")

    with serving(strict) as server:
        model = PydanticAIModel(f"openai-compatible:o3@{server.url}", temperature=temperature)
        if temperature:
            with pytest.raises(LanguageModelFailed, match="temperature"):
                model.complete(Completion("answer", "Be brief.", "Hello.", 50))
        else:
            assert model.complete(Completion("answer", "Be brief.", "Hello.", 50)).text == "ok"


@pytest.mark.fault("B049")
def test_a_window_of_a_conversation_never_begins_behind_a_call(memory):
    pytest.importorskip("agents", reason="the extra openai-agents is not installed")
    import asyncio

    from mnemic.adapters.openai_agents import MemorySession

    session = MemorySession(memory, user_id="u", session_id="s")
    call = {"type": "function_call", "call_id": "c1", "name": "clock", "arguments": "{}"}
    other = {"type": "function_call", "call_id": "c2", "name": "moon", "arguments": "{}"}
    done = [{"type": "function_call_output", "call_id": one, "output": "12:00"} for one in ("c1", "c2")]
    items = [{"role": "user", "content": "What time?"}, call, other, *done, {"role": "assistant", "content": "Noon."}]
    asyncio.run(session.add_items(items))
    for limit in range(1, len(items) + 1):
        found = asyncio.run(session.get_items(limit))
        calls = {item["call_id"] for item in found if item.get("type") == "function_call"}
        results = {item["call_id"] for item in found if item.get("type") == "function_call_output"}
        assert results == calls, limit
        assert found == items[len(items) - len(found) :]
        assert len(found) <= limit
